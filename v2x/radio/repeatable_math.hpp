#pragma once
// The few functions that the radio needs, by operations that IEEE 754 rounds exactly: libm's differ between CPUs, and a
// message lost on one machine must be lost on all.

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/random.hpp"

namespace isochron::v2x {

/// e^x; 0 below -700. Within a few ulp.
inline double repeatable_exp(double x) {
  if (x < -700) return 0;
  if (x > 700) x = 700;
  // x = k ln 2 + r, |r| <= ln 2 / 2; then Taylor.
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
  constexpr double inverse_factorial[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                          1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                          1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5};
  double sum = 0;
  for (const double c : inverse_factorial) sum = sum * r + c;
  sum = (sum * r + 1) * r + 1;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023) << 52);
}

/// ln x for normal x > 0, as core's repeatable_log but without its divisions: called for every link. Within a few ulp.
inline double quick_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1022;
  double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3fe0000000000000);  // in [1/2, 1)
  if (m < 0.70710678118654752) m *= 2, --exponent;
  const double z = (m - 1) / (m + 1);
  const double z2 = z * z;
  constexpr double odd[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                            1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
  double sum = 0;
  for (const double c : odd) sum = sum * z2 + c;
  return 2 * z * sum + static_cast<double>(exponent) * 0.69314718055994531;
}

inline constexpr double ln10 = 2.302585092994045684;
inline double db_of(double ratio) { return quick_log(ratio) * (10 / ln10); }
inline double ratio_of_db(double db) { return repeatable_exp(db * (ln10 / 10)); }

/// Spreads the bits of a number over all of another: draws that belong to a (sender, receiver, message) need no state.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
constexpr double unit_of(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace isochron::v2x
