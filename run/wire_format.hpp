#pragma once
// How the messages of a wire are written and read (docs/stacks.md): a JSON object, or binary numbers one after the
// other. It knows fields and numbers, nothing of the robot.
//
//     {"t":0.02,"speed":3.25,"scan":[1.5,null]}\n        json; what is not a number is null
//     12 48 | 00 00 80 3f | …                            little: uint16 18450, float32 1, …
//
// Promises: a number comes out as it went in, as far as its type holds it; integers are rounded and kept in range.
//           decode() takes a message whole or not at all, and never reads beyond it.
// Threads:  any, but one instance at a time. Cost: allocates.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "scenario/wire_section.hpp"

namespace isochron {

enum class WireType : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };
[[nodiscard]] std::size_t size_of(WireType type);
/// `float32`; nothing: there is no type of that name.
[[nodiscard]] std::optional<WireType> wire_type(std::string_view name);

struct WireField {
  std::string name;
  WireType type = WireType::float64;
  bool many = false;      // an array
  std::size_t count = 1;  // of numbers; 0: as many as there are (json)
};

class WireFormat {
 public:
  WireFormat(WireForm form, std::vector<WireField> fields);

  [[nodiscard]] const std::vector<WireField>& fields() const { return fields_; }
  /// `values`: for each field, in their order. Binary arrays are filled up with what is not a number, or zeros.
  void encode(std::span<const std::vector<double>> values, std::vector<std::byte>& out) const;

  struct Taken {
    std::vector<std::vector<double>> values;  // by field; empty: the message does not have it (json)
    std::vector<std::string> unknown;         // fields that nobody asked for
  };
  Result<Done, std::string> decode(std::span<const std::byte> message, Taken& taken) const;

  /// Of a stream: how long its first message is, end mark and all; 0: it is not whole yet.
  [[nodiscard]] std::size_t first_message(std::span<const std::byte> stream) const;
  /// What no message is longer than.
  static constexpr std::size_t longest = 65536;

 private:
  Result<Done, std::string> decode_json(std::span<const std::byte> message, Taken& taken) const;
  Result<Done, std::string> decode_binary(std::span<const std::byte> message, Taken& taken) const;

  WireForm form_;
  std::vector<WireField> fields_;
  std::size_t size_ = 0;  // of a binary message
};

}  // namespace isochron
