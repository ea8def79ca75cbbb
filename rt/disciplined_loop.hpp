#pragma once
// A loop that runs at a device's rate, not at the computer's: a fieldbus master or a robot's own computer has a clock
// that differs from ours by tens of parts per million, so that a loop on our clock slides through the device's cycle
// and, every few minutes, is there twice or not at all. Here a PI controller moves the releases until the loop wakes at
// a fixed offset in the device's cycle, and learns the drift on the way.
//
//     DisciplinedLoop loop({.period = 1ms, .offset = 300us}, [](const MissedDeadline& m) { log(m); });
//     while (running) {
//       loop.wait();
//       loop.observe(device.read_clock());       // or not, when nothing arrived: the loop coasts on what it learned
//     }
//
// Promises: a correction moves a release by at most most_correction. With a device within 1 % of the nominal rate the
//           error converges to 0 (plus the jitter of the readings, damped tenfold).
// Threads:  owner thread; the callback runs in it.
// Cost:     wait() blocks; never allocates after set-up.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "rt/period.hpp"

namespace isochron::rt {

struct Discipline {
  nanoseconds period{};
  nanoseconds offset{};           // where in the device's cycle the loop shall wake
  double proportional = 0.1;      // of the error, each cycle
  double integral = 0.0025;       // proportional² / 4: critically damped
  nanoseconds most_correction{};  // of one release; 0: a twentieth of the period
  nanoseconds lock_error{};       // locked() within this; 0: a fiftieth of the period
  int lock_cycles = 100;          // … for so many cycles
};

/// The PI controller alone: device time at a release in, how to move the next release out.
class PhaseLock {
 public:
  explicit PhaseLock(Discipline d) : d_(d) {
    RT_ENSURE(d_.period > nanoseconds::zero(), "a period is above zero");
    if (d_.most_correction == nanoseconds::zero()) d_.most_correction = d_.period / 20;
    if (d_.lock_error == nanoseconds::zero()) d_.lock_error = d_.period / 50;
  }

  /// How much later the next release shall be than one period on.
  nanoseconds correct(nanoseconds device_time_at_release) {
    error_ = wrap(device_time_at_release - d_.offset);
    const auto e = static_cast<double>(error_.count());
    const auto most = static_cast<double>(d_.most_correction.count());
    const double wanted = d_.proportional * e + drift_ns_ + d_.integral * e;
    if (std::abs(wanted) < most) drift_ns_ += d_.integral * e;  // no wind-up while it cannot follow
    in_bounds_ = std::chrono::abs(error_) <= d_.lock_error ? in_bounds_ + 1 : 0;
    return nanoseconds(std::llround(-std::clamp(wanted, -most, most)));
  }
  /// For a cycle without a reading: keeps up with the drift learned so far.
  [[nodiscard]] nanoseconds coast() const { return nanoseconds(std::llround(-drift_ns_)); }

  /// How late in the device's cycle the loop woke at the last reading, less the offset; within half a period.
  [[nodiscard]] nanoseconds error() const { return error_; }
  /// How much faster the device's clock runs than ours.
  [[nodiscard]] double drift_ppm() const { return drift_ns_ / static_cast<double>(d_.period.count()) * 1e6; }
  [[nodiscard]] bool locked() const { return in_bounds_ >= d_.lock_cycles; }

 private:
  [[nodiscard]] nanoseconds wrap(nanoseconds phase) const {
    nanoseconds into = phase % d_.period;
    if (into < nanoseconds::zero()) into += d_.period;
    return into >= d_.period - d_.period / 2 ? into - d_.period : into;
  }

  Discipline d_;
  nanoseconds error_{};
  double drift_ns_ = 0;  // a cycle
  int in_bounds_ = 0;
};

struct MissedDeadline {
  nanoseconds by;           // how late the loop came back
  std::uint64_t count = 0;  // so far, this one too
};

template <class Clock = MonotonicClock>
class BasicDisciplinedLoop {
 public:
  using TimePoint = typename Clock::time_point;
  using OnMissed = std::function<void(const MissedDeadline&)>;

  explicit BasicDisciplinedLoop(Discipline d, OnMissed on_missed = {}, Clock clock = {})
      : clock_(clock), period_(d.period, Overrun::skip, clock), lock_(d), on_missed_(std::move(on_missed)) {}

  /// Sleeps until the next release; returns the slack as Period::wait does, and reports a missed release.
  nanoseconds wait() {
    if (!observed_ && period_.releases() > 0) period_.shift(lock_.coast());
    observed_ = false;
    const nanoseconds slack = period_.wait();
    if (slack < nanoseconds::zero() && on_missed_) on_missed_({-slack, period_.missed()});
    return slack;
  }

  /// The device's clock, read just now. Once a cycle.
  void observe(nanoseconds device_time) { observe(device_time, clock_.now()); }
  /// The device's clock as it was at a time of ours, for readings that come with an arrival time.
  void observe(nanoseconds device_time, TimePoint at) {
    period_.shift(lock_.correct(device_time - (at - period_.release())));
    observed_ = true;
  }

  [[nodiscard]] TimePoint release() const { return period_.release(); }
  [[nodiscard]] std::uint64_t missed() const { return period_.missed(); }
  [[nodiscard]] const PhaseLock& lock() const { return lock_; }

 private:
  Clock clock_;
  BasicPeriod<Clock> period_;
  PhaseLock lock_;
  OnMissed on_missed_;
  bool observed_ = false;
};

using DisciplinedLoop = BasicDisciplinedLoop<>;

}  // namespace isochron::rt
