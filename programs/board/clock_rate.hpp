#pragma once
// At which rate a target's clock runs, by what it shows when it is pinged. It was read at some time between the ping's
// leaving and the pong's arrival; so two pongs bound the rate, whatever the link did:
//
//      theirs' - theirs                      theirs' - theirs
//      ----------------   <=   rate   <=    ----------------
//      arrived' - sent                       sent' - arrived
//
// and the bounds close in while the clock is watched.
//
// Promises: off() only where no clock within the tolerance could have shown what this one did. A clock that jumps is
//           off until two pongs agree again; it is watched anew from there.
// Threads:  owner thread. Cost: no heap.

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/time.hpp"

namespace isochron::programs {

class ClockRate {
 public:
  /// A clock whose rate is within 1 ± tolerance is right, and one may tick as coarsely as that.
  static constexpr WallSpan tick = std::chrono::microseconds(50);
  explicit ClockRate(double tolerance) : tolerance_(tolerance) {}

  /// The target's clock, read between `sent` and `arrived` of ours.
  void add(WallTime sent, WallTime arrived, std::int64_t theirs) {
    const Seen now{sent, arrived, theirs};
    if (!seen_) {
      seen_ = true;
      first_ = last_ = now;
      return;
    }
    const Bounds lately = between(last_, now);
    const bool jumped = !allows(lately);
    if (!jumped && jumped_) first_ = last_;
    const Bounds bounds = between(first_, now);
    off_ = jumped || !allows(bounds);
    const double width = bounds.high - bounds.low;
    if (width < worth_telling || (off_ && std::isfinite(width))) rate_ = (bounds.low + bounds.high) / 2;
    jumped_ = jumped;
    last_ = now;
  }
  [[nodiscard]] bool off() const { return off_; }
  /// Of its clock to ours: about, where it is off; 1 as long as it may be right and is not known to a percent.
  [[nodiscard]] double rate() const { return rate_; }

 private:
  static constexpr double worth_telling = 0.01;
  struct Seen {
    WallTime sent, arrived;
    std::int64_t theirs = 0;
  };
  struct Bounds {
    double low = 0, high = 0;
  };
  [[nodiscard]] bool allows(const Bounds& b) const { return b.low <= 1 + tolerance_ && b.high >= 1 - tolerance_; }

  static Bounds between(const Seen& a, const Seen& b) {
    const auto passed = static_cast<double>(b.theirs) - static_cast<double>(a.theirs);
    const auto longest = static_cast<double>((b.arrived - a.sent).ns());
    const auto shortest = static_cast<double>((b.sent - a.arrived).ns());
    const auto grain = static_cast<double>(tick.ns());
    return {over(passed - grain, longest, shortest, -1), over(passed + grain, shortest, longest, 1)};
  }
  /// A positive span over `if_positive`, a negative one over `if_negative`; over nothing it is infinite.
  static double over(double span, double if_positive, double if_negative, double sign) {
    const double by = span >= 0 ? if_positive : if_negative;
    return by > 0 ? span / by : sign * std::numeric_limits<double>::infinity();
  }

  double tolerance_;
  bool seen_ = false, jumped_ = false, off_ = false;
  Seen first_, last_;
  double rate_ = 1;
};

}  // namespace isochron::programs
