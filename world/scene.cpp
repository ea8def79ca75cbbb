#include "world/scene.hpp"

#include <cmath>
#include <cstring>
#include <string>

#include "core/ensure.hpp"
#include "core/input_error.hpp"
#include "world/scene_layer.hpp"

namespace isochron::world {
namespace {

constexpr std::uint32_t none = UINT32_MAX;

/// How many of its sizes a shape uses.
int sizes_used(Shape shape) {
  switch (shape) {
    case Shape::plane:
    case Shape::mesh:
      return 0;
    case Shape::sphere:
      return 1;
    case Shape::capsule:
    case Shape::cylinder:
      return 2;
    case Shape::box:
    case Shape::ellipsoid:
      break;
  }
  return 3;
}

/// What is wrong with it; null if nothing.
const char* flaw_in(const Geometry& geometry) {
  for (int i = 0; i < 3; ++i) {
    if (!std::isfinite(geometry.size[i])) return "its size is not a number";
    if (i < sizes_used(geometry.shape) && !(geometry.size[i] > 0)) return "its size is not positive";
  }
  for (const auto& v : geometry.vertices) {
    if (!std::isfinite(v[0]) || !std::isfinite(v[1]) || !std::isfinite(v[2])) return "a vertex is not a number";
  }
  for (const auto& triangle : geometry.triangles) {
    for (const std::uint32_t corner : triangle) {
      if (corner >= geometry.vertices.size()) return "a triangle names a vertex that does not exist";
    }
  }
  return nullptr;
}

Material from_colour(const Geometry& geometry) {
  Material material;
  material.colour = {geometry.rgba[0], geometry.rgba[1], geometry.rgba[2]};
  material.reflectivity = 0.2126F * geometry.rgba[0] + 0.7152F * geometry.rgba[1] + 0.0722F * geometry.rgba[2];
  if (geometry.shape == Shape::plane) material.checker = 1;
  return material;
}

bool same_bits(const Pose& a, const Pose& b) { return std::memcmp(&a, &b, sizeof(Pose)) == 0; }

RTCRay to_embree(const Ray& ray) {
  RTCRay r{};
  r.org_x = static_cast<float>(ray.origin[0]);
  r.org_y = static_cast<float>(ray.origin[1]);
  r.org_z = static_cast<float>(ray.origin[2]);
  r.dir_x = static_cast<float>(ray.direction[0]);
  r.dir_y = static_cast<float>(ray.direction[1]);
  r.dir_z = static_cast<float>(ray.direction[2]);
  r.tnear = static_cast<float>(ray.near);
  r.tfar = static_cast<float>(ray.far);
  r.mask = UINT32_MAX;
  return r;
}

Look looking_along(const Ray& ray, std::uint32_t ignored) {
  Look look;
  rtcInitIntersectContext(&look);
  look.ray = &ray;
  look.ignored = ignored;
  return look;
}

// Any other instruction set would round differently; one thread builds the same tree every time.
RTCDevice new_device() {
  RTCDevice device = rtcNewDevice("threads=1,isa=sse4.2");
  ENSURE(device != nullptr, "Embree did not start");
  return device;
}

/// The crossing with the triangle that Embree found, in double precision; false if the ray lies in its plane.
bool refine(const SceneItem& item, unsigned triangle, const Ray& ray, ShapeHit& hit) {
  const auto& corners = item.geometry.triangles[triangle];
  std::array<Vec3, 3> p;
  for (int i = 0; i < 3; ++i) {
    const auto& v = item.geometry.vertices[corners[i]];
    p[i] = {v[0], v[1], v[2]};
  }
  return meet_triangle(p[0], p[1], p[2], seen_from(item, ray, ray.far), hit);
}

}  // namespace

struct Scene::Parts {
  EmbreeDevice device;
  std::vector<SceneItem> items;
  SceneLayer fixed;
  SceneLayer moving;
  std::vector<Pose> poses;  // of each body that has geometry
  std::vector<std::vector<std::uint32_t>> items_of_body;
  bool moved = false;

