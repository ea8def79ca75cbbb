#pragma once
// The Scene is what sensors see: every shape of the world in one Embree scene, asked by rays. It knows no engine: it is
// built from the plain geometry that an engine describes and told where the bodies are. Embree finds which surface is
// met first; the distance and the normal are then computed here, in double precision and closed form, because Embree
// works in single precision and uses reciprocal estimates whose bits differ between makers of CPUs.
//
// Promises: what a ray meets is a function of the poses at the last commit(), not of earlier ones; it has the same bits
//           in every run and process. Shapes are exact (no tessellation). A geometry whose alpha is 0 is not there.
// Requires: place() for bodies that moved, then commit(), then rays.
// Threads:  place and commit: owner thread. Rays: any number of threads between commits. Scenes are independent.
// Cost:     a ray allocates nothing. commit() rebuilds what moved; a commit after no motion is free. While it
//           rebuilds, Embree itself allocates and frees a few short strings.
// Fails:    the constructor throws InputError on geometry that cannot be seen (sizes that are not numbers, triangles
//           that point nowhere) and names it.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "world/geometry.hpp"
#include "world/scene_shapes.hpp"

namespace isochron::world {

/// How a surface answers light and laser.
struct Material {
  std::array<float, 3> colour{0.5F, 0.5F, 0.5F};
  float reflectivity = 0.5F;  // of a laser, 0 to 1
  float checker = 0;          // side of the squares of a chequered pattern in the surface's own x and y, m; 0 = plain
  bool glows = false;         // a lamp that is lit: seen in its colour, whatever the light
};

struct Hit {
  double distance = 0;
  std::uint32_t geometry = 0;  // index in the list that the scene was built from
  std::uint32_t body = 0;
  Vec3 normal{};  // of unit length, towards where the ray came from
};

class Scene {
 public:
  static constexpr std::uint32_t no_body = UINT32_MAX;

  /// Materials follow from the colours (reflectivity: the colour's brightness; planes are chequered by 1 m).
  explicit Scene(const std::vector<Geometry>& geometry);
  ~Scene();
  Scene(Scene&&) noexcept;
  Scene& operator=(Scene&&) noexcept;

  /// Body 0, the world itself, stays where it is.
  void place(std::uint32_t body, const Pose& pose);
  void commit();

  /// The first surface within the ray's reach. `ignored` is a body that the ray passes through (a sensor's own).
  [[nodiscard]] bool cast(const Ray& ray, Hit& hit, std::uint32_t ignored = no_body) const;
  /// Whether there is any.
  [[nodiscard]] bool blocked(const Ray& ray, std::uint32_t ignored = no_body) const;

  [[nodiscard]] std::size_t size() const;  // geometries, seen or not
  [[nodiscard]] const Material& material(std::uint32_t geometry) const;
  void set_material(std::uint32_t geometry, const Material& material);
  /// The surface's colour at a point of it, patterns included.
  [[nodiscard]] std::array<float, 3> colour_at(const Hit& hit, const Ray& ray) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace isochron::world
