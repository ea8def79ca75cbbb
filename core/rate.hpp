#pragma once
// A Rate is the only bridge between two clocks: so many of To pass for each of From. A robot computer four times
// slower than this one is Rate<CpuClockTag, SimClockTag>{4, 1}: one CPU second costs four simulated seconds. Kept as a
// fraction, so that converting is exact and the same everywhere.
//
// Promises: apply(a) + apply(b) differs from apply(a + b) by at most one nanosecond: convert totals, not pieces.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/time.hpp"

namespace isochron {

struct Fraction {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
  friend constexpr bool operator==(Fraction, Fraction) = default;
  [[nodiscard]] constexpr double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

/// A positive number such as "0.25", "4" or "1/3", optionally followed by x, exactly.
Result<Fraction, std::string> parse_fraction(std::string_view text);
std::string to_string(Fraction fraction);

template <class From, class To>
class Rate {
 public:
  constexpr Rate() = default;
  constexpr Rate(std::int64_t numerator, std::int64_t denominator) : factor_{numerator, denominator} {
    ENSURE(numerator > 0 && denominator > 0, "a rate must be positive");
  }
  constexpr explicit Rate(Fraction factor) : Rate(factor.numerator, factor.denominator) {}

  /// Rounded towards zero.
  [[nodiscard]] constexpr Span<To> apply(Span<From> span) const {
    const __int128 ns = static_cast<__int128>(span.ns()) * factor_.numerator / factor_.denominator;
    ENSURE(ns <= std::numeric_limits<std::int64_t>::max() && ns >= std::numeric_limits<std::int64_t>::min(),
           "a rate took a span beyond 292 years");
    return Span<To>::from_ns(static_cast<std::int64_t>(ns));
  }
  [[nodiscard]] constexpr Rate<To, From> inverse() const { return {factor_.denominator, factor_.numerator}; }
  [[nodiscard]] constexpr Fraction factor() const { return factor_; }

 private:
  Fraction factor_;
};

/// What computing costs on the robot: CPU time here -> simulated time there.
using ComputeRate = Rate<CpuClockTag, SimClockTag>;
/// How fast a paced run passes: simulated time -> wall time.
using PaceRate = Rate<SimClockTag, WallClockTag>;

}  // namespace isochron
