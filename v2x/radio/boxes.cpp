#include "v2x/radio/boxes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace isochron::v2x {
namespace {

Vec3 minus(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vec3 plus(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Quaternion conjugate(const Quaternion& q) { return {q[0], -q[1], -q[2], -q[3]}; }
Quaternion times(const Quaternion& a, const Quaternion& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}

/// Cuts the stretch [first, last] of a way down to what lies between two parallel planes.
bool clip(double from, double direction, double half, double& first, double& last) {
  if (std::fabs(direction) < 1e-12) return std::fabs(from) <= half;
  const double one = (-half - from) / direction, other = (half - from) / direction;
  first = std::max(first, std::min(one, other));
  last = std::min(last, std::max(one, other));
  return first <= last;
}

/// Horizontal distance of p from the way from a to b.
double aside(const Vec3& a, const Vec3& b, const Vec3& p) {
  const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  const double share = square > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / square, 0.0, 1.0) : 0;
  return std::hypot(a.x + share * dx - p.x, a.y + share * dy - p.y);
}

}  // namespace

Vec3 rotated(const Quaternion& q, const Vec3& v) {
  const Quaternion r = times(times(q, {0, v.x, v.y, v.z}), conjugate(q));
  return {r[1], r[2], r[3]};
}

bool passes_through(const Vec3& a, const Vec3& b, const Box& box) {
  const Quaternion back = conjugate(box.orientation);
  const Vec3 from = rotated(back, minus(a, box.centre)), way = rotated(back, minus(b, a));
  double first = 0, last = 1;
  return clip(from.x, way.x, box.half.x, first, last) && clip(from.y, way.y, box.half.y, first, last) &&
         clip(from.z, way.z, box.half.z, first, last);
}

std::size_t Boxes::add_body(std::vector<Box> parts) {
  Body body;
  for (const Box& part : parts) {
    body.radius = std::max(body.radius, distance(part.centre, {}) + distance(part.half, {}));
  }
  body.parts = body.placed = std::move(parts);
  bodies_.push_back(std::move(body));
  return bodies_.size() - 1;
}

void Boxes::move(std::size_t number, const Vec3& position, const Quaternion& orientation) {
  Body& body = bodies_.at(number);
  body.position = position;
  for (std::size_t i = 0; i < body.parts.size(); ++i) {
    body.placed[i].centre = plus(position, rotated(orientation, body.parts[i].centre));
    body.placed[i].orientation = times(orientation, body.parts[i].orientation);
  }
}

bool Boxes::line_of_sight(const Vec3& one, const Vec3& other) const {
  // Always from the same end, so that rounding cannot tell the two directions apart.
  const bool swap = std::tie(other.x, other.y, other.z) < std::tie(one.x, one.y, one.z);
  const Vec3 &a = swap ? other : one, &b = swap ? one : other;
  for (const Box& box : fixed_) {
    if (passes_through(a, b, box)) return false;
  }
  for (const Body& body : bodies_) {
    if (aside(a, b, body.position) > body.radius) continue;
    const bool carries = std::hypot(a.x - body.position.x, a.y - body.position.y) < 1 ||
                         std::hypot(b.x - body.position.x, b.y - body.position.y) < 1;
    if (carries) continue;
    for (const Box& box : body.placed) {
      if (passes_through(a, b, box)) return false;
    }
  }
  return true;
}

}  // namespace isochron::v2x
