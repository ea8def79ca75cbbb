#include "v2x/station/collision_warning.hpp"

#include <algorithm>
#include <cmath>

namespace isochron::v2x {
namespace {

/// Whether it will stand before it has gone so far, if it brakes on as it does.
bool stands_before(const Expected& other, double metres) {
  return other.acceleration_m_s2 < -1 &&
         other.speed_m_s * other.speed_m_s / (-2 * other.acceleration_m_s2) < metres - 1;
}

/// Seconds for a distance when starting at v and picking up to the wanted speed.
double soonest(double metres, double v, double wanted, double pickup) {
  if (metres <= 0) return 0;
  const double gain = std::max(0.0, wanted - v) / pickup, way = (v + std::max(v, wanted)) / 2 * gain;
  if (metres >= way) return gain + (metres - way) / std::max(v, wanted);
  return (std::sqrt(v * v + 2 * pickup * metres) - v) / pickup;
}

bool stands(const Expected& other) { return other.speed_m_s < 1; }

/// Stretches of both ways that lie on each other.
struct Crossing {
  double own_first = 1e9, own_last = -1e9;      // along one's own path
  double other_first = 1e9, other_last = -1e9;  // along the other's
};

Crossing crossing(const OwnPath& own, const Expected& other, const WarningSettings& s) {
  Crossing found;
  const double ux = std::cos(other.heading_rad), uy = std::sin(other.heading_rad);
  const double beside = (own.width_m + other.width_m) / 2 + s.beside_m;
  const double farthest = stands(other) ? other.length_m / 2 : other.speed_m_s * s.horizon_s;
  for (std::size_t i = 1; i + 1 < own.points.size(); ++i) {
    const double px = own.points[i].x - other.position.x, py = own.points[i].y - other.position.y;
    const double along = px * ux + py * uy, aside = px * uy - py * ux;
    if (std::fabs(aside) > beside || along < -other.length_m / 2 || along > farthest) continue;
    const double dx = own.points[i + 1].x - own.points[i - 1].x, dy = own.points[i + 1].y - own.points[i - 1].y;
    const double same = (dx * ux + dy * uy) / std::max(std::hypot(dx, dy), 1e-9);
    if (std::fabs(same) > 0.87) continue;  // within 30 degrees of the same way, or of the opposite one
    const double arc = own.spacing_m * static_cast<double>(i);
    found.own_first = std::min(found.own_first, arc);
    found.own_last = std::max(found.own_last, arc);
    found.other_first = std::min(found.other_first, along);
    found.other_last = std::max(found.other_last, along);
  }
  return found;
}

}  // namespace

std::optional<Threat> find_threat(const OwnPath& own, const Expected& other, const WarningSettings& s) {
  const Crossing where = crossing(own, other, s);
  if (where.own_last < where.own_first) return std::nullopt;
  if (stands(other)) return Threat{where.own_first - own.length_m / 2 - s.clearance_m, 0};
  // Middles: a vehicle is in the crossing from half its length before until half its length after.
  const double half = own.length_m / 2, other_half = other.length_m / 2 + own.width_m / 2;
  if (stands_before(other, where.other_first - other_half)) return std::nullopt;
  const double other_in = std::max(0.0, where.other_first - other_half) / other.speed_m_s;
  const double other_out = (where.other_last + other_half) / other.speed_m_s;
  if (other_in > s.horizon_s) return std::nullopt;
  const double own_in = soonest(where.own_first - half, own.speed_m_s, own.wanted_m_s, s.pickup_m_s2);
  // Who starts from rest is through later than one who drives, but not never: it may go into a gap that is long enough.
  const double own_out = soonest(where.own_last + half, own.speed_m_s, own.wanted_m_s, s.leaving_m_s2);
  if (own_in > other_out + s.apart_s || own_out + s.apart_s < other_in) return std::nullopt;
  return Threat{where.own_first - half - s.clearance_m, other_in};
}

}  // namespace isochron::v2x
