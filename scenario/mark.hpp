#pragma once
// Something that is done to a run at a time: by a person at the page, by a script, or by the scenario's own timeline of
// faults.

#include <array>
#include <string>

#include "core/message.hpp"
#include "core/time.hpp"

namespace isochron {

/// Something that a person did to a run, as it stands in the journal under /isochron/marks.
struct Mark {
  SimTime at;
  std::string what;               // marker, push, set, change, or a fault of run/injected_faults.hpp
  std::string about;              // the marker's text, the body, the actuator, what is broken, KEY=VALUE
  std::array<double, 3> force{};  // of a push; of a set or slow, the value and two zeros
  double seconds = 0;             // how long the push or the fault lasts
};
ISOCHRON_MESSAGE(Mark, "isochron_msgs/msg/Mark", at, what, about, force, seconds)
inline constexpr const char* marks_topic = "/isochron/marks";

}  // namespace isochron
