#pragma once
// What stands between antennas: boxes that stay (buildings) and boxes that belong to bodies that move (vehicles).
//
// Promises: line_of_sight(a, b) = line_of_sight(b, a). The bodies at the two ends do not count: antennas are on them.
// Threads:  owner thread.

#include <array>
#include <vector>

#include "v2x/radio/geometry.hpp"

namespace isochron::v2x {

using Quaternion = std::array<double, 4>;  // w x y z, of length 1

struct Box {
  Vec3 centre;
  Quaternion orientation{1, 0, 0, 0};
  Vec3 half;  // extents
};

/// Whether the straight way from a to b goes through the box.
[[nodiscard]] bool passes_through(const Vec3& a, const Vec3& b, const Box& box);

class Boxes final : public Obstruction {
 public:
  void add_fixed(const Box& box) { fixed_.push_back(box); }
  /// A body with boxes in its own frame; the number to move it by.
  std::size_t add_body(std::vector<Box> parts);
  void move(std::size_t body, const Vec3& position, const Quaternion& orientation);

  [[nodiscard]] bool line_of_sight(const Vec3& a, const Vec3& b) const override;
  [[nodiscard]] std::size_t fixed() const { return fixed_.size(); }

 private:
  struct Body {
    std::vector<Box> parts, placed;
    Vec3 position{1e9, 1e9, 0};
    double radius = 0;
  };
  std::vector<Box> fixed_;
  std::vector<Body> bodies_;
};

[[nodiscard]] Vec3 rotated(const Quaternion& q, const Vec3& v);

}  // namespace isochron::v2x