  explicit Parts(const std::vector<Geometry>& geometry)
      : device(new_device()),
        items(geometry.size()),
        fixed(device.get(), items, false),
        moving(device.get(), items, true) {
    for (std::uint32_t i = 0; i < items.size(); ++i) adopt(i, geometry[i]);
    fixed.seal();
    moving.seal();
  }

  void adopt(std::uint32_t index, const Geometry& geometry) {
    if (const char* flaw = flaw_in(geometry)) {
      throw InputError(Place{}, "geometry " + std::to_string(index) + " `" + geometry.name + "`: " + flaw);
    }
    SceneItem& item = items[index];
    item.geometry = geometry;
    item.frame = Frame(geometry.local);
    item.material = from_colour(geometry);
    if (geometry.body >= poses.size()) poses.resize(geometry.body + 1), items_of_body.resize(geometry.body + 1);
    if (geometry.rgba[3] <= 0) return;
    items_of_body[geometry.body].push_back(index);
    (geometry.body == 0 ? fixed : moving).adopt(index);
  }
};

Scene::Scene(const std::vector<Geometry>& geometry) : parts_(std::make_unique<Parts>(geometry)) {}
Scene::~Scene() = default;
Scene::Scene(Scene&&) noexcept = default;
Scene& Scene::operator=(Scene&&) noexcept = default;

void Scene::place(std::uint32_t body, const Pose& pose) {
  if (body == 0 || body >= parts_->poses.size() || same_bits(parts_->poses[body], pose)) return;
  parts_->poses[body] = pose;
  for (const std::uint32_t index : parts_->items_of_body[body]) {
    SceneItem& item = parts_->items[index];
    item.frame = Frame(compose(pose, item.geometry.local));
    parts_->moving.moved(index);
    parts_->moved = true;
  }
}

void Scene::commit() {
  parts_->moving.commit();
  parts_->moved = false;
}

bool Scene::cast(const Ray& ray, Hit& hit, std::uint32_t ignored) const {
  ENSURE(!parts_->moved, "rays before commit()");
  Look look = looking_along(ray, ignored);
  RTCRayHit found;
  found.ray = to_embree(ray);
  std::uint32_t index = parts_->fixed.cast(look, found);
  unsigned triangle = found.hit.primID;
  if (const std::uint32_t nearer = parts_->moving.cast(look, found); nearer != none) {
    index = nearer;
    triangle = found.hit.primID;
  }
  if (index == none) return false;
  const SceneItem& item = parts_->items[index];
  if (item.geometry.shape == Shape::mesh && !refine(item, triangle, ray, look.best)) return false;
  const Vec3 normal = item.frame.outward(look.best.normal);
  hit = {look.best.distance, index, item.geometry.body, dot(normal, ray.direction) > 0 ? -1.0 * normal : normal};
  return true;
}

bool Scene::blocked(const Ray& ray, std::uint32_t ignored) const {
  ENSURE(!parts_->moved, "rays before commit()");
  Look look = looking_along(ray, ignored);
  RTCRay r = to_embree(ray);
  return parts_->fixed.blocked(look, r) || parts_->moving.blocked(look, r);
}

std::size_t Scene::size() const { return parts_->items.size(); }
const Material& Scene::material(std::uint32_t geometry) const { return parts_->items[geometry].material; }
void Scene::set_material(std::uint32_t geometry, const Material& material) {
  ENSURE(geometry < parts_->items.size(), "a material for a geometry that does not exist");
  parts_->items[geometry].material = material;
}

std::array<float, 3> Scene::colour_at(const Hit& hit, const Ray& ray) const {
  const SceneItem& item = parts_->items[hit.geometry];
  std::array<float, 3> colour = item.material.colour;
  if (item.material.checker <= 0) return colour;
  const Vec3 p = item.frame.point_inward(ray.origin + hit.distance * ray.direction);
  const double squares = std::floor(p[0] / item.material.checker) + std::floor(p[1] / item.material.checker);
  if (squares - 2 * std::floor(squares / 2) != 0) {
    for (float& c : colour) c *= 0.8F;
  }
  return colour;
}

}  // namespace isochron::world
