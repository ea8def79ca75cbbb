#include "world/sensors/bench/bare_embree.hpp"

#include <embree3/rtcore.h>

#include <cstring>

#include "world/sensors/repeatable.hpp"

namespace isochron::bench {

using world::Geometry;
using world::Shape;

namespace {

Geometry box_triangles(const Geometry& box) {
  Geometry mesh = box;
  for (int i = 0; i < 8; ++i) {
    std::array<float, 3> corner{};
    for (int k = 0; k < 3; ++k) corner[k] = static_cast<float>((i >> k & 1) != 0 ? box.size[k] : -box.size[k]);
    mesh.vertices.push_back(corner);
  }
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

Geometry cylinder_triangles(const Geometry& cylinder) {
  constexpr std::uint32_t sides = 32;
  Geometry mesh = cylinder;
  for (std::uint32_t i = 0; i < sides; ++i) {
    const auto turn = world::repeatable_sincos(6.283185307179586 * i / sides);
    for (const double z : {-cylinder.size[1], cylinder.size[1]}) {
      mesh.vertices.push_back({static_cast<float>(cylinder.size[0] * turn.cos),
                               static_cast<float>(cylinder.size[0] * turn.sin), static_cast<float>(z)});
    }
    const std::uint32_t a = 2 * i, b = 2 * ((i + 1) % sides);
    mesh.triangles.push_back({a, b, a + 1});
    mesh.triangles.push_back({a + 1, b, b + 1});
  }
  return mesh;
}

Geometry as_triangles(const Geometry& geometry) {
  if (geometry.shape == Shape::box) return box_triangles(geometry);
  if (geometry.shape == Shape::cylinder) return cylinder_triangles(geometry);
  return geometry;
}

}  // namespace

struct BareEmbree::Parts {
  RTCDevice device = rtcNewDevice("threads=1,isa=sse4.2");
  RTCScene scene = rtcNewScene(device);
  std::vector<RTCRayHit> rays;
  std::vector<RTCRayHit> work;

  void add(const Geometry& mesh) {
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    auto* points = static_cast<float*>(
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, mesh.vertices.size()));
    for (const auto& v : mesh.vertices) {
      for (int k = 0; k < 3; ++k) *points++ = v[k] + static_cast<float>(mesh.local.position[k]);
    }
    void* corners =
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, mesh.triangles.size());
    std::memcpy(corners, mesh.triangles.data(), 12 * mesh.triangles.size());
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
  }
  ~Parts() {
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
  }
};

BareEmbree::BareEmbree(const std::vector<Geometry>& geometry) : parts_(std::make_unique<Parts>()) {
  rtcSetSceneFlags(parts_->scene, RTC_SCENE_FLAG_ROBUST);
  for (const Geometry& g : geometry) {
    if (g.body == 0) parts_->add(as_triangles(g));
  }
  rtcCommitScene(parts_->scene);
}
BareEmbree::~BareEmbree() = default;

void BareEmbree::add_ray(const world::Vec3& origin, const world::Vec3& direction, double far) {
  RTCRayHit r{};
  r.ray.org_x = static_cast<float>(origin[0]);
  r.ray.org_y = static_cast<float>(origin[1]);
  r.ray.org_z = static_cast<float>(origin[2]);
  r.ray.dir_x = static_cast<float>(direction[0]);
  r.ray.dir_y = static_cast<float>(direction[1]);
  r.ray.dir_z = static_cast<float>(direction[2]);
  r.ray.tfar = static_cast<float>(far);
  r.ray.mask = UINT32_MAX;
  r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  r.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
  parts_->rays.push_back(r);
}
std::size_t BareEmbree::rays() const { return parts_->rays.size(); }

std::uint64_t BareEmbree::cast_all() {
  parts_->work = parts_->rays;
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  std::uint64_t hits = 0;
  for (RTCRayHit& ray : parts_->work) {
    rtcIntersect1(parts_->scene, &context, &ray);
    hits += ray.hit.geomID != RTC_INVALID_GEOMETRY_ID;
  }
  return hits;
}

}  // namespace isochron::bench
