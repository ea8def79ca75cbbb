#pragma once
// What there is to see and to hit, in plain data: engines describe it, sensors and viewers use it. SI units,
// right-handed, z up; quaternions are (w, x, y, z) and of unit length.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace isochron::world {

using Vec3 = std::array<double, 3>;
using Quat = std::array<double, 4>;

struct Pose {
  Vec3 position{};
  Quat orientation{1, 0, 0, 0};
};

/// Velocities are of the body's frame origin, expressed in the world's frame.
struct Motion {
  Pose pose;
  Vec3 linear{};
  Vec3 angular{};
};

/// Where a body stands that nobody is to meet or to see for a while: each somewhere else.
inline Motion out_of_the_way(std::uint32_t body) { return {{{1e4, 1e4 + 20.0 * body, 5}, {1, 0, 0, 0}}, {}, {}}; }

Vec3 rotate(const Quat& q, const Vec3& v);
Quat multiply(const Quat& a, const Quat& b);
Quat conjugate(const Quat& q);
/// The pose of something given in `outer`, in the frame that `outer` is given in.
Pose compose(const Pose& outer, const Pose& inner);

enum class Shape : std::uint8_t { plane, box, sphere, capsule, cylinder, ellipsoid, mesh };

/// One shape fixed to a body. Body 0 is the world itself. A height field is given as a mesh.
struct Geometry {
  std::string name;
  std::uint32_t body = 0;
  Shape shape = Shape::box;
  Vec3 size{};  // half extents; radius in [0]; capsule and cylinder: radius, half length along z; plane: half extents
                // or 0
  Pose local;
  std::array<float, 4> rgba{0.5F, 0.5F, 0.5F, 1};
  bool collides = true;
  double friction = 1;                                  // of the surface; a tyre multiplies its own by it
  std::vector<std::array<float, 3>> vertices;           // mesh only
  std::vector<std::array<std::uint32_t, 3>> triangles;  // mesh only
};

}  // namespace isochron::world
