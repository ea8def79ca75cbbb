#include "world/scene.hpp"

#include <embree3/rtcore.h>

#include <cmath>
#include <cstring>
#include <string>

#include "core/ensure.hpp"
#include "core/input_error.hpp"
#include "world/scene_frame.hpp"

namespace isochron::world {
namespace {

constexpr double endless = 1e5;  // m; how far a plane without size reaches for Embree's boxes
constexpr std::uint32_t none = UINT32_MAX;

struct ReleaseDevice {
  void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct ReleaseScene {
  void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
};
struct ReleaseGeometry {
  void operator()(RTCGeometry geometry) const { rtcReleaseGeometry(geometry); }
};
using Device = std::unique_ptr<RTCDeviceTy, ReleaseDevice>;
using EmbreeScene = std::unique_ptr<RTCSceneTy, ReleaseScene>;
using Handle = std::unique_ptr<RTCGeometryTy, ReleaseGeometry>;

/// One geometry as it now stands in the world.
struct Item {
  Geometry geometry;
  Frame frame;
  Material material;
  std::uint32_t group = none;  // of closed-form shapes; none: a mesh
  Handle instance;             // of a mesh that moves
  EmbreeScene inside;          // its triangles
};

/// Closed-form shapes that are rebuilt together.
struct Group {
  const std::vector<Item>* items = nullptr;
  std::vector<std::uint32_t> members;
  Handle handle;
  bool moved = false;
};

/// What one ray carries through Embree: itself in double precision, and the best crossing with a closed-form shape.
struct Look : RTCIntersectContext {
  const Ray* ray = nullptr;
  std::uint32_t ignored = none;
  ShapeHit best;
  std::uint32_t best_item = none;
};

Ray seen_from(const Item& item, const Ray& ray, double far) {
  return {item.frame.point_inward(ray.origin), item.frame.inward(ray.direction), ray.near, far};
}

bool meets(const Item& item, const Look& look, double far, ShapeHit& hit) {
  if (item.geometry.body == look.ignored) return false;
  return meet(item.geometry.shape, item.geometry.size, seen_from(item, *look.ray, far), hit);
}

void on_intersect(const RTCIntersectFunctionNArguments* args) {
  if (args->valid[0] == 0) return;
  const Group& group = *static_cast<const Group*>(args->geometryUserPtr);
  Look& look = *static_cast<Look*>(args->context);
  auto& rayhit = *reinterpret_cast<RTCRayHit*>(args->rayhit);
  const std::uint32_t index = group.members[args->primID];
  // Among our own hits the double decides; a triangle in front has shortened the ray further.
  const bool own = look.best_item != none && rayhit.ray.tfar == static_cast<float>(look.best.distance);
  ShapeHit hit;
  if (!meets((*group.items)[index], look, own ? look.best.distance : static_cast<double>(rayhit.ray.tfar), hit)) return;
  look.best = hit;
  look.best_item = index;
  rayhit.ray.tfar = static_cast<float>(hit.distance);
  rayhit.hit.geomID = args->geomID;
  rayhit.hit.primID = args->primID;
  rayhit.hit.instID[0] = args->context->instID[0];
}

void on_occluded(const RTCOccludedFunctionNArguments* args) {
  if (args->valid[0] == 0) return;
  const Group& group = *static_cast<const Group*>(args->geometryUserPtr);
  const Look& look = *static_cast<Look*>(args->context);
  ShapeHit hit;
  if (!meets((*group.items)[group.members[args->primID]], look, look.ray->far, hit)) return;
  reinterpret_cast<RTCRay*>(args->ray)->tfar = -INFINITY;
}

/// Rays pass through triangles of the ignored body.
void on_triangle(const RTCFilterFunctionNArguments* args) {
  const Item& item = *static_cast<const Item*>(args->geometryUserPtr);
  if (item.geometry.body == static_cast<const Look*>(args->context)->ignored) args->valid[0] = 0;
}

/// The box around a shape where it stands, a little too large: it is in single precision, the shape is not.
void on_bounds(const RTCBoundsFunctionArguments* args) {
  const Group& group = *static_cast<const Group*>(args->geometryUserPtr);
  const Item& item = (*group.items)[group.members[args->primID]];
  const Vec3 half = half_extents(item.geometry.shape, item.geometry.size);
  const bool plane = item.geometry.shape == Shape::plane;
  float* low = &args->bounds_o->lower_x;
  float* high = &args->bounds_o->upper_x;
  for (int i = 0; i < 3; ++i) {
    double reach = 0;
    for (int j = 0; j < 3; ++j) {
      const double extent = plane && j < 2 && half[j] <= 0 ? endless : half[j];
      reach += std::abs(item.frame.rows[i][j]) * extent;
    }
    const double margin = 1e-5 + 2e-6 * (std::abs(item.frame.origin[i]) + reach);
    low[i] = static_cast<float>(item.frame.origin[i] - reach - margin);
    high[i] = static_cast<float>(item.frame.origin[i] + reach + margin);
  }
}

void demand_visible(const Geometry& geometry, std::size_t index) {
  const std::string who = "geometry " + std::to_string(index) + " `" + geometry.name + "`: ";
  const auto refuse = [&](const char* what) { throw InputError(Place{}, who + what); };
  if (geometry.shape == Shape::mesh) {
    for (const auto& v : geometry.vertices) {
      if (!std::isfinite(v[0]) || !std::isfinite(v[1]) || !std::isfinite(v[2])) refuse("a vertex is not a number");
    }
    for (const auto& t : geometry.triangles) {
      for (const std::uint32_t corner : t) {
        if (corner >= geometry.vertices.size()) refuse("a triangle names a vertex that does not exist");
      }
    }
    return;
  }
  const int used = geometry.shape == Shape::sphere                                         ? 1
                   : geometry.shape == Shape::capsule || geometry.shape == Shape::cylinder ? 2
                   : geometry.shape == Shape::plane                                        ? 0
                                                                                           : 3;
  for (int i = 0; i < 3; ++i) {
    if (!std::isfinite(geometry.size[i])) refuse("its size is not a number");
    if (i < used && !(geometry.size[i] > 0)) refuse("its size is not positive");
  }
}

Material from_colour(const Geometry& geometry) {
  Material material;
  material.colour = {geometry.rgba[0], geometry.rgba[1], geometry.rgba[2]};
  material.reflectivity = 0.2126F * geometry.rgba[0] + 0.7152F * geometry.rgba[1] + 0.0722F * geometry.rgba[2];
  if (geometry.shape == Shape::plane) material.checker = 1;
  return material;
}

bool same_bits(const Pose& a, const Pose& b) { return std::memcmp(&a, &b, sizeof(Pose)) == 0; }

}  // namespace

struct Scene::Parts {
  Device device;
  EmbreeScene scene;
  std::vector<Item> items;
  std::array<Group, 3> groups;            // endless planes, what stands on the world, what moves
  std::vector<std::uint32_t> mesh_of_id;  // item of each of Embree's ids; none: a group
  std::vector<Pose> poses;                // of each body that has geometry
  std::vector<std::vector<std::uint32_t>> items_of_body;
  bool moved = true;

