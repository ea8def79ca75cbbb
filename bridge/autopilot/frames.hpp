#pragma once
// Our world is east, north, up (ENU) and our bodies forward, left, up (FLU), as those of ROS; autopilots have north,
// east, down (NED) and forward, right, down (FRD). All conversions between the two stand here.
//
// Threads: any. Cost: no allocation.

#include <array>
#include <cmath>

namespace isochron::autopilot {

using Vec3 = std::array<double, 3>;
using Quat = std::array<double, 4>;  // w x y z

/// Both ways.
[[nodiscard]] constexpr Vec3 ned_of_enu(const Vec3& v) { return {v[1], v[0], -v[2]}; }
/// Both ways.
[[nodiscard]] constexpr Vec3 frd_of_flu(const Vec3& v) { return {v[0], -v[1], -v[2]}; }

[[nodiscard]] constexpr Quat product(const Quat& a, const Quat& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}

/// From body to world: FLU to ENU becomes FRD to NED, and back. Of the two quaternions the one with w ≥ 0.
[[nodiscard]] inline Quat ned_frd_of_enu_flu(const Quat& q) {
  constexpr double half = 0.70710678118654752440;
  Quat turned = product(product({0, half, half, 0}, q), {0, 1, 0, 0});
  if (turned[0] < 0) {
    for (double& part : turned) part = -part;
  }
  return turned;
}

[[nodiscard]] inline Vec3 rotate(const Quat& q, const Vec3& v) {
  const Quat turned = product(product(q, {0, v[0], v[1], v[2]}), {q[0], -q[1], -q[2], -q[3]});
  return {turned[1], turned[2], turned[3]};
}
[[nodiscard]] inline Vec3 rotate_back(const Quat& q, const Vec3& v) { return rotate({q[0], -q[1], -q[2], -q[3]}, v); }

/// Roll, pitch, yaw: about z, then y, then x.
[[nodiscard]] inline Vec3 euler_of(const Quat& q) {
  const double sine = 2 * (q[0] * q[2] - q[3] * q[1]);
  return {std::atan2(2 * (q[0] * q[1] + q[2] * q[3]), 1 - 2 * (q[1] * q[1] + q[2] * q[2])),
          std::asin(sine > 1    ? 1
                    : sine < -1 ? -1
                                : sine),
          std::atan2(2 * (q[0] * q[3] + q[1] * q[2]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]))};
}

}  // namespace isochron::autopilot
