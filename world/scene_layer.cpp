#include "world/scene_layer.hpp"

#include <cmath>
#include <cstring>

namespace isochron::world {
namespace {

constexpr double endless = 1e5;  // m; how far a plane without size reaches for Embree's boxes
constexpr std::uint32_t none = UINT32_MAX;

bool meets(const SceneItem& item, const Look& look, double far, ShapeHit& hit) {
  if (item.geometry.body == look.ignored) return false;
  return meet(item.geometry.shape, item.geometry.size, seen_from(item, *look.ray, far), hit);
}

/// Rays pass through triangles of the ignored body.
void on_triangle(const RTCFilterFunctionNArguments* args) {
  const SceneItem& item = *static_cast<const SceneItem*>(args->geometryUserPtr);
  if (item.geometry.body == static_cast<const Look*>(args->context)->ignored) args->valid[0] = 0;
}

EmbreeGeometry triangles_of(RTCDevice device, const Geometry& geometry, const Frame& frame) {
  EmbreeGeometry handle(rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE));
  auto* points = static_cast<float*>(rtcSetNewGeometryBuffer(handle.get(), RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                                             12, geometry.vertices.size()));
  for (const auto& v : geometry.vertices) {
    for (const double x : frame.point_outward({v[0], v[1], v[2]})) *points++ = static_cast<float>(x);
  }
  void* corners =
      rtcSetNewGeometryBuffer(handle.get(), RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, geometry.triangles.size());
  std::memcpy(corners, geometry.triangles.data(), 12 * geometry.triangles.size());
  return handle;
}

void place_instance(const SceneItem& item) {
  std::array<float, 12> rows{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) rows[4 * i + j] = static_cast<float>(item.frame.rows[i][j]);
    rows[4 * i + 3] = static_cast<float>(item.frame.origin[i]);
  }
  rtcSetGeometryTransform(item.instance.get(), 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, rows.data());
  rtcCommitGeometry(item.instance.get());
}

}  // namespace

SceneLayer::SceneLayer(RTCDevice device, std::vector<SceneItem>& items, bool moves)
    : device_(device), items_(items), moves_(moves), scene_(rtcNewScene(device)) {
  // What moves is rebuilt from scratch at each commit: a tree that remembers earlier poses would break ties by history.
  const int flags = moves ? RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_DYNAMIC : RTC_SCENE_FLAG_ROBUST;
  rtcSetSceneFlags(scene_.get(), static_cast<RTCSceneFlags>(flags));
  rtcSetSceneBuildQuality(scene_.get(), moves ? RTC_BUILD_QUALITY_LOW : RTC_BUILD_QUALITY_MEDIUM);
}

void SceneLayer::adopt(std::uint32_t item) {
  if (items_[item].geometry.shape != Shape::mesh) return members_.push_back(item);
  if (!items_[item].geometry.triangles.empty()) adopt_mesh(item);
}

void SceneLayer::remember(unsigned id, std::uint32_t item) {
  if (id >= mesh_of_id_.size()) mesh_of_id_.resize(id + 1, none);
  mesh_of_id_[id] = item;
}

void SceneLayer::adopt_mesh(std::uint32_t index) {
  SceneItem& item = items_[index];
  EmbreeGeometry triangles = triangles_of(device_, item.geometry, moves_ ? Frame() : item.frame);
  if (!moves_) {
    rtcCommitGeometry(triangles.get());
    return remember(rtcAttachGeometry(scene_.get(), triangles.get()), index);
  }
  rtcSetGeometryUserData(triangles.get(), &item);
  rtcSetGeometryIntersectFilterFunction(triangles.get(), on_triangle);
  rtcSetGeometryOccludedFilterFunction(triangles.get(), on_triangle);
  rtcCommitGeometry(triangles.get());
  item.inside.reset(rtcNewScene(device_));
  rtcSetSceneFlags(item.inside.get(), RTC_SCENE_FLAG_ROBUST);
  rtcAttachGeometry(item.inside.get(), triangles.get());
  rtcCommitScene(item.inside.get());
  item.instance.reset(rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_INSTANCE));
  rtcSetGeometryInstancedScene(item.instance.get(), item.inside.get());
  place_instance(item);
  remember(rtcAttachGeometry(scene_.get(), item.instance.get()), index);
}

