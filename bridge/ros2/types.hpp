#pragma once
// The message types that a scenario may exchange with ROS 2: a catalogue of those that most robots use, and any type
// whose .msg file the user points to.
//
// Promises: type() gives the type that a node in C++, C or Python has for the same message, so that they connect.
// Threads:  constant after add(): any.
// Fails:    InputError that names the file and line, or the nearest type there is.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "flow/payload.hpp"
#include "journal/ros2msg.hpp"

namespace isochron::ros2 {

struct Definition {
  std::string name;  // package/msg/Name
  std::string text;  // as in a .msg file; in the catalogue with ; for a new line
};

/// Those that are known without a file.
const std::vector<Definition>& catalogue();

/// A definition as dynamic types and journals of ours have it: full names of types, no constants and comments.
std::string canonical_text(const MessageSchema& schema);

class Types {
 public:
  Types();

  /// A .msg file in PACKAGE/msg/, or a folder PACKAGE with all of its .msg files.
  void add(const std::string& path);
  /// With the definitions of all messages inside, as a journal carries it. `name` may leave out "/msg".
  [[nodiscard]] std::string definition(std::string_view name) const;
  [[nodiscard]] const flow::PayloadType& type(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  void add_file(const std::string& path);
  void append(const std::string& name, const std::string& used_by, std::string& text, int depth) const;
  std::map<std::string, std::string, std::less<>> texts_;  // by full name: fields with full names of types
};

}  // namespace isochron::ros2
