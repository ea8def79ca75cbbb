#pragma once
// The same rays into the same triangles with Embree alone: no exact distances, no noise, no message. What our LiDAR is
// compared with.

#include <cstdint>
#include <memory>
#include <vector>

#include "world/geometry.hpp"

namespace isochron::bench {

class BareEmbree {
 public:
  /// Boxes, cylinders and meshes, all as triangles.
  explicit BareEmbree(const std::vector<world::Geometry>& geometry);
  ~BareEmbree();

  void add_ray(const world::Vec3& origin, const world::Vec3& direction, double far);
  [[nodiscard]] std::size_t rays() const;
  /// Casts them all; returns how many hit.
  std::uint64_t cast_all();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace isochron::bench
