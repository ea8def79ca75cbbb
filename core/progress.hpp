#pragma once
// Progress is how far a participant has come in simulated time: what it executed plus what it declared it waited. It
// only grows. The original coordinator let it go back after an overrun, and lost its own accounting by it.
//
// Promises: at() == start + executed() + waited(), always.
// Threads:  owner thread. Others see it through DriftLedger.

#include "core/ensure.hpp"
#include "core/time.hpp"

namespace isochron {

class Progress {
 public:
  constexpr Progress() = default;
  constexpr explicit Progress(SimTime start) : start_(start) {}

  [[nodiscard]] constexpr SimTime at() const { return start_ + (executed_ + waited_); }
  [[nodiscard]] constexpr SimSpan executed() const { return executed_; }
  [[nodiscard]] constexpr SimSpan waited() const { return waited_; }

  constexpr void execute(SimSpan span) {
    ENSURE(span >= SimSpan::zero(), "progress cannot go back");
    executed_ += span;
  }
  /// Waits until t; a time already passed is no wait (the participant is late, which its period counts).
  constexpr void wait_until(SimTime t) {
    if (t > at()) waited_ += t - at();
  }

 private:
  SimTime start_;
  SimSpan executed_;
  SimSpan waited_;
};

}  // namespace isochron
