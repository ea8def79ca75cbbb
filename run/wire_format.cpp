#include "run/wire_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace isochron {
namespace {

using Json = nlohmann::json;

struct TypeName {
  const char* name;
  std::size_t size;
};
constexpr std::array<TypeName, 10> types{{{"int8", 1},
                                          {"uint8", 1},
                                          {"int16", 2},
                                          {"uint16", 2},
                                          {"int32", 4},
                                          {"uint32", 4},
                                          {"int64", 8},
                                          {"uint64", 8},
                                          {"float32", 4},
                                          {"float64", 8}}};

/// Calls f with a value of the type.
template <class F>
auto with_type(WireType type, F&& f) {
  switch (type) {
    case WireType::int8:
      return f(std::int8_t{});
    case WireType::uint8:
      return f(std::uint8_t{});
    case WireType::int16:
      return f(std::int16_t{});
    case WireType::uint16:
      return f(std::uint16_t{});
    case WireType::int32:
      return f(std::int32_t{});
    case WireType::uint32:
      return f(std::uint32_t{});
    case WireType::int64:
      return f(std::int64_t{});
    case WireType::uint64:
      return f(std::uint64_t{});
    case WireType::float32:
      return f(float{});
    case WireType::float64:
      break;
  }
  return f(double{});
}

template <class T>
T converted(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    const double rounded = std::nearbyint(value);
    // The largest integers of 64 bits have no double of their own; the bound above them has.
    if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(rounded);
  }
}

void put_binary(double value, WireType type, bool swapped, std::vector<std::byte>& out) {
  with_type(type, [&](auto like) {
    const auto number = converted<decltype(like)>(value);
    std::array<std::byte, sizeof number> bytes;
    std::memcpy(bytes.data(), &number, sizeof number);
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    out.insert(out.end(), bytes.begin(), bytes.end());
  });
}

double get_binary(const std::byte* at, WireType type, bool swapped) {
  return with_type(type, [&](auto like) {
    std::array<std::byte, sizeof like> bytes;
    std::memcpy(bytes.data(), at, sizeof like);
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    std::memcpy(&like, bytes.data(), sizeof like);
    return static_cast<double>(like);
  });
}

void put_text(std::string_view text, std::vector<std::byte>& out) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_json(double value, std::vector<std::byte>& out) {
  if (!std::isfinite(value)) return put_text("null", out);
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  put_text({text.data(), static_cast<std::size_t>(end - text.data())}, out);
}

std::string listed(const std::vector<WireField>& fields) {
  std::string text;
  for (const WireField& field : fields) text += (text.empty() ? "" : ", ") + field.name;
  return text;
}

Result<std::vector<double>, std::string> numbers_of(const Json& value, const WireField& field) {
  const auto wrong = [&] {
    return fail("its `" + field.name + "` is not " +
                (!field.many        ? "a number"
                 : field.count == 0 ? "a list of numbers"
                                    : "a list of " + std::to_string(field.count) + " numbers"));
  };
  if (!field.many) {
    if (value.is_boolean()) return std::vector<double>{value.get<bool>() ? 1.0 : 0.0};
    if (!value.is_number()) return wrong();
    return std::vector<double>{value.get<double>()};
  }
  if (!value.is_array() || (field.count != 0 && value.size() != field.count)) return wrong();
  std::vector<double> numbers;
  for (const Json& one : value) {
    if (!one.is_number()) return wrong();
    numbers.push_back(one.get<double>());
  }
  return numbers;
}

}  // namespace

std::size_t size_of(WireType type) { return types[static_cast<std::size_t>(type)].size; }

std::optional<WireType> wire_type(std::string_view name) {
  const auto found = std::ranges::find_if(types, [&](const TypeName& type) { return name == type.name; });
  if (found == types.end()) return std::nullopt;
  return static_cast<WireType>(found - types.begin());
}

WireFormat::WireFormat(WireForm form, std::vector<WireField> fields) : form_(form), fields_(std::move(fields)) {
  for (const WireField& field : fields_) size_ += size_of(field.type) * field.count;
}

void WireFormat::encode(std::span<const std::vector<double>> values, std::vector<std::byte>& out) const {
  out.clear();
  if (form_ != WireForm::json) {
    const bool swapped = (form_ == WireForm::big) == (std::endian::native == std::endian::little);
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      for (std::size_t k = 0; k < fields_[i].count; ++k) {
        const double value = k < values[i].size() ? values[i][k] : std::numeric_limits<double>::quiet_NaN();
        put_binary(value, fields_[i].type, swapped, out);
      }
    }
    return;
  }
  const char* before = "{";
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    put_text(before, out);
    put_text(Json(fields_[i].name).dump(-1, ' ', false, Json::error_handler_t::replace), out);
    put_text(fields_[i].many ? ":[" : ":", out);
    for (std::size_t k = 0; k < values[i].size(); ++k) {
      if (k > 0) put_text(",", out);
      put_json(values[i][k], out);
    }
    if (!fields_[i].many && values[i].empty()) put_text("null", out);
    if (fields_[i].many) put_text("]", out);
    before = ",";
  }
  put_text(fields_.empty() ? "{}\n" : "}\n", out);
}

Result<Done, std::string> WireFormat::decode(std::span<const std::byte> message, Taken& taken) const {
  taken.values.assign(fields_.size(), {});
  taken.unknown.clear();
  if (message.size() > longest) return fail("it is longer than " + std::to_string(longest) + " bytes");
  return form_ == WireForm::json ? decode_json(message, taken) : decode_binary(message, taken);
}

Result<Done, std::string> WireFormat::decode_json(std::span<const std::byte> message, Taken& taken) const {
  const auto* text = reinterpret_cast<const char*>(message.data());
  const Json json = Json::parse(text, text + message.size(), nullptr, false);
  if (!json.is_object()) return fail(json.is_discarded() ? "it is not JSON" : "it is JSON, but not an object");
  for (const auto& [name, value] : json.items()) {
    const auto found = std::ranges::find(fields_, name, &WireField::name);
    if (found == fields_.end()) {
      taken.unknown.push_back(name);
      continue;
    }
    auto numbers = numbers_of(value, *found);
    if (!numbers.ok()) return fail(numbers.error());
    taken.values[static_cast<std::size_t>(found - fields_.begin())] = std::move(*numbers);
  }
  if (taken.unknown.size() == json.size()) return fail("it has none of the fields " + listed(fields_));
  return Done{};
}

Result<Done, std::string> WireFormat::decode_binary(std::span<const std::byte> message, Taken& taken) const {
  if (message.size() != size_) {
    return fail("it has " + std::to_string(message.size()) + " bytes instead of " + std::to_string(size_));
  }
  const bool swapped = (form_ == WireForm::big) == (std::endian::native == std::endian::little);
  const std::byte* at = message.data();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    for (std::size_t k = 0; k < fields_[i].count; ++k, at += size_of(fields_[i].type)) {
      taken.values[i].push_back(get_binary(at, fields_[i].type, swapped));
    }
  }
  return Done{};
}

std::size_t WireFormat::first_message(std::span<const std::byte> stream) const {
  if (form_ != WireForm::json) return stream.size() >= size_ ? size_ : 0;
  const auto end = std::ranges::find(stream, std::byte('\n'));
  return end == stream.end() ? 0 : static_cast<std::size_t>(end - stream.begin()) + 1;
}

}  // namespace isochron
