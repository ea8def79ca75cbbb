#include "run/scene_messages.hpp"

#include "core/cdr.hpp"

namespace isochron::scene {
namespace {

constexpr double endless_plane = 100;  // metres that are drawn of it
constexpr double plane_thickness = 0.002;

Pose pose_of(const world::Pose& pose) {
  const auto& p = pose.position;
  const auto& q = pose.orientation;
  return {{p[0], p[1], p[2]}, {q[1], q[2], q[3], q[0]}};
}

Pose moved_along_z(const world::Pose& pose, double z) {
  return pose_of(world::compose(pose, world::Pose{{0, 0, z}, {1, 0, 0, 0}}));
}

Vector3 diameters(const world::Vec3& half) { return {2 * half[0], 2 * half[1], 2 * half[2]}; }

void add_plane(SceneEntity& entity, const world::Geometry& g, const Color& color) {
  const auto edge = [](double half) { return half > 0 ? 2 * half : endless_plane; };
  entity.cubes.push_back(
      {moved_along_z(g.local, -plane_thickness / 2), {edge(g.size[0]), edge(g.size[1]), plane_thickness}, color});
}

void add_capsule(SceneEntity& entity, const world::Geometry& g, const Color& color) {
  const double width = 2 * g.size[0];
  entity.cylinders.push_back({pose_of(g.local), {width, width, 2 * g.size[1]}, 1, 1, color});
  for (const double end : {-g.size[1], g.size[1]})
    entity.spheres.push_back({moved_along_z(g.local, end), {width, width, width}, color});
}

void add_mesh(SceneEntity& entity, const world::Geometry& g, const Color& color) {
  TriangleListPrimitive mesh;
  mesh.pose = pose_of(g.local);
  mesh.color = color;
  for (const auto& v : g.vertices) mesh.points.push_back({v[0], v[1], v[2]});
  for (const auto& t : g.triangles) mesh.indices.insert(mesh.indices.end(), t.begin(), t.end());
  entity.triangles.push_back(std::move(mesh));
}

void add(SceneEntity& entity, const world::Geometry& g) {
  const Color color{g.rgba[0], g.rgba[1], g.rgba[2], g.rgba[3]};
  const double width = 2 * g.size[0];
  switch (g.shape) {
    case world::Shape::plane:
      return add_plane(entity, g, color);
    case world::Shape::box:
      return void(entity.cubes.push_back({pose_of(g.local), diameters(g.size), color}));
    case world::Shape::sphere:
      return void(entity.spheres.push_back({pose_of(g.local), {width, width, width}, color}));
    case world::Shape::ellipsoid:
      return void(entity.spheres.push_back({pose_of(g.local), diameters(g.size), color}));
    case world::Shape::capsule:
      return add_capsule(entity, g, color);
    case world::Shape::cylinder:
      return void(entity.cylinders.push_back({pose_of(g.local), {width, width, 2 * g.size[1]}, 1, 1, color}));
    case world::Shape::mesh:
      return add_mesh(entity, g, color);
  }
}

}  // namespace

SceneUpdate describe_scene(const world::Engine& engine) {
  SceneUpdate update;
  const world::Catalog& catalog = engine.catalog();
  for (std::uint32_t body = 0; body < catalog.bodies.size(); ++body) {
    SceneEntity entity;
    entity.frame_id = body == 0 ? "world" : catalog.bodies[body];
    entity.id = catalog.bodies[body];
    bool seen = false;
    for (const world::Geometry& geometry : engine.geometry()) {
      if (geometry.body != body) continue;
      add(entity, geometry);
      seen = true;
    }
    if (seen) update.entities.push_back(std::move(entity));
  }
  return update;
}

SceneUpdate scene_for_journal(const world::Engine& engine) {
  constexpr std::size_t most = 12U << 20U;
  SceneUpdate scene = describe_scene(engine);
  if (cdr_size(scene) > most) {
    for (SceneEntity& entity : scene.entities) entity.triangles.clear();
  }
  return scene;
}

}  // namespace isochron::scene