void SceneLayer::seal() {
  if (!members_.empty()) {
    shapes_.reset(rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_USER));
    RTCGeometry shapes = shapes_.get();
    rtcSetGeometryUserPrimitiveCount(shapes, static_cast<unsigned>(members_.size()));
    rtcSetGeometryUserData(shapes, this);
    rtcSetGeometryBoundsFunction(shapes, on_bounds, nullptr);
    rtcSetGeometryIntersectFunction(shapes, on_intersect);
    rtcSetGeometryOccludedFunction(shapes, on_occluded);
    rtcSetGeometryBuildQuality(shapes, moves_ ? RTC_BUILD_QUALITY_LOW : RTC_BUILD_QUALITY_MEDIUM);
    rtcCommitGeometry(shapes);
    remember(rtcAttachGeometry(scene_.get(), shapes), none);
  }
  rtcCommitScene(scene_.get());
}

void SceneLayer::moved(std::uint32_t index) {
  changed_ = true;
  if (items_[index].instance) place_instance(items_[index]);
}

void SceneLayer::commit() {
  if (!changed_) return;
  if (shapes_) rtcCommitGeometry(shapes_.get());
  rtcCommitScene(scene_.get());
  changed_ = false;
}

std::uint32_t SceneLayer::cast(Look& look, RTCRayHit& ray) const {
  if (mesh_of_id_.empty()) return none;
  ray.hit.geomID = ray.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
  rtcIntersect1(scene_.get(), &look, &ray);
  if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID) return none;
  const unsigned id = ray.hit.instID[0] != RTC_INVALID_GEOMETRY_ID ? ray.hit.instID[0] : ray.hit.geomID;
  return mesh_of_id_[id] != none ? mesh_of_id_[id] : look.best_item;
}

bool SceneLayer::blocked(Look& look, RTCRay& ray) const {
  if (mesh_of_id_.empty()) return false;
  rtcOccluded1(scene_.get(), &look, &ray);
  return ray.tfar < 0;
}

void SceneLayer::on_intersect(const RTCIntersectFunctionNArguments* args) {
  if (args->valid[0] == 0) return;
  const SceneLayer& layer = *static_cast<const SceneLayer*>(args->geometryUserPtr);
  Look& look = *static_cast<Look*>(args->context);
  auto& rayhit = *reinterpret_cast<RTCRayHit*>(args->rayhit);
  const std::uint32_t index = layer.members_[args->primID];
  // Among our own hits the double decides; a triangle in front has shortened the ray further.
  const bool own = look.best_item != none && rayhit.ray.tfar == static_cast<float>(look.best.distance);
  const double far = own ? look.best.distance : static_cast<double>(rayhit.ray.tfar);
  ShapeHit hit;
  if (!meets(layer.items_[index], look, far, hit)) return;
  look.best = hit;
  look.best_item = index;
  rayhit.ray.tfar = static_cast<float>(hit.distance);
  rayhit.hit.geomID = args->geomID;
  rayhit.hit.primID = args->primID;
  rayhit.hit.instID[0] = args->context->instID[0];
}

void SceneLayer::on_occluded(const RTCOccludedFunctionNArguments* args) {
  if (args->valid[0] == 0) return;
  const SceneLayer& layer = *static_cast<const SceneLayer*>(args->geometryUserPtr);
  const Look& look = *static_cast<Look*>(args->context);
  ShapeHit hit;
  if (!meets(layer.items_[layer.members_[args->primID]], look, look.ray->far, hit)) return;
  reinterpret_cast<RTCRay*>(args->ray)->tfar = -INFINITY;
}

/// The box around a shape where it stands, a little too large: it is in single precision, the shape is not.
void SceneLayer::on_bounds(const RTCBoundsFunctionArguments* args) {
  const SceneLayer& layer = *static_cast<const SceneLayer*>(args->geometryUserPtr);
  const SceneItem& item = layer.items_[layer.members_[args->primID]];
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

}  // namespace isochron::world
