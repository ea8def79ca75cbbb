#pragma once
// Understands ros2msg schema text: which fields a message has, in order, and those of the messages inside it. That is
// what makes any journal printable and plottable without the program that wrote it.
//
//     float64 x                 array: float64[3], Point[], string[<=4]        bounded: string<=16
//     Point[] path              constant: uint8 MODE=1 (no bytes)              default: int32 n 5 (no effect here)
//     ====…
//     MSG: geometry_msgs/Point  the definition of a message inside
//
// Promises: messages do not contain themselves; nesting is at most 64 deep. builtin_interfaces Time and Duration are
//           known without being defined.
// Fails:    a sentence with the line.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace isochron {

enum class FieldType {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  text,
  message
};

/// Bytes of one value; 0 for text and messages.
[[nodiscard]] std::size_t size_of(FieldType type);

struct SchemaField {
  enum class Many { one, fixed, sequence };
  std::string name;
  FieldType type = FieldType::float64;
  std::size_t message = 0;  // index into MessageSchema::messages
  Many many = Many::one;
  std::uint32_t count = 0;  // of a fixed array
};

struct MessageSchema {
  struct Definition {
    std::string name;  // "package/Name"
    std::vector<SchemaField> fields;
  };
  std::vector<Definition> messages;  // the first is the message itself
};

/// `name` as in the journal: "package/msg/Name".
Result<MessageSchema, std::string> parse_ros2msg(std::string_view name, std::string_view text);

}  // namespace isochron
