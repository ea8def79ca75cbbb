#pragma once
// Small tools of noise that several sensors share. Each draws only when its size is not zero.

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "world/geometry.hpp"

namespace isochron::world {

inline double noisy(double value, double deviation, RandomStream& random) {
  return deviation > 0 ? value + deviation * random.normal() : value;
}
inline Vec3 noisy(const Vec3& v, double deviation, RandomStream& random) {
  if (!(deviation > 0)) return v;
  Vec3 out = v;
  for (double& x : out) x += deviation * random.normal();
  return out;
}

/// Turned by a small random rotation; of unit length again.
inline Quat noisy_turn(const Quat& q, double deviation, RandomStream& random) {
  if (!(deviation > 0)) return q;
  const Vec3 half = noisy(Vec3{}, 0.5 * deviation, random);
  Quat turned = multiply(q, {1, half[0], half[1], half[2]});
  double length = 0;
  for (const double x : turned) length += x * x;
  for (double& x : turned) x /= std::sqrt(length);
  return turned;
}

/// To the nearest multiple of `resolution`; 0 = as it is.
inline double rounded(double value, double resolution) {
  return resolution > 0 ? std::round(value / resolution) * resolution : value;
}
/// Into ±range; 0 = unlimited.
inline double saturated(double value, double range) { return range > 0 ? std::clamp(value, -range, range) : value; }

}  // namespace isochron::world
