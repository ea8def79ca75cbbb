#pragma once
// A pose as rays use it: a rotation matrix and an offset, made once and applied many times. Only sums and products, so
// the bits are the same on every machine.

#include <array>

#include "world/vectors.hpp"

namespace isochron::world {

struct Frame {
  Vec3 origin{};
  std::array<Vec3, 3> rows{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};  // row i: outer axis i in inner coordinates

  Frame() = default;
  explicit Frame(const Pose& pose) : origin(pose.position) {
    const auto& [w, x, y, z] = pose.orientation;
    rows[0] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)};
    rows[1] = {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)};
    rows[2] = {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
  }

  /// A direction of the inner frame, in the outer one.
  [[nodiscard]] Vec3 outward(const Vec3& v) const { return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)}; }
  /// A direction of the outer frame, in the inner one.
  [[nodiscard]] Vec3 inward(const Vec3& v) const { return v[0] * rows[0] + v[1] * rows[1] + v[2] * rows[2]; }
  [[nodiscard]] Vec3 point_outward(const Vec3& p) const { return origin + outward(p); }
  [[nodiscard]] Vec3 point_inward(const Vec3& p) const { return inward(p - origin); }
};

}  // namespace isochron::world
