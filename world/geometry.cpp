#include "world/geometry.hpp"

namespace isochron::world {

Vec3 rotate(const Quat& q, const Vec3& v) {
  // v + 2 u × (u × v + w v): fewer products than the matrix, and exact for the unit quaternion (1, 0, 0, 0).
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double tx = 2 * (y * v[2] - z * v[1]);
  const double ty = 2 * (z * v[0] - x * v[2]);
  const double tz = 2 * (x * v[1] - y * v[0]);
  return {v[0] + w * tx + (y * tz - z * ty), v[1] + w * ty + (z * tx - x * tz), v[2] + w * tz + (x * ty - y * tx)};
}

Quat multiply(const Quat& a, const Quat& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}

Quat conjugate(const Quat& q) { return {q[0], -q[1], -q[2], -q[3]}; }

Pose compose(const Pose& outer, const Pose& inner) {
  const Vec3 turned = rotate(outer.orientation, inner.position);
  return {{outer.position[0] + turned[0], outer.position[1] + turned[1], outer.position[2] + turned[2]},
          multiply(outer.orientation, inner.orientation)};
}

}  // namespace isochron::world
