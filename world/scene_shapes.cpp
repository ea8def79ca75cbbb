#include "world/scene_shapes.hpp"

#include <algorithm>
#include <cmath>

#include "core/ensure.hpp"
#include "world/scene_frame.hpp"

namespace isochron::world {
namespace {

/// Where a line is inside a quadric, from the roots of a t² + 2 b t + c with a > 0; false if it never is.
bool roots(double a, double b, double c, double& enter, double& leave) {
  const double discriminant = b * b - a * c;
  if (!(discriminant >= 0)) return false;
  const double root = std::sqrt(discriminant);
  // The root of the larger magnitude first: subtracting near-equal numbers would lose all digits of the other.
  const double q = b > 0 ? -(b + root) : root - b;
  if (q == 0) return enter = leave = 0, true;
  enter = q / a;
  leave = c / q;
  if (enter > leave) std::swap(enter, leave);
  return true;
}

/// Takes a crossing if it is the nearest so far within the ray's reach.
struct Nearest {
  const Ray& ray;
  ShapeHit& hit;
  bool found = false;

  bool offers(double t) const { return t > ray.near && t < (found ? hit.distance : ray.far); }
  void take(double t, const Vec3& normal) { hit = {t, normal}, found = true; }
  [[nodiscard]] Vec3 at(double t) const { return ray.origin + t * ray.direction; }
};

bool meet_plane(const Vec3& size, const Ray& ray, ShapeHit& hit) {
  if (ray.direction[2] == 0) return false;
  const double t = -ray.origin[2] / ray.direction[2];
  if (!(t > ray.near && t < ray.far)) return false;
  for (int i = 0; i < 2; ++i) {
    if (size[i] > 0 && std::abs(ray.origin[i] + t * ray.direction[i]) > size[i]) return false;
  }
  hit = {t, {0, 0, 1}};
  return true;
}

bool meet_box(const Vec3& half, const Ray& ray, ShapeHit& hit) {
  double enter = -INFINITY, leave = INFINITY;
  int enter_axis = 0, leave_axis = 0;
  for (int i = 0; i < 3; ++i) {
    if (ray.direction[i] == 0) {
      if (std::abs(ray.origin[i]) > half[i]) return false;
      continue;
    }
    double low = (-half[i] - ray.origin[i]) / ray.direction[i];
    double high = (half[i] - ray.origin[i]) / ray.direction[i];
    if (low > high) std::swap(low, high);
    if (low > enter) enter = low, enter_axis = i;
    if (high < leave) leave = high, leave_axis = i;
  }
  if (enter > leave) return false;
  const bool from_outside = enter > ray.near;
  const double t = from_outside ? enter : leave;
  const int axis = from_outside ? enter_axis : leave_axis;
  if (!(t > ray.near && t < ray.far)) return false;
  hit = {t, {}};
  hit.normal[axis] = ((ray.direction[axis] > 0) == from_outside) ? -1 : 1;
  return true;
}

void meet_ball(Nearest& nearest, const Vec3& centre, double radius) {
  const Vec3 o = nearest.ray.origin - centre;
  double enter = 0, leave = 0;
  const double a = dot(nearest.ray.direction, nearest.ray.direction);
  if (!roots(a, dot(o, nearest.ray.direction), dot(o, o) - radius * radius, enter, leave)) return;
  for (const double t : {enter, leave}) {
    if (nearest.offers(t)) nearest.take(t, (1 / radius) * (nearest.at(t) - centre));
  }
}

/// The round side of a capsule or cylinder along z, between −half and half.
void meet_side(Nearest& nearest, double radius, double half) {
  const Vec3& o = nearest.ray.origin;
  const Vec3& d = nearest.ray.direction;
  const double a = d[0] * d[0] + d[1] * d[1];
  double enter = 0, leave = 0;
  if (a == 0 || !roots(a, o[0] * d[0] + o[1] * d[1], o[0] * o[0] + o[1] * o[1] - radius * radius, enter, leave)) return;
  for (const double t : {enter, leave}) {
    const Vec3 p = nearest.at(t);
    if (nearest.offers(t) && std::abs(p[2]) <= half) nearest.take(t, {p[0] / radius, p[1] / radius, 0});
  }
}

void meet_lids(Nearest& nearest, double radius, double half) {
  if (nearest.ray.direction[2] == 0) return;
  for (const double side : {-1.0, 1.0}) {
    const double t = (side * half - nearest.ray.origin[2]) / nearest.ray.direction[2];
    const Vec3 p = nearest.at(t);
    if (nearest.offers(t) && p[0] * p[0] + p[1] * p[1] <= radius * radius) nearest.take(t, {0, 0, side});
  }
}

/// Only the outer half of each end ball belongs to the surface.
void meet_ends(Nearest& nearest, double radius, double half) {
  for (const double side : {-1.0, 1.0}) {
    const Vec3 centre{0, 0, side * half};
    const Vec3 o = nearest.ray.origin - centre;
    double enter = 0, leave = 0;
    const double a = dot(nearest.ray.direction, nearest.ray.direction);
    if (!roots(a, dot(o, nearest.ray.direction), dot(o, o) - radius * radius, enter, leave)) continue;
    for (const double t : {enter, leave}) {
      const Vec3 n = nearest.at(t) - centre;
      if (nearest.offers(t) && n[2] * side >= 0) nearest.take(t, (1 / radius) * n);
    }
  }
}

/// A ball in coordinates that are scaled by the half axes; the distance along the ray stays the same.
bool meet_ellipsoid(const Vec3& axes, const Ray& ray, ShapeHit& hit) {
  Ray scaled = ray;
  for (int i = 0; i < 3; ++i) scaled.origin[i] /= axes[i], scaled.direction[i] /= axes[i];
  Nearest nearest{scaled, hit};
  meet_ball(nearest, {}, 1);
  if (!nearest.found) return false;
  for (int i = 0; i < 3; ++i) hit.normal[i] /= axes[i];
  hit.normal = (1 / std::sqrt(dot(hit.normal, hit.normal))) * hit.normal;
  return true;
}

}  // namespace

bool meet(Shape shape, const Vec3& size, const Ray& ray, ShapeHit& hit) {
  Nearest nearest{ray, hit};
  switch (shape) {
    case Shape::plane:
      return meet_plane(size, ray, hit);
    case Shape::box:
      return meet_box(size, ray, hit);
    case Shape::ellipsoid:
      return meet_ellipsoid(size, ray, hit);
    case Shape::sphere:
      meet_ball(nearest, {}, size[0]);
      break;
    case Shape::capsule:
      meet_side(nearest, size[0], size[1]);
      meet_ends(nearest, size[0], size[1]);
      break;
    case Shape::cylinder:
      meet_side(nearest, size[0], size[1]);
      meet_lids(nearest, size[0], size[1]);
      break;
    case Shape::mesh:
      ENSURE(false, "a mesh is met triangle by triangle");
  }
  return nearest.found;
}

bool meet_triangle(const Vec3& a, const Vec3& b, const Vec3& c, const Ray& ray, ShapeHit& hit) {
  const Vec3 normal = cross(b - a, c - a);
  const double facing = dot(normal, ray.direction);
  if (facing == 0) return false;
  const double t = dot(normal, a - ray.origin) / facing;
  if (!(t > ray.near && t < ray.far)) return false;
  hit = {t, (1 / std::sqrt(dot(normal, normal))) * normal};
  return true;
}

Vec3 half_extents(Shape shape, const Vec3& size) {
  switch (shape) {
    case Shape::plane:
      return {size[0], size[1], 0};
    case Shape::sphere:
      return {size[0], size[0], size[0]};
    case Shape::capsule:
      return {size[0], size[0], size[1] + size[0]};
    case Shape::cylinder:
      return {size[0], size[0], size[1]};
    case Shape::box:
    case Shape::ellipsoid:
      return size;
    case Shape::mesh:
      break;
  }
  ENSURE(false, "a mesh is bounded by its vertices");
  return {};
}

}  // namespace isochron::world
