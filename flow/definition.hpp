#pragma once
// Types of messages that are known only while the program runs: nodes in C, Python and other languages say what they
// send and hear as text, in ROS's notation:
//
//     float64                           a number alone
//     example_msgs/msg/Power            a message: its name, then its fields, one on each line
//     float64 watts
//
// Numbers, bool, builtin_interfaces/Time, fixed arrays of these and messages inside messages make a *flat* type. It
// lies in memory as C lays out a struct with these fields (a time is an int64_t of nanoseconds), so that it is shared
// in place with the same message of a node in C++. Messages with strings or lists lie in memory as their CDR bytes
// (PlainBytes).
//
// Promises: dynamic_type() is one object for each type, and its id is that of the same message declared in C++ with
//           ISOCHRON_MESSAGE. Comments, blank lines and spaces do not matter.
// Threads:  any. Cost: at set-up; the types stay until the program ends.
// Fails:    InputError that says which line makes no sense.

#include <string>
#include <string_view>
#include <vector>

#include "flow/payload.hpp"

namespace isochron::flow {

/// A message whose size is not fixed, as CDR with its header of four bytes.
struct PlainBytes {
  std::vector<std::byte> cdr;
};

const PayloadType& dynamic_type(std::string_view text);
/// Whether there are bytes between the fields of a flat value, or after the last.
bool has_gaps(const PayloadType& type);
/// Sets the bytes between the fields of a flat value to zero.
void clear_gaps(const PayloadType& type, void* value);
/// As dynamic_type() reads it again: the name, and the definition if it has one.
std::string type_text(const PayloadType& type);

}  // namespace isochron::flow
