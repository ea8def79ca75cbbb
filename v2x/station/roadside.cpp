#include "v2x/station/roadside.hpp"

#include <algorithm>

#include "core/ensure.hpp"
#include "core/input_error.hpp"
#include "v2x/station/time_marks.hpp"

namespace isochron::v2x {
namespace {

constexpr SimSpan spat_every = std::chrono::milliseconds(100), map_every = std::chrono::seconds(1);

MapLane lane_of(const LaneShape& shape, std::size_t index, const Vec3& reference) {
  MapLane lane;
  lane.id = static_cast<int>(index) + 1;
  lane.name = shape.name;
  lane.direction.set(shape.signal_group > 0 ? direction_ingress : direction_egress);
  lane.type = LaneType::vehicle;
  Vec3 from = reference;
  for (const Vec3& node : shape.nodes) {
    // Offsets are rounded to centimetres; from the rounded place on, so that errors do not add up.
    const double x = std::round((node.x - from.x) * 100) / 100, y = std::round((node.y - from.y) * 100) / 100;
    lane.nodes.push_back(Node::offset(x, y));
    from = {from.x + x, from.y + y, 0};
  }
  for (const LaneShape::Way& to : shape.leads_to) {
    Connection connection;
    connection.lane = to.lane + 1;
    connection.signal_group = to.signal_group;
    lane.connects_to.push_back(connection);
  }
  return lane;
}

}  // namespace

Bytes encode_map(const IntersectionShape& shape, const GeoFrame& frame) {
  Frame message;
  MapData& map = message.message.emplace<MapData>();
  map.revision = 1;
  map.layer_type = LayerType::intersection_data;
  IntersectionGeometry intersection;
  intersection.name = shape.name;
  intersection.id.id = shape.id;
  intersection.revision = 1;
  const auto place = frame.at(shape.reference);
  intersection.reference.latitude_deg = place.latitude_deg;
  intersection.reference.longitude_deg = place.longitude_deg;
  intersection.lane_width_m = shape.lane_width_m;
  intersection.speed_limits.push_back({SpeedLimitType::vehicle_max, shape.speed_limit_m_s});
  for (std::size_t i = 0; i < shape.lanes.size(); ++i) {
    intersection.lanes.push_back(lane_of(shape.lanes[i], i, shape.reference));
  }
  map.intersections.push_back(std::move(intersection));
  auto octets = encode(message);
  if (!octets) throw InputError(Place{}, "intersection `" + shape.name + "`: " + to_string(octets.error()));
  return std::move(octets).value();
}

RoadsideStation::RoadsideStation(IntersectionShape shape, const GeoFrame& frame, SimSpan phase)
    : shape_(std::move(shape)), map_(encode_map(shape_, frame)) {
  next_spat_ = SimTime::zero() + phase % spat_every;
  next_map_ = next_spat_ + spat_every / 2;
}

Bytes RoadsideStation::spat(SimTime at, const std::vector<SignalPlan>& plans) const {
  Frame message;
  Spat& spat = message.message.emplace<Spat>();
  IntersectionState state;
  state.id.id = shape_.id;
  state.revision = 1;
  const auto open = [](const SignalSpan& span) { return span.latest > span.until; };
  const bool actuated = std::any_of(plans.begin(), plans.end(), [&](const SignalPlan& plan) {
    return std::any_of(plan.spans.begin(), plan.spans.end(), open);
  });
  state.status.set(actuated ? status_traffic_dependent : status_fixed_time);
  state.minute_of_year = static_cast<int>(at.ns() / 60'000'000'000 % 525'600);
  state.second_s = Known(second_of_minute(at));
  for (const SignalPlan& plan : plans) {
    MovementState movement;
    movement.signal_group = plan.signal_group;
    for (const SignalSpan& span : plan.spans) {
      MovementEvent event;
      event.state = span.state;
      TimeChange& timing = event.timing.emplace();
      const double end = std::round(second_of_hour(span.until) * 10) / 10;
      timing.min_end_s = end;
      timing.max_end_s = Known(open(span) ? std::round(second_of_hour(span.latest) * 10) / 10 : end);
      movement.events.push_back(event);
    }
    state.movements.push_back(std::move(movement));
  }
  spat.intersections.push_back(std::move(state));
  auto octets = encode(message);
  ENSURE(octets.ok(), "a SPaT that cannot be sent");
  return std::move(octets).value();
}

bool RoadsideStation::tells_of(int signal_group) const {
  return std::any_of(shape_.lanes.begin(), shape_.lanes.end(), [&](const LaneShape& lane) {
    return std::any_of(lane.leads_to.begin(), lane.leads_to.end(),
                       [&](const LaneShape::Way& way) { return way.signal_group == signal_group; });
  });
}

std::vector<Outgoing> RoadsideStation::speak(SimTime now, SimSpan window, const std::vector<SignalPlan>& plans) {
  std::vector<Outgoing> all;
  next_spat_ = std::max(next_spat_, now);
  next_map_ = std::max(next_map_, now);
  for (; next_spat_ < now + window; next_spat_ += spat_every) {
    all.push_back({next_spat_, spat(next_spat_, plans), Medium::default_power});
  }
  for (; next_map_ < now + window; next_map_ += map_every) all.push_back({next_map_, map_, Medium::default_power});
  return all;
}

}  // namespace isochron::v2x
