#pragma once
// What a run with wires adds to its report: for each what went over it.

#include <cstdint>
#include <string>
#include <vector>

namespace isochron {

struct WireReport {
  std::string name;              // "rover/base"
  std::string where;             // "simulated UDP port 5005"
  std::uint64_t sent = 0;        // messages
  std::uint64_t unheard = 0;     // were due, and nobody was there to take them, or they did not fit
  std::uint64_t taken = 0;       // messages that acted
  std::uint64_t wrong = 0;       // messages that could not be read
  std::string first_wrong = {};  // why, of the first
};

}  // namespace isochron
