#pragma once
// The kernel's clocks with absolute sleep. A loop that sleeps "for" a while drifts by what it computed; one that sleeps
// "until" does not, and it is the kernel's timer that decides when it wakes. Loops take their clock as a template
// argument, so that tests run them on a clock moved by hand.
//
// Threads: any. Cost: now() ~20 ns; sleep_until() blocks, never allocates.

#include <time.h>

#include <cerrno>
#include <chrono>
#include <type_traits>

#include "rt/atomics.hpp"
#include "rt/ensure.hpp"

namespace isochron::rt {

using std::chrono::nanoseconds;

inline timespec to_timespec(nanoseconds since_epoch) {
  const auto s = std::chrono::floor<std::chrono::seconds>(since_epoch);
  return {.tv_sec = static_cast<time_t>(s.count()), .tv_nsec = static_cast<long>((since_epoch - s).count())};
}
inline nanoseconds from_timespec(const timespec& t) { return std::chrono::seconds(t.tv_sec) + nanoseconds(t.tv_nsec); }

/// One of the kernel's clocks. The monotonic one shares its time points with std::chrono::steady_clock; CLOCK_TAI is
/// for machines disciplined to each other.
template <clockid_t Id>
struct PosixClock {
  using duration = nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::conditional_t<Id == CLOCK_MONOTONIC, std::chrono::steady_clock::time_point,
                                        std::chrono::time_point<PosixClock>>;
  static constexpr bool is_steady = Id == CLOCK_MONOTONIC;

  static time_point now() {
    timespec t{};
    clock_gettime(Id, &t);
    return time_point(from_timespec(t));
  }

  /// Returns at once when t has passed. Signals do not cut it short.
  static void sleep_until(time_point t) {
    const timespec until = to_timespec(t.time_since_epoch());
    int error = 0;
    while ((error = clock_nanosleep(Id, TIMER_ABSTIME, &until, nullptr)) == EINTR) {
    }
    RT_ENSURE(error == 0, "the kernel refused an absolute sleep");
  }
};

using MonotonicClock = PosixClock<CLOCK_MONOTONIC>;
using MonotonicTime = MonotonicClock::time_point;

/// Sleeps until t and returns the slack, t minus the time of the call: what was left. Negative: t had passed already.
template <class Clock = MonotonicClock>
nanoseconds wait_until(typename Clock::time_point t, Clock clock = {}) {
  const nanoseconds slack = t - clock.now();
  if (slack > nanoseconds::zero()) clock.sleep_until(t);
  return slack;
}

/// As wait_until, but the last stretch is spun, to be free of the wake-up latency. It burns the core for that long.
template <class Clock = MonotonicClock>
nanoseconds wait_until_spinning(typename Clock::time_point t, nanoseconds spin, Clock clock = {}) {
  const nanoseconds slack = t - clock.now();
  if (slack > spin) clock.sleep_until(t - spin);
  while (clock.now() < t) spin_pause();
  return slack;
}

/// The first time after `after` that is a whole number of periods (plus offset) on its clock: threads, and with
/// CLOCK_TAI machines, that start there are in phase without having met.
template <class TimePoint>
TimePoint next_multiple(TimePoint after, nanoseconds period, nanoseconds offset = nanoseconds::zero()) {
  RT_ENSURE(period > nanoseconds::zero(), "a period is above zero");
  const nanoseconds since = after.time_since_epoch() - offset;
  nanoseconds into = since % period;
  if (into < nanoseconds::zero()) into += period;
  return after + (period - into);
}

}  // namespace isochron::rt
