#pragma once
// The error of a codec direction while it unwinds: the innermost failure says what, and each level that sees it puts
// its field's name in front. Nothing is done while all goes well.

#include <string>

#include "v2x/codec/codec.hpp"

namespace isochron::v2x {

class ErrorPath {
 public:
  /// Notes what is wrong here; always false, to be returned.
  bool fail(std::string what) {
    error_.what = std::move(what);
    return false;
  }
  /// This happened in the field of this name; always false.
  bool in(const char* field) {
    const bool joined = error_.field.empty() || error_.field[0] == '[';
    error_.field.insert(0, joined ? std::string(field) : std::string(field) + ".");
    return false;
  }
  bool in(std::size_t index) {
    const std::string place = "[" + std::to_string(index) + "]";
    const bool joined = error_.field.empty() || error_.field[0] == '[';
    error_.field.insert(0, joined ? place : place + ".");
    return false;
  }
  [[nodiscard]] const CodecError& error() const { return error_; }
  void clear() { error_ = {}; }

 private:
  CodecError error_;
};

}  // namespace isochron::v2x
