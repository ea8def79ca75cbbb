#pragma once
// A fixed grid of releases for a loop. wait() sleeps until the next release by absolute time, so that computing time
// and late wake-ups never add up, and says how much slack the last cycle left.
//
//     Period period(1ms);
//     while (running) {
//       if (period.wait() < 0ns) ++late;      // the work took longer than a period
//       work(period.release());
//     }
//
//     release      release      release                 overrun: what comes after a missed release?
//        ├─work─┐slack ├─────work─────┼──┐              catch_up  at once, once for each missed release
//        │      └──────│              │  └ slack < 0    skip      the next release of the grid; the missed are dropped
//                                                       realign   at once, and the grid starts anew from here
//
// Promises: with catch_up and skip every release is start + k · period; with catch_up no k is left out.
// Threads:  owner thread.
// Cost:     wait() blocks; never allocates.

#include <cstdint>

#include "rt/clock.hpp"

namespace isochron::rt {

enum class Overrun { catch_up, skip, realign };

template <class Clock = MonotonicClock>
class BasicPeriod {
 public:
  using TimePoint = typename Clock::time_point;

  /// The first wait() returns one period from now.
  explicit BasicPeriod(nanoseconds period, Overrun overrun = Overrun::catch_up, Clock clock = {})
      : BasicPeriod(period, clock.now() + period, overrun, clock) {}
  /// The first wait() returns at `start`: see next_multiple() to be in phase with others.
  BasicPeriod(nanoseconds period, TimePoint start, Overrun overrun = Overrun::catch_up, Clock clock = {})
      : clock_(clock), period_(period), next_(start), release_(start - period), overrun_(overrun) {
    RT_ENSURE(period > nanoseconds::zero(), "a period is above zero");
  }

  /// Sleeps until the next release. Returns the time that was left before it; negative: it was missed by that much.
  nanoseconds wait() {
    const TimePoint called = clock_.now();
    const nanoseconds slack = next_ - called;
    if (slack < nanoseconds::zero()) recover(called);
    if (next_ > called) clock_.sleep_until(next_);
    release_ = next_;
    next_ += period_;
    ++releases_;
    return slack;
  }

  /// The release that the current cycle belongs to; what the loop should take as "now".
  [[nodiscard]] TimePoint release() const { return release_; }
  /// How long after its release the loop is now: called right after wait(), the wake-up latency.
  [[nodiscard]] nanoseconds since_release() { return clock_.now() - release_; }
  [[nodiscard]] nanoseconds period() const { return period_; }
  [[nodiscard]] std::uint64_t releases() const { return releases_; }
  /// Releases that wait() was called too late for.
  [[nodiscard]] std::uint64_t missed() const { return missed_; }
  /// Releases of the grid that no cycle was run for (skip, realign).
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  /// Moves all releases to come; for loops disciplined to another clock.
  void shift(nanoseconds by) { next_ += by; }

 private:
  void recover(TimePoint called) {
    ++missed_;
    if (overrun_ == Overrun::catch_up) return;
    const auto whole = (called - next_) / period_;
    if (overrun_ == Overrun::skip) {
      dropped_ += static_cast<std::uint64_t>(whole) + 1;
      next_ += (whole + 1) * period_;
    } else {
      dropped_ += static_cast<std::uint64_t>(whole);
      next_ = called;
    }
  }

  Clock clock_;
  nanoseconds period_;
  TimePoint next_;
  TimePoint release_;
  Overrun overrun_;
  std::uint64_t releases_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t dropped_ = 0;
};

using Period = BasicPeriod<>;

}  // namespace isochron::rt
