#pragma once
// Simulated time as messages say it: seconds in the minute and in the hour, UTC. A run begins with an hour.

#include <cmath>

#include "core/time.hpp"

namespace isochron::v2x {

inline double second_of_minute(SimTime t) {
  const std::int64_t ns = t.ns() % 60'000'000'000;
  return std::floor(static_cast<double>(ns) / 1e6) / 1000;  // whole milliseconds, as sent
}
inline double second_of_hour(SimTime t) { return static_cast<double>(t.ns() % 3'600'000'000'000) / 1e9; }

/// Seconds from now until a moment of this or the next cycle; what lies behind by less than half of one is negative.
inline double until_mark(double mark_s, double now_s, double cycle_s) {
  const double ahead = mark_s - now_s;
  return ahead - cycle_s * std::round(ahead / cycle_s);
}

}  // namespace isochron::v2x
