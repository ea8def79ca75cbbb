#include "world/sensors/repeatable.hpp"

#include <cmath>

#include "core/ensure.hpp"

namespace isochron::world {
namespace {

// π/2 and ln 2, each in a part with few digits, whose multiples are exact, and the rest.
constexpr double half_pi_high = 0x1.921fb544p0, half_pi_low = 0x1.0b4611a626331p-34;
constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

/// For |x| ≤ π/4: Horner's scheme over the Taylor series, which ends below 1 ulp there.
double short_sin(double x) {
  const double x2 = x * x;
  double sum = 0;
  for (int n = 17; n >= 3; n -= 2) sum = (sum + 1) * x2 / -(n * (n - 1));
  return x + x * sum;
}
double short_cos(double x) {
  const double x2 = x * x;
  double sum = 0;
  for (int n = 18; n >= 2; n -= 2) sum = (sum + 1) * x2 / -(n * (n - 1));
  return 1 + sum;
}

}  // namespace

SinCos repeatable_sincos(double x) {
  ENSURE(std::abs(x) <= 1e4, "an angle of more than a thousand turns");
  const double quarters = std::round(x / (half_pi_high + half_pi_low));
  const double rest = (x - quarters * half_pi_high) - quarters * half_pi_low;
  const double s = short_sin(rest);
  const double c = short_cos(rest);
  switch (static_cast<long>(quarters) & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

double repeatable_exp(double x) {
  if (x < -700) return 0;
  ENSURE(x <= 700, "an exponential that no double can hold");
  const double halvings = std::round(x / (ln2_high + ln2_low));
  const double rest = (x - halvings * ln2_high) - halvings * ln2_low;
  double sum = 1;
  for (int n = 18; n >= 1; --n) sum = 1 + sum * rest / n;
  return std::ldexp(sum, static_cast<int>(halvings));
}

}  // namespace isochron::world
