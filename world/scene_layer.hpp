#pragma once
// One Embree scene inside a Scene: all that stands still, or all that moves. Kept apart so that a step rebuilds only
// the small tree of what moves, while the large one of buildings and ground is built once, and well.
//
// Closed-form shapes are one user geometry of Embree, whose callbacks call meet() in double precision. Meshes that
// stand still are put in as triangles; meshes that move stand in scenes of their own and are placed as a whole.

#include <embree3/rtcore.h>

#include <memory>
#include <vector>

#include "world/geometry.hpp"
#include "world/scene.hpp"
#include "world/scene_frame.hpp"

namespace isochron::world {

struct ReleaseDevice {
  void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct ReleaseScene {
  void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
};
struct ReleaseGeometry {
  void operator()(RTCGeometry geometry) const { rtcReleaseGeometry(geometry); }
};
using EmbreeDevice = std::unique_ptr<RTCDeviceTy, ReleaseDevice>;
using EmbreeScene = std::unique_ptr<RTCSceneTy, ReleaseScene>;
using EmbreeGeometry = std::unique_ptr<RTCGeometryTy, ReleaseGeometry>;

/// One geometry as it now stands in the world.
struct SceneItem {
  Geometry geometry;
  Frame frame;
  Material material;
  EmbreeGeometry instance;  // of a mesh that moves
  EmbreeScene inside;       // its triangles
};

/// What one ray carries through Embree: itself in double precision, and the best crossing with a closed-form shape.
struct Look : RTCIntersectContext {
  const Ray* ray = nullptr;
  std::uint32_t ignored = Scene::no_body;
  ShapeHit best;
  std::uint32_t best_item = UINT32_MAX;
};

/// The ray as the item's own frame has it, up to `far`.
inline Ray seen_from(const SceneItem& item, const Ray& ray, double far) {
  return {item.frame.point_inward(ray.origin), item.frame.inward(ray.direction), ray.near, far};
}

class SceneLayer {
 public:
  /// The device and the items outlive the layer; neither they nor the layer move.
  SceneLayer(RTCDevice device, std::vector<SceneItem>& items, bool moves);
  SceneLayer(const SceneLayer&) = delete;
  SceneLayer& operator=(const SceneLayer&) = delete;

  /// Set-up: take an item in; after the last, seal().
  void adopt(std::uint32_t item);
  void seal();

  /// The item's frame has changed; felt at the next commit().
  void moved(std::uint32_t item);
  void commit();

  /// Shortens the ray to the nearest surface of this layer and returns its item, or none.
  std::uint32_t cast(Look& look, RTCRayHit& ray) const;
  bool blocked(Look& look, RTCRay& ray) const;

 private:
  static void on_bounds(const RTCBoundsFunctionArguments* args);
  static void on_intersect(const RTCIntersectFunctionNArguments* args);
  static void on_occluded(const RTCOccludedFunctionNArguments* args);
  void adopt_mesh(std::uint32_t item);
  void remember(unsigned id, std::uint32_t item);

  RTCDevice device_;
  std::vector<SceneItem>& items_;
  bool moves_;
  bool changed_ = false;
  EmbreeScene scene_;
  EmbreeGeometry shapes_;
  std::vector<std::uint32_t> members_;     // items of the closed-form shapes
  std::vector<std::uint32_t> mesh_of_id_;  // item of each of Embree's ids; UINT32_MAX: the shapes
};

}  // namespace isochron::world
