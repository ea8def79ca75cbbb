#pragma once
// A field of a message by its name, `position.x`, `wheels[2].speed`, found once and read from each message that comes.
//
// Messages of fixed size lie in memory as C structs, and the field has a fixed place there. Others are CDR bytes, which
// are walked to the field; what they say of their own sizes is not believed.
//
// Threads: constant after find(): any. Cost: in() never allocates.
// Fails:   find() throws InputError that lists the fields there are.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bridge/fmi/description.hpp"
#include "bridge/fmi/units.hpp"
#include "journal/ros2msg.hpp"

namespace isochron::fmi {

class MessageField {
 public:
  /// `type` as flow::type_text() writes it. An empty path is the number that the flow carries alone.
  static MessageField find(const std::string& type, const std::string& path);

  [[nodiscard]] FieldType type() const { return type_; }
  /// How many values: those of a fixed array, else 1.
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Bytes in a list: their number is known only from the message.
  [[nodiscard]] bool is_bytes() const { return bytes_; }
  /// The value in this message: text without its final zero. Nothing where the message does not have it.
  [[nodiscard]] std::span<const std::byte> in(std::span<const std::byte> message) const;
  /// Where it lies in a message of fixed size.
  [[nodiscard]] std::size_t offset() const { return offset_; }

 private:
  struct Step {
    std::size_t field = 0;  // of its message
    std::size_t index = 0;  // in its array
  };
  class Finder;
  class Walker;

  MessageSchema schema_;
  FieldType type_ = FieldType::float64;
  std::size_t count_ = 1, offset_ = 0;
  bool flat_ = true, bytes_ = false, whole_ = false;  // whole: the path names an array, not an element of it
  std::vector<Step> steps_;
};

/// Whether each value of one type is a value of the other; floating point numbers may be rounded.
bool fits(FieldType from, Type to);
const char* to_string(FieldType type);

/// Copies values, from what lies in a message to what an FMU takes.
void convert(FieldType from, const std::byte* source, Type to, std::byte* target, std::size_t count,
             const Conversion& conversion);

}  // namespace isochron::fmi
