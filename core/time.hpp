#pragma once
// Three clocks, three types. Simulated, wall and CPU time are all counts of nanoseconds, and confusing them is the bug
// that this whole product exists to prevent, so `wall_now + (sim_b - sim_a)` does not compile. Only a Rate (rate.hpp)
// turns one into another. Doubles appear nowhere but at the physics adapter (seconds()).
//
//     Time<Clock>   a point           Time - Time = Span
//     Span<Clock>   a distance        Time + Span = Time
//
// Promises: arithmetic is exact or aborts; nothing wraps. Time::never() is later than all others and absorbs:
//           never() + span == never().
// Cost:     one integer operation and a predicted branch.

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

#include "core/ensure.hpp"

namespace isochron {

/// A distance on one clock. Anything in std::chrono that counts whole nanoseconds converts: `SimSpan d = 10ms;`
template <class Clock>
class Span {
 public:
  constexpr Span() = default;
  template <class Rep, class Period>
  requires(!std::chrono::treat_as_floating_point_v<Rep>) constexpr Span(std::chrono::duration<Rep, Period> d)
      : ns_(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count()) {}
  [[nodiscard]] static constexpr Span from_ns(std::int64_t ns) { return Span(ns); }
  /// The nearest nanosecond; for numbers that come from physics, not for arithmetic.
  [[nodiscard]] static constexpr Span from_seconds(double s) {
    ENSURE(s > -9.2e9 && s < 9.2e9, "a span of more than 290 years");
    return Span(static_cast<std::int64_t>(s * 1e9 + (s < 0 ? -0.5 : 0.5)));
  }
  [[nodiscard]] static constexpr Span zero() { return Span(0); }
  [[nodiscard]] static constexpr Span max() { return Span(std::numeric_limits<std::int64_t>::max()); }

  [[nodiscard]] constexpr std::int64_t ns() const { return ns_; }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }

  friend constexpr auto operator<=>(Span, Span) = default;
  friend constexpr Span operator+(Span a, Span b) {
    std::int64_t sum = 0;
    ENSURE(!__builtin_add_overflow(a.ns_, b.ns_, &sum), "a time span overflowed");
    return Span(sum);
  }
  friend constexpr Span operator-(Span a, Span b) {
    std::int64_t difference = 0;
    ENSURE(!__builtin_sub_overflow(a.ns_, b.ns_, &difference), "a time span overflowed");
    return Span(difference);
  }
  friend constexpr Span operator-(Span a) { return Span() - a; }
  friend constexpr Span operator*(Span a, std::int64_t n) {
    std::int64_t product = 0;
    ENSURE(!__builtin_mul_overflow(a.ns_, n, &product), "a time span overflowed");
    return Span(product);
  }
  friend constexpr Span operator*(std::int64_t n, Span a) { return a * n; }
  friend constexpr Span operator/(Span a, std::int64_t n) { return Span(a.ns_ / n); }
  /// How many whole b fit into a, and what is left. Rounds towards zero, as integers do.
  friend constexpr std::int64_t operator/(Span a, Span b) { return a.ns_ / b.ns_; }
  friend constexpr Span operator%(Span a, Span b) { return Span(a.ns_ % b.ns_); }
  constexpr Span& operator+=(Span b) { return *this = *this + b; }
  constexpr Span& operator-=(Span b) { return *this = *this - b; }

 private:
  constexpr explicit Span(std::int64_t ns) : ns_(ns) {}
  std::int64_t ns_ = 0;
};

/// A point on one clock.
template <class Clock>
class Time {
 public:
  constexpr Time() = default;
  [[nodiscard]] static constexpr Time from_ns(std::int64_t ns) { return Time(ns); }
  [[nodiscard]] static constexpr Time zero() { return Time(0); }
  [[nodiscard]] static constexpr Time never() { return Time(std::numeric_limits<std::int64_t>::max()); }
  [[nodiscard]] static constexpr Time before_all() { return Time(std::numeric_limits<std::int64_t>::min()); }

  [[nodiscard]] constexpr std::int64_t ns() const { return ns_; }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }
  [[nodiscard]] constexpr Span<Clock> since_zero() const { return Span<Clock>::from_ns(ns_); }

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time t, Span<Clock> d) {
    if (t == never()) return t;
    return Time((t.since_zero() + d).ns());
  }
  friend constexpr Time operator+(Span<Clock> d, Time t) { return t + d; }
  friend constexpr Time operator-(Time t, Span<Clock> d) {
    if (t == never()) return t;
    return Time((t.since_zero() - d).ns());
  }
  friend constexpr Span<Clock> operator-(Time a, Time b) { return a.since_zero() - b.since_zero(); }
  constexpr Time& operator+=(Span<Clock> d) { return *this = *this + d; }

 private:
  constexpr explicit Time(std::int64_t ns) : ns_(ns) {}
  std::int64_t ns_ = 0;
};

/// Simulated time: zero is the start of the run.
struct SimClockTag;
/// Wall time: monotonic, zero is some moment before the run.
struct WallClockTag;
/// CPU time: what one program has executed.
struct CpuClockTag;

using SimTime = Time<SimClockTag>;
using SimSpan = Span<SimClockTag>;
using WallTime = Time<WallClockTag>;
using WallSpan = Span<WallClockTag>;
using CpuTime = Time<CpuClockTag>;
using CpuSpan = Span<CpuClockTag>;

}  // namespace isochron
