#pragma once
// What drivers and walkers reckon with: where a place lies on a way, and how somebody whom they see is expected to go on.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "v2x/station/collision_warning.hpp"
#include "world/vectors.hpp"
#include "world/vehicle/driver.hpp"

namespace isochron {

/// Arc length of the point of an open path that is nearest to p.
inline double arc_of(const std::vector<std::array<double, 2>>& path, const std::array<double, 2>& p) {
  double best = 1e300, best_arc = 0, arc = 0;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const double dx = path[i + 1][0] - path[i][0], dy = path[i + 1][1] - path[i][1], length = std::hypot(dx, dy);
    const double along = ((p[0] - path[i][0]) * dx + (p[1] - path[i][1]) * dy) / std::max(length * length, 1e-12);
    const double share = std::clamp(along, 0.0, 1.0);
    const double off = std::hypot(path[i][0] + share * dx - p[0], path[i][1] + share * dy - p[1]);
    if (off < best) {
      best = off;
      best_arc = arc + share * length;
    }
    arc += length;
  }
  return best_arc;
}

inline v2x::Expected expected(const world::Seen& other) {
  const world::Motion& m = other.motion;
  const world::Vec3 forward = world::rotate(m.pose.orientation, {1, 0, 0});
  v2x::Expected made;
  made.position = {m.pose.position[0], m.pose.position[1], 0};
  made.speed_m_s = std::hypot(m.linear[0], m.linear[1]);
  made.heading_rad = made.speed_m_s > 1 ? std::atan2(m.linear[1], m.linear[0]) : std::atan2(forward[1], forward[0]);
  made.acceleration_m_s2 = -other.braking;
  made.width_m = 2 * other.half_width;
  made.length_m = 2 * other.half_length;
  return made;
}

}  // namespace isochron