  explicit Parts(const std::vector<Geometry>& geometry) : items(geometry.size()) {
    // Any other instruction set would round differently; one thread builds the same tree every time.
    device.reset(rtcNewDevice("threads=1,isa=sse4.2"));
    ENSURE(device != nullptr, "Embree did not start");
    scene.reset(rtcNewScene(device.get()));
    rtcSetSceneFlags(scene.get(), static_cast<RTCSceneFlags>(RTC_SCENE_FLAG_DYNAMIC | RTC_SCENE_FLAG_ROBUST));
    rtcSetSceneBuildQuality(scene.get(), RTC_BUILD_QUALITY_MEDIUM);
    for (std::uint32_t i = 0; i < items.size(); ++i) adopt(i, geometry[i]);
    for (Group& group : groups) attach(group);
  }

  void adopt(std::uint32_t index, const Geometry& geometry) {
    demand_visible(geometry, index);
    Item& item = items[index];
    item.geometry = geometry;
    item.frame = Frame(geometry.local);
    item.material = from_colour(geometry);
    if (geometry.body >= poses.size()) poses.resize(geometry.body + 1), items_of_body.resize(geometry.body + 1);
    if (geometry.rgba[3] <= 0) return;
    items_of_body[geometry.body].push_back(index);
    if (geometry.shape == Shape::mesh) {
      if (!geometry.triangles.empty()) adopt_mesh(index);
      return;
    }
    const bool is_endless = geometry.shape == Shape::plane && (geometry.size[0] <= 0 || geometry.size[1] <= 0);
    item.group = is_endless ? 0 : geometry.body == 0 ? 1 : 2;
    groups[item.group].members.push_back(index);
  }

