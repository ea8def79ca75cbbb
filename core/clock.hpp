#pragma once
// The wall clock as an argument. Nothing below apps/ reads a clock of its own: it is handed one, so that a whole
// federation runs under a simulated clock (testing/) as it does under the real one (rt/clock.hpp).

#include "core/time.hpp"

namespace isochron {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic; the same on every core.
  [[nodiscard]] virtual WallTime now() = 0;
  /// Blocks the calling thread until t; returns at once if t has passed.
  virtual void sleep_until(WallTime t) = 0;
};

}  // namespace isochron
