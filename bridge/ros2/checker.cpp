#include "bridge/ros2/checker.hpp"

#include <cstring>

#include "core/cdr.hpp"

namespace isochron::ros2 {
namespace {

constexpr std::size_t most_padding = 3;  // writers fill up to a multiple of four
constexpr std::uint32_t ns_in_s = 1'000'000'000;

class Walk {
 public:
  Walk(const MessageSchema& schema, std::span<const std::byte> body) : schema_(schema), body_(body) {
    steps_left_ = 8 * body.size() + 4096;  // messages without fields take no bytes
  }

  const char* run() {
    message(0);
    if (why_ == nullptr && body_.size() - at_ > most_padding) why_ = "it is longer than its type";
    return why_ == nullptr ? "" : why_;
  }

 private:
  void message(std::size_t index) {
    if (steps_left_-- == 0) return refuse("it is too deep");
    const MessageSchema::Definition& definition = schema_.messages[index];
    for (const SchemaField& field : definition.fields) {
      if (why_ != nullptr) return;
      many(field);
    }
    if (definition.name == "builtin_interfaces/Time" && why_ == nullptr) check_time();
  }

  /// What was just passed: seconds and nanoseconds.
  void check_time() {
    std::uint32_t nanoseconds = 0;
    std::memcpy(&nanoseconds, body_.data() + at_ - sizeof nanoseconds, sizeof nanoseconds);
    if (nanoseconds >= ns_in_s) refuse("a time has a second or more of nanoseconds");
  }

  void many(const SchemaField& field) {
    std::uint32_t count = 1;
    if (field.many == SchemaField::Many::fixed) count = field.count;
    if (field.many == SchemaField::Many::sequence) {
      count = length();
      if (why_ == nullptr && field.count != 0 && count > field.count) return refuse("a list is longer than its bound");
      if (why_ == nullptr && count > body_.size() - at_) return refuse("it ends early");
    }
    if (const std::size_t width = size_of(field.type); width != 0) return numbers(count, width);
    for (std::uint32_t i = 0; i < count && why_ == nullptr; ++i) {
      field.type == FieldType::text ? text() : message(field.message);
    }
  }

  void text() {
    const std::uint32_t size = length();
    if (why_ != nullptr) return;
    if (size == 0 || size > body_.size() - at_) return refuse("a text is longer than the message, or has no end");
    if (body_[at_ + size - 1] != std::byte{0}) return refuse("a text has no zero at its end");
    at_ += size;
  }

  std::uint32_t length() {
    numbers(1, sizeof(std::uint32_t));
    std::uint32_t value = 0;
    if (why_ == nullptr) std::memcpy(&value, body_.data() + at_ - sizeof value, sizeof value);
    return value;
  }

  void numbers(std::size_t count, std::size_t width) {
    if (count == 0) return;
    const std::size_t first = cdr::align(at_, width);
    if (first > body_.size() || count > (body_.size() - first) / width) return refuse("it ends early");
    at_ = first + count * width;
  }

  void refuse(const char* why) {
    if (why_ == nullptr) why_ = why;
  }

  const MessageSchema& schema_;
  std::span<const std::byte> body_;
  std::size_t at_ = 0, steps_left_ = 0;
  const char* why_ = nullptr;
};

}  // namespace

const char* Checker::refuses(std::span<const std::byte> cdr) const {
  if (cdr.size() < cdr_header_size) return "it is shorter than its header";
  if (cdr[0] != std::byte{0} || cdr[1] != std::byte{1}) return "it is not CDR in little endian";
  return Walk(schema_, cdr.subspan(cdr_header_size)).run();
}

}  // namespace isochron::ros2