  void remember_id(unsigned id, std::uint32_t item) {
    if (id >= mesh_of_id.size()) mesh_of_id.resize(id + 1, none);
    mesh_of_id[id] = item;
  }

  Handle triangles_of(const Geometry& geometry, const Frame& frame) {
    Handle handle(rtcNewGeometry(device.get(), RTC_GEOMETRY_TYPE_TRIANGLE));
    auto* points = static_cast<float*>(rtcSetNewGeometryBuffer(handle.get(), RTC_BUFFER_TYPE_VERTEX, 0,
                                                               RTC_FORMAT_FLOAT3, 12, geometry.vertices.size()));
    for (const auto& v : geometry.vertices) {
      for (const double x : frame.point_outward({v[0], v[1], v[2]})) *points++ = static_cast<float>(x);
    }
    void* corners = rtcSetNewGeometryBuffer(handle.get(), RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12,
                                            geometry.triangles.size());
    std::memcpy(corners, geometry.triangles.data(), 12 * geometry.triangles.size());
    return handle;
  }

  /// A mesh of the world itself is put in as it is; one that moves stands in a scene of its own, placed as a whole.
  void adopt_mesh(std::uint32_t index) {
    Item& item = items[index];
    const bool fixed = item.geometry.body == 0;
    Handle triangles = triangles_of(item.geometry, fixed ? item.frame : Frame());
    if (!fixed) {
      rtcSetGeometryUserData(triangles.get(), &item);
      rtcSetGeometryIntersectFilterFunction(triangles.get(), on_triangle);
      rtcSetGeometryOccludedFilterFunction(triangles.get(), on_triangle);
    }
    rtcCommitGeometry(triangles.get());
    if (fixed) return remember_id(rtcAttachGeometry(scene.get(), triangles.get()), index);
    item.inside.reset(rtcNewScene(device.get()));
    rtcSetSceneFlags(item.inside.get(), RTC_SCENE_FLAG_ROBUST);
    rtcAttachGeometry(item.inside.get(), triangles.get());
    rtcCommitScene(item.inside.get());
    item.instance.reset(rtcNewGeometry(device.get(), RTC_GEOMETRY_TYPE_INSTANCE));
    rtcSetGeometryInstancedScene(item.instance.get(), item.inside.get());
    place_instance(item);
    remember_id(rtcAttachGeometry(scene.get(), item.instance.get()), index);
  }

  void attach(Group& group) {
    group.items = &items;
    if (group.members.empty()) return;
    group.handle.reset(rtcNewGeometry(device.get(), RTC_GEOMETRY_TYPE_USER));
    RTCGeometry handle = group.handle.get();
    rtcSetGeometryUserPrimitiveCount(handle, static_cast<unsigned>(group.members.size()));
    rtcSetGeometryUserData(handle, &group);
    rtcSetGeometryBoundsFunction(handle, on_bounds, nullptr);
    rtcSetGeometryIntersectFunction(handle, on_intersect);
    rtcSetGeometryOccludedFunction(handle, on_occluded);
    // What moves is rebuilt from scratch: a tree that remembers earlier poses would break ties by history.
    rtcSetGeometryBuildQuality(handle, &group == &groups[2] ? RTC_BUILD_QUALITY_LOW : RTC_BUILD_QUALITY_MEDIUM);
    rtcCommitGeometry(handle);
    remember_id(rtcAttachGeometry(scene.get(), handle), none);
  }

  static void place_instance(const Item& item) {
    std::array<float, 12> rows{};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) rows[4 * i + j] = static_cast<float>(item.frame.rows[i][j]);
      rows[4 * i + 3] = static_cast<float>(item.frame.origin[i]);
    }
    rtcSetGeometryTransform(item.instance.get(), 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, rows.data());
    rtcCommitGeometry(item.instance.get());
  }

