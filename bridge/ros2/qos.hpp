#pragma once
// Quality of service as ROS 2 users know it, and why two ends of a topic do not meet.

#include <cstdint>
#include <string>

#include "core/time.hpp"

namespace isochron::ros2 {

struct Qos {
  bool reliable = true;
  bool transient_local = false;
  std::uint32_t depth = 10;  // 0: all are kept
  WallSpan deadline{};       // zero: none
};
std::string to_string(const Qos& qos);
/// Why a reader does not hear a writer: "the subscriber asks for reliable, …"; "" if it does.
std::string mismatch(const Qos& offered, const Qos& requested);

}  // namespace isochron::ros2
