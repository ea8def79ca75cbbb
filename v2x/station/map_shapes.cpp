#include "v2x/station/map_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace isochron::v2x {
namespace {

/// As scenarios have names.
std::string name_of(const MapLane& lane) {
  std::string name;
  for (const char c : lane.name) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    name += good ? c : '_';
  }
  return name.empty() ? "lane" + std::to_string(lane.id) : name;
}

class Layout {
 public:
  Layout(const IntersectionGeometry& from, const GeoFrame& frame) : from_(from), frame_(frame) {}

  MappedIntersection make() {
    IntersectionShape& shape = made_.shape;
    shape.name = from_.name;
    shape.id = from_.id.id;
    shape.reference = frame_.from(*from_.reference.latitude_deg, *from_.reference.longitude_deg);
    shape.lane_width_m = from_.lane_width_m.value_or(shape.lane_width_m);
    for (const SpeedLimit& limit : from_.speed_limits) {
      if (limit.type == SpeedLimitType::vehicle_max)
        shape.speed_limit_m_s = limit.speed_m_s.value_or(shape.speed_limit_m_s);
    }
    for (const MapLane& lane : from_.lanes) add(lane);
    for (std::size_t i = 0; i < kept_.size(); ++i) connect(i);
    return std::move(made_);
  }

 private:
  void leave_out(const MapLane& lane, const std::string& why) {
    made_.left_out.push_back("lane " + std::to_string(lane.id) + ": " + why);
  }

  void add(const MapLane& lane) {
    if (lane.type != LaneType::vehicle) return leave_out(lane, "is not for vehicles");
    std::vector<Vec3> nodes = nodes_of(lane, 0);
    if (nodes.size() < 2) return leave_out(lane, "where it lies is not told in a form that is known here");
    LaneShape shape;
    shape.name = name_of(lane);
    for (int i = 2; !names_.insert(shape.name).second; ++i) shape.name = name_of(lane) + "_" + std::to_string(i);
    shape.nodes = std::move(nodes);
    if (lane.direction.test(direction_ingress)) {
      for (const Connection& to : lane.connects_to) {
        if (shape.signal_group == 0) shape.signal_group = to.signal_group.value_or(0);
      }
    }
    indices_[lane.id] = static_cast<int>(kept_.size());
    kept_.push_back(&lane);
    made_.shape.lanes.push_back(std::move(shape));
  }

  void connect(std::size_t i) {
    for (const Connection& to : kept_[i]->connects_to) {
      const auto found = indices_.find(to.lane);
      if (to.remote_intersection || found == indices_.end()) {
        leave_out(*kept_[i], "leads to lane " + std::to_string(to.lane) + ", which is not of this intersection");
        continue;
      }
      LaneShape& lane = made_.shape.lanes[i];
      lane.leads_to.push_back({found->second, to.signal_group.value_or(lane.signal_group)});
    }
  }

  std::vector<Vec3> nodes_of(const MapLane& lane, int depth) const {
    if (lane.geometry == LaneGeometry::computed && lane.computed) return computed(*lane.computed, depth);
    if (lane.geometry != LaneGeometry::nodes) return {};
    std::vector<Vec3> nodes;
    Vec3 at = frame_.from(*from_.reference.latitude_deg, *from_.reference.longitude_deg);
    for (const Node& node : lane.nodes) {
      if (node.form == NodeForm::regional) return {};
      if (node.form == NodeForm::lat_lon) {
        if (!node.latitude_deg || !node.longitude_deg) return {};
        at = frame_.from(*node.latitude_deg, *node.longitude_deg);
      } else {
        at = {at.x + node.x_m, at.y + node.y_m, 0};
      }
      nodes.push_back(at);
    }
    return nodes;
  }

  /// As another one, beside it.
  std::vector<Vec3> computed(const ComputedLane& how, int depth) const {
    const auto other = std::ranges::find(from_.lanes, how.reference_lane, &MapLane::id);
    if (depth > 4 || other == from_.lanes.end()) return {};
    std::vector<Vec3> nodes = nodes_of(*other, depth + 1);
    if (nodes.empty()) return {};
    const Vec3 first = nodes.front();
    const double turn = how.rotate_rad && *how.rotate_rad ? -**how.rotate_rad : 0;  // clockwise there
    const double c = std::cos(turn), s = std::sin(turn);
    for (Vec3& node : nodes) {
      const double x = (node.x - first.x) * (1 + how.scale_x.value_or(0)),
                   y = (node.y - first.y) * (1 + how.scale_y.value_or(0));
      node = {first.x + how.offset_x_m + c * x - s * y, first.y + how.offset_y_m + s * x + c * y, 0};
    }
    return nodes;
  }

  const IntersectionGeometry& from_;
  const GeoFrame& frame_;
  MappedIntersection made_;
  std::vector<const MapLane*> kept_;
  std::map<int, int> indices_;  // by lane number
  std::set<std::string> names_;
};

}  // namespace

std::vector<MappedIntersection> shapes_of(const MapData& map, const GeoFrame& frame) {
  std::vector<MappedIntersection> all;
  for (const IntersectionGeometry& intersection : map.intersections) {
    if (!intersection.reference.latitude_deg || !intersection.reference.longitude_deg) continue;
    all.push_back(Layout(intersection, frame).make());
  }
  return all;
}

}  // namespace isochron::v2x
