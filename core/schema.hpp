#pragma once
// A message's schema as ros2msg text, made from its fields: what MCAP files carry so that others can decode our
// records.

#include <string>

#include "core/message.hpp"

namespace isochron {

namespace schema {

template <class T>
std::string type_text() {
  if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 8 ? "float64" : "float32";
  } else if constexpr (std::is_integral_v<T>) {
    return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "string";
  } else if constexpr (std::is_same_v<T, SimTime>) {
    return "builtin_interfaces/Time";
  } else if constexpr (is_std_array<T>::value) {
    return type_text<typename T::value_type>() + "[" + std::to_string(std::tuple_size_v<T>) + "]";
  } else if constexpr (is_std_vector<T>::value) {
    return type_text<typename T::value_type>() + "[]";
  } else {
    std::string name = message_name<T>();  // package/msg/Name is written package/Name inside a definition
    if (const auto msg = name.find("/msg/"); msg != std::string::npos) name.erase(msg, 4);
    return name;
  }
}

template <class T>
std::string fields_text() {
  std::string text;
  const T message{};
  for_each_field(message, [&](const char* name, const auto& value) {
    text += type_text<std::remove_cvref_t<decltype(value)>>() + " " + name + "\n";
  });
  return text;
}

template <class T>
void append_parts(std::string& text) {
  if constexpr (is_std_array<T>::value || is_std_vector<T>::value) {
    append_parts<typename T::value_type>(text);
  } else if constexpr (std::is_same_v<T, SimTime> || Message<T>) {
    const std::string heading = "MSG: " + type_text<T>() + "\n";
    if (text.find(heading) != std::string::npos) return;
    text += std::string(80, '=') + "\n" + heading;
    if constexpr (std::is_same_v<T, SimTime>) {
      text += "int32 sec\nuint32 nanosec\n";
    } else {
      text += fields_text<T>();
      const T message{};
      for_each_field(message,
                     [&](const char*, const auto& value) { append_parts<std::remove_cvref_t<decltype(value)>>(text); });
    }
  }
}

}  // namespace schema

/// The whole definition: the message's fields, then those of every message inside it.
template <Message T>
std::string ros2msg_schema() {
  std::string text = schema::fields_text<T>();
  const T message{};
  for_each_field(message, [&](const char*, const auto& value) {
    schema::append_parts<std::remove_cvref_t<decltype(value)>>(text);
  });
  return text;
}

}  // namespace isochron
