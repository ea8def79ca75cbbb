#pragma once
// A message is a plain struct that says what its fields are, once:
//
//     struct Pose { std::array<double, 3> position{}; std::array<double, 4> orientation{}; };
//     ISOCHRON_MESSAGE(Pose, "isochron_msgs/msg/Pose", position, orientation)
//
// From that follow its bytes (CDR, little endian: what DDS and ROS 2 put on the wire and Foxglove and PlotJuggler
// read), its schema text (ros2msg) and its printing in a diff. Fields: bool, integers, float, double, std::string,
// SimTime (as builtin_interfaces/Time), other messages, and std::array or std::vector of these.
//
// Place the macro in the namespace of the struct, after it.

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/time.hpp"

namespace isochron {

template <class T, class M>
struct Field {
  const char* name;
  M T::*member;
};

template <class T>
concept Message = requires {
  { isochron_message_name(static_cast<const T*>(nullptr)) } -> std::convertible_to<const char*>;
};

/// "package/msg/Name", as ROS 2 and MCAP write it.
template <Message T>
constexpr const char* message_name() {
  return isochron_message_name(static_cast<const T*>(nullptr));
}

/// Calls f(name, value) for each field, in order.
template <class T, class F>
requires Message<std::remove_const_t<T>>
constexpr void for_each_field(T& message, F&& f) {
  std::apply([&](const auto&... field) { (f(field.name, message.*(field.member)), ...); },
             isochron_message_fields(static_cast<const std::remove_const_t<T>*>(nullptr)));
}

template <class T>
struct is_std_array : std::false_type {};
template <class T, std::size_t n>
struct is_std_array<std::array<T, n>> : std::true_type {};
template <class T>
struct is_std_vector : std::false_type {};
template <class T>
struct is_std_vector<std::vector<T>> : std::true_type {};

}  // namespace isochron

#define ISOCHRON_MESSAGE(Type, name, ...)                                                           \
  [[maybe_unused]] inline constexpr const char* isochron_message_name(const Type*) { return name; } \
  [[maybe_unused]] inline constexpr auto isochron_message_fields(const Type*) {                     \
    return std::make_tuple(ISOCHRON_FIELDS_(Type, __VA_ARGS__));                                    \
  }

// A comma-separated list of Field for each name; the preprocessor's way of a loop.
#define ISOCHRON_FIELD_(Type, field) \
  ::isochron::Field<Type, decltype(Type::field)> { #field, &Type::field }
#define ISOCHRON_PARENS_ ()
#define ISOCHRON_EXPAND_(...) ISOCHRON_EXPAND4_(ISOCHRON_EXPAND4_(ISOCHRON_EXPAND4_(__VA_ARGS__)))
#define ISOCHRON_EXPAND4_(...) ISOCHRON_EXPAND3_(ISOCHRON_EXPAND3_(ISOCHRON_EXPAND3_(__VA_ARGS__)))
#define ISOCHRON_EXPAND3_(...) ISOCHRON_EXPAND2_(ISOCHRON_EXPAND2_(ISOCHRON_EXPAND2_(__VA_ARGS__)))
#define ISOCHRON_EXPAND2_(...) __VA_ARGS__
#define ISOCHRON_FIELDS_(Type, ...) __VA_OPT__(ISOCHRON_EXPAND_(ISOCHRON_EACH_(Type, __VA_ARGS__)))
#define ISOCHRON_EACH_(Type, field, ...) \
  ISOCHRON_FIELD_(Type, field) __VA_OPT__(, ISOCHRON_AGAIN_ ISOCHRON_PARENS_(Type, __VA_ARGS__))
#define ISOCHRON_AGAIN_() ISOCHRON_EACH_
