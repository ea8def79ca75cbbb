#include "v2x/station/road_view.hpp"

#include <algorithm>

#include "v2x/station/time_marks.hpp"

namespace isochron::v2x {
namespace {

constexpr double hour_s = 3600;

/// Where p lies along a lane, from its stop line away, and how far from its middle.
struct OnLane {
  double along_m = 0, aside_m = 1e9;
};
OnLane project(const std::vector<Vec3>& nodes, const Vec3& p, double heading_rad) {
  OnLane best;
  double arc = 0;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const double dx = nodes[i + 1].x - nodes[i].x, dy = nodes[i + 1].y - nodes[i].y, piece = std::hypot(dx, dy);
    if (piece < 1e-6) continue;
    const double ux = dx / piece, uy = dy / piece;
    const double along = (p.x - nodes[i].x) * ux + (p.y - nodes[i].y) * uy;
    // The first piece goes on a little beyond the stop line, for who stands on it.
    const double least = i == 0 ? -2 : 0;
    const double aside = std::fabs((p.x - nodes[i].x) * uy - (p.y - nodes[i].y) * ux);
    const bool towards = std::cos(heading_rad) * -ux + std::sin(heading_rad) * -uy > 0.7;
    if (towards && along >= least && along <= piece && aside < best.aside_m) best = {arc + along, aside};
    arc += piece;
  }
  return best;
}

}  // namespace

bool is_green(SignalState state) {
  return state == SignalState::permissive_movement_allowed || state == SignalState::protected_movement_allowed;
}

void RoadView::take(const MapData& map) {
  for (const IntersectionGeometry& intersection : map.intersections) {
    const auto known = revisions_.find(intersection.id.id);
    if (known != revisions_.end() && known->second == intersection.revision) continue;
    if (!intersection.reference.latitude_deg || !intersection.reference.longitude_deg) continue;
    revisions_[intersection.id.id] = intersection.revision;
    std::erase_if(lanes_, [&](const KnownLane& lane) { return lane.intersection == intersection.id.id; });
    double limit = 0;
    for (const SpeedLimit& entry : intersection.speed_limits) limit = entry.speed_m_s.value_or(limit);
    for (const MapLane& lane : intersection.lanes) {
      if (!lane.direction.test(direction_ingress) || lane.geometry != LaneGeometry::nodes) continue;
      KnownLane made{intersection.id.id, 0, intersection.lane_width_m.value_or(3.5), limit, {}};
      for (const Connection& to : lane.connects_to) made.signal_group = to.signal_group.value_or(made.signal_group);
      Vec3 at = frame_.from(*intersection.reference.latitude_deg, *intersection.reference.longitude_deg);
      for (const Node& node : lane.nodes) {
        at = {at.x + node.x_m, at.y + node.y_m, 0};
        made.nodes.push_back(at);
      }
      lanes_.push_back(std::move(made));
    }
  }
}

void RoadView::take(const Spat& spat, SimTime now) {
  for (const IntersectionState& intersection : spat.intersections) {
    for (const MovementState& movement : intersection.movements) {
      groups_[{intersection.id.id, movement.signal_group}] = {now, movement.events};
    }
  }
}

void RoadView::fill_signal(Approach& approach, const Group& group, SimTime now) const {
  const double now_s = second_of_hour(now);
  double begin = 0;
  for (const MovementEvent& event : group.events) {
    double end = begin, latest = begin;
    if (event.timing && event.timing->min_end_s) {
      end = latest = std::max(begin, until_mark(*event.timing->min_end_s, now_s, hour_s));
      const auto& most = event.timing->max_end_s;
      if (most && *most) latest = std::max(end, until_mark(**most, now_s, hour_s));
    }
    if (latest <= 0 && &event + 1 != group.events.end()) continue;  // over since it was sent
    if (!approach.told) {
      approach.told = true;
      approach.state = event.state;
      approach.state_ends_s = end;
    }
    // Only what is green for sure: from when all before has ended at the latest, until it ends at the earliest.
    if (is_green(event.state) && end > begin) approach.greens.push_back({begin, end});
    begin = latest;
  }
}

std::optional<Approach> RoadView::approach(const Vec3& p, double heading_rad, SimTime now) const {
  const KnownLane* best = nullptr;
  OnLane where;
  for (const KnownLane& lane : lanes_) {
    const OnLane there = project(lane.nodes, p, heading_rad);
    if (there.aside_m > lane.width_m / 2 || there.aside_m >= where.aside_m) continue;
    where = there;
    best = &lane;
  }
  if (best == nullptr) return std::nullopt;
  Approach approach{where.along_m, best->limit_m_s};
  const auto group = groups_.find({best->intersection, best->signal_group});
  if (group != groups_.end() && now - group->second.heard <= fresh) fill_signal(approach, group->second, now);
  return approach;
}

}  // namespace isochron::v2x
