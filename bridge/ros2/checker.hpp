#pragma once
// Whether bytes that came from somebody else are a message of a type: CDR, little endian, all of it and nothing more.
// It is asked before anybody reads them.
//
// Promises: never reads beyond the bytes given; time is bounded by their number, whatever they say of their own sizes.
//           What it accepts, a node in C++ with the same message type can read.
// Threads:  constant after its constructor: any. Cost: no allocation; lists of numbers are passed at a stride.

#include <cstddef>
#include <span>

#include "journal/ros2msg.hpp"

namespace isochron::ros2 {

class Checker {
 public:
  explicit Checker(MessageSchema schema) : schema_(std::move(schema)) {}
  /// "" or why not.
  [[nodiscard]] const char* refuses(std::span<const std::byte> cdr) const;

 private:
  MessageSchema schema_;
};

}  // namespace isochron::ros2