  void move(std::uint32_t index, const Pose& body) {
    Item& item = items[index];
    item.frame = Frame(compose(body, item.geometry.local));
    if (item.instance) place_instance(item);
    if (item.group != none) groups[item.group].moved = true;
  }

  /// The crossing with a mesh that Embree found, in double precision; false if the ray only brushed an edge of it.
  bool refine(const RTCRayHit& found, const Ray& ray, Hit& hit) const {
    const unsigned id = found.hit.instID[0] != RTC_INVALID_GEOMETRY_ID ? found.hit.instID[0] : found.hit.geomID;
    const Item& item = items[mesh_of_id[id]];
    const auto& corner = item.geometry.triangles[found.hit.primID];
    std::array<Vec3, 3> p;
    for (int i = 0; i < 3; ++i) {
      const auto& v = item.geometry.vertices[corner[i]];
      p[i] = {v[0], v[1], v[2]};
    }
    ShapeHit met;
    const Ray local = seen_from(item, ray, ray.far);
    if (!meet_triangle(p[0], p[1], p[2], local, met)) return false;
    hit = {met.distance, mesh_of_id[id], item.geometry.body, item.frame.outward(met.normal)};
    return true;
  }
};

namespace {

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

}  // namespace

Scene::Scene(const std::vector<Geometry>& geometry) : parts_(std::make_unique<Parts>(geometry)) { commit(); }
Scene::~Scene() = default;
Scene::Scene(Scene&&) noexcept = default;
Scene& Scene::operator=(Scene&&) noexcept = default;

void Scene::place(std::uint32_t body, const Pose& pose) {
  if (body == 0 || body >= parts_->poses.size() || same_bits(parts_->poses[body], pose)) return;
  parts_->poses[body] = pose;
  for (const std::uint32_t item : parts_->items_of_body[body]) parts_->move(item, pose), parts_->moved = true;
}

void Scene::commit() {
  if (!parts_->moved) return;
  for (Group& group : parts_->groups) {
    if (!group.moved) continue;
    rtcCommitGeometry(group.handle.get());
    group.moved = false;
  }
  rtcCommitScene(parts_->scene.get());
  parts_->moved = false;
}

bool Scene::cast(const Ray& ray, Hit& hit, std::uint32_t ignored) const {
  ENSURE(!parts_->moved, "rays before commit()");
  Look look = looking_along(ray, ignored);
  RTCRayHit found;
  found.ray = to_embree(ray);
  found.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  found.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
  rtcIntersect1(parts_->scene.get(), &look, &found);
  if (found.hit.geomID == RTC_INVALID_GEOMETRY_ID) return false;
  const bool mesh = found.hit.instID[0] != RTC_INVALID_GEOMETRY_ID || parts_->mesh_of_id[found.hit.geomID] != none;
  if (mesh) {
    if (!parts_->refine(found, ray, hit)) return false;
  } else {
    const Item& item = parts_->items[look.best_item];
    hit = {look.best.distance, look.best_item, item.geometry.body, item.frame.outward(look.best.normal)};
  }
  if (dot(hit.normal, ray.direction) > 0) hit.normal = -1.0 * hit.normal;
  return true;
}

bool Scene::blocked(const Ray& ray, std::uint32_t ignored) const {
  ENSURE(!parts_->moved, "rays before commit()");
  Look look = looking_along(ray, ignored);
  RTCRay r = to_embree(ray);
  rtcOccluded1(parts_->scene.get(), &look, &r);
  return r.tfar < 0;
}

std::size_t Scene::size() const { return parts_->items.size(); }
const Material& Scene::material(std::uint32_t geometry) const { return parts_->items[geometry].material; }
void Scene::set_material(std::uint32_t geometry, const Material& material) {
  ENSURE(geometry < parts_->items.size(), "a material for a geometry that does not exist");
  parts_->items[geometry].material = material;
}

std::array<float, 3> Scene::colour_at(const Hit& hit, const Ray& ray) const {
  const Item& item = parts_->items[hit.geometry];
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
