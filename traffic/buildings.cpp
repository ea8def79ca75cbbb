#include "traffic/buildings.hpp"

#include <algorithm>

namespace isochron {
namespace {

/// Whether nothing can move it, nor what it hangs on.
bool is_fixed(const world::Engine& engine, std::uint32_t body) {
  const world::Catalog& catalog = engine.catalog();
  for (; body != 0; body = catalog.parents[body]) {
    const bool jointed = std::any_of(catalog.joints.begin(), catalog.joints.end(),
                                     [&](const world::JointInfo& joint) { return joint.body == body; });
    if (jointed || engine.can_place(body)) return false;
  }
  return true;
}

/// From the frame of a body to the world's.
v2x::Box placed(v2x::Box box, const world::Pose& body) {
  const world::Vec3 at = world::rotate(body.orientation, {box.centre.x, box.centre.y, box.centre.z});
  box.centre = {body.position[0] + at[0], body.position[1] + at[1], body.position[2] + at[2]};
  box.orientation = world::multiply(body.orientation, box.orientation);
  return box;
}

}  // namespace

std::optional<v2x::Box> box_of(const world::Geometry& g) {
  v2x::Box box{{g.local.position[0], g.local.position[1], g.local.position[2]}, g.local.orientation, {}};
  switch (g.shape) {
    case world::Shape::box:
    case world::Shape::ellipsoid:
      box.half = {g.size[0], g.size[1], g.size[2]};
      return box;
    case world::Shape::sphere:
      box.half = {g.size[0], g.size[0], g.size[0]};
      return box;
    case world::Shape::cylinder:
      box.half = {g.size[0], g.size[0], g.size[1]};
      return box;
    case world::Shape::capsule:
      box.half = {g.size[0], g.size[0], g.size[0] + g.size[1]};
      return box;
    default:
      return std::nullopt;  // planes, and meshes: their hull would hide too much
  }
}

std::vector<v2x::Box> buildings_of(const world::Engine& engine) {
  std::vector<v2x::Box> all;
  for (const world::Geometry& geometry : engine.geometry()) {
    const auto box = box_of(geometry);
    if (!box || !geometry.collides || std::min({box->half.x, box->half.y, box->half.z}) <= 0.5) continue;
    if (is_fixed(engine, geometry.body)) all.push_back(placed(*box, engine.motion(geometry.body).pose));
  }
  return all;
}

}  // namespace isochron
