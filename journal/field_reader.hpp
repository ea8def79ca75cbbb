#pragma once
// Reads one field of a record at a time, by a way through the schema that is found once: what makes it cheap to look at
// every record of a run. The way goes through messages, elements of arrays, and elements that are known by their name:
//
//     position[0]               a field, its first element
//     agents{car03}.position[0] of the agents the one whose text field `name` says car03
//
// Promises: never reads beyond the bytes given; what a schema and a few bytes can make it do is bounded by their size.
// Threads:  constant after its constructor: any.
// Cost:     no allocation; a few nanoseconds for each field before the one that is read. Arrays of numbers are passed
//           at a stride.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "journal/ros2msg.hpp"

namespace isochron {

/// One step of a way: a field of the message, and of an array the element.
struct FieldStep {
  std::size_t field = 0;
  std::size_t index = 0;
  std::string key = {};  // not "": the element whose field `key_field` is this text
  std::size_t key_field = 0;
  friend bool operator==(const FieldStep&, const FieldStep&) = default;
};
using FieldWay = std::vector<FieldStep>;

/// Whether a message of this name is one number: seconds.
[[nodiscard]] bool is_time_message(const std::string& definition);

/// The way to `position.x`, `path[2].y` or `stamp`. Fails: a sentence that names what is not there.
Result<FieldWay, std::string> find_way(const MessageSchema& schema, std::string_view path);

/// The same, and where `path` ends at an array of numbers, the way to all of them.
Result<FieldWay, std::string> find_numbers(const MessageSchema& schema, std::string_view path);

class FieldReader {
 public:
  FieldReader(std::shared_ptr<const MessageSchema> schema, FieldWay way);

  /// Times in seconds, truth as 0 and 1. Nothing: this record has no such element, or the field is text.
  [[nodiscard]] std::optional<double> number(std::span<const std::byte> record) const;
  /// Valid as long as the record. Nothing: this record has no such element, or the field is no text.
  [[nodiscard]] std::optional<std::string_view> text(std::span<const std::byte> record) const;
  /// Adds to the number, or to each number of an array, in a record of this machine; whole numbers stay in their range.
  /// False: this record has no such element, or it is no number.
  [[nodiscard]] bool add(std::span<std::byte> record, double more) const;
  /// The texts that elements of the array at the end of the way are known by.
  void keys(std::span<const std::byte> record, std::size_t key_field, std::vector<std::string>& into) const;

 private:
  std::shared_ptr<const MessageSchema> schema_;
  FieldWay way_;
};

}  // namespace isochron
