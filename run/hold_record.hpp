#pragma once
// How long boards were held, as the journal has it.

#include <cstdint>
#include <string>

#include "core/message.hpp"
#include "core/time.hpp"

namespace isochron {

/// A board was held for longer than the simulated time that passed for it.
struct HoldRecord {
  std::string target;
  std::uint32_t link = 0;
  std::string cause;  // world, target, programs, pace, or host: the host's own work
  std::string by;     // the other target
  SimTime asked;
  SimTime answered;
  double held_s = 0;
};
ISOCHRON_MESSAGE(HoldRecord, "isochron_msgs/msg/Hold", target, link, cause, by, asked, answered, held_s)

}  // namespace isochron
