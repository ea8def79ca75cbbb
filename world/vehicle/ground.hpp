#pragma once
// The ground under wheels: planes, boxes, meshes and height fields that are fixed to the world and whose geom's name
// begins with "ground". Asked for the surface below a point; friction comes with it, so that ice is a patch of ground.
//
// Promises: a pure function of the model. Cost: a grid over the triangles; ~50 ns a question; no allocation.

#include <cstdint>
#include <optional>
#include <vector>

#include "world/engine.hpp"

namespace isochron::world {

struct GroundPoint {
  double height = 0;
  Vec3 normal{0, 0, 1};
  double friction = 1;
};

class Ground {
 public:
  /// Throws InputError when the model has no ground.
  explicit Ground(const Engine& engine);

  /// The highest surface at (x, y) that is not above `from`.
  [[nodiscard]] std::optional<GroundPoint> below(double x, double y, double from) const;

 private:
  struct Plane {
    Vec3 point, normal;
    double friction;
  };
  struct Triangle {
    Vec3 a, b, c, normal;
    double friction;
  };
  void add_geometry(const Geometry& geometry, const Pose& pose);
  void add_triangle(const Vec3& a, const Vec3& b, const Vec3& c, double friction);
  void build_grid();
  [[nodiscard]] std::int64_t cell_of(double value, int axis) const;

  std::vector<Plane> planes_;
  std::vector<Triangle> triangles_;
  double low_[2]{}, cell_ = 1;
  std::int64_t cells_[2]{};
  std::vector<std::uint32_t> first_, members_;  // triangles of cell i: members_[first_[i] .. first_[i + 1]]
};

}  // namespace isochron::world
