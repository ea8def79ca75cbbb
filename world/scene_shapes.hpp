#pragma once
// Where a ray meets a shape, in closed form and in the shape's own frame. Spheres are round and cylinders smooth for
// every sensor, at any distance, and the result has the same bits on every machine (sums, products, quotients and
// square roots only).

#include <limits>

#include "world/geometry.hpp"

namespace isochron::world {

/// `direction` is of unit length, so that distances are metres.
struct Ray {
  Vec3 origin{};
  Vec3 direction{1, 0, 0};
  double near = 0;
  double far = std::numeric_limits<double>::infinity();
};

struct ShapeHit {
  double distance = 0;
  Vec3 normal{};  // outward, of unit length
};

/// The first crossing of the surface with near < distance < far; false if there is none. Not for meshes.
bool meet(Shape shape, const Vec3& size, const Ray& ray, ShapeHit& hit);

/// The same for the plane of a triangle, from either side; for rays that are known to go through it.
bool meet_triangle(const Vec3& a, const Vec3& b, const Vec3& c, const Ray& ray, ShapeHit& hit);

/// Half extents of the box around a shape, in its own frame. A plane without size has none; not for meshes.
Vec3 half_extents(Shape shape, const Vec3& size);

}  // namespace isochron::world
