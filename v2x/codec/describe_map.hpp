#pragma once
// What a MAP message is made of (see fields.hpp).

#include "v2x/codec/describe_common.hpp"

namespace isochron::v2x {

inline constexpr ListOf<Struct> speed_limit_list{1, 9, {}};

/// Two numbers of `bits` bits: what J2735 calls Node-XY-20b to -32b. A view, since Node holds them itself.
template <class D>
struct NodeXY {
  D& x_m;
  D& y_m;
  unsigned bits;
};
template <class Io, class D>
bool describe(Io& io, const NodeXY<D>& m) {
  return io.sequence(closed, must("x", m.x_m, scale::node(m.bits)), must("y", m.y_m, scale::node(m.bits)));
}
template <class K>
struct NodeLatLon {
  K& longitude_deg;
  K& latitude_deg;
};
template <class Io, class K>
bool describe(Io& io, const NodeLatLon<K>& m) {
  return io.sequence(closed, must("lon", m.longitude_deg, scale::longitude),
                     must("lat", m.latitude_deg, scale::latitude));
}

template <class N>
struct NodeDelta {
  N& node;
};
template <class Io, class N>
bool describe(Io& io, const NodeDelta<N>& m) {
  static constexpr std::array names{"node-XY1", "node-XY2", "node-XY3",    "node-XY4",
                                    "node-XY5", "node-XY6", "node-LatLon", "regional"};
  constexpr unsigned bits[] = {10, 11, 12, 13, 14, 16};
  auto& n = m.node;
  return io.choice(names, n.form, closed, [&](NodeForm form) {
    if (form == NodeForm::regional) {
      if constexpr (!Io::looks_only) n.regional.resize(1);
      if (n.regional.size() != 1) return io.fail("form is regional, but `regional` is not set");
      return io.value(Struct{}, n.regional[0]);
    }
    if (form == NodeForm::lat_lon) return describe(io, NodeLatLon<As<Io, Known>>{n.longitude_deg, n.latitude_deg});
    return describe(io, NodeXY<As<Io, double>>{n.x_m, n.y_m, bits[static_cast<unsigned>(form)]});
  });
}

template <class Io>
bool describe(Io& io, As<Io, LaneData>& m) {
  static constexpr std::array names{"pathEndPointAngle",
                                    "laneCrownPointCenter",
                                    "laneCrownPointLeft",
                                    "laneCrownPointRight",
                                    "laneAngle",
                                    "speedLimits",
                                    "regional"};
  return io.choice(names, m.kind, m.unknown, [&](LaneDataKind kind) {
    if (kind == LaneDataKind::speed_limits) return io.value(speed_limit_list, m.limits);
    if (kind == LaneDataKind::regional) return io.value(regional_list, m.regional);
    if (kind == LaneDataKind::path_end_point_angle) return io.value(scale::end_angle, m.angle_rad);
    if (kind == LaneDataKind::lane_angle) return io.value(scale::lane_angle, m.angle_rad);
    return io.value(scale::crown_angle, m.angle_rad);
  });
}

template <class Io>
bool describe(Io& io, As<Io, NodeAttributes>& m) {
  constexpr ListOf<Code> segments{1, 8, {38, true}};
  return io.sequence(
      m.additions, may("localNode", m.local, ListOf<Enum>{1, 8, {}}), may("disabled", m.disabled, segments),
      may("enabled", m.enabled, segments), may("data", m.data, ListOf<Struct>{1, 8, {}}),
      may("dWidth", m.width_change_m, scale::width_change),
      may("dElevation", m.elevation_change_m, scale::elevation_change), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, Node>& m) {
  const NodeDelta<As<Io, Node>> delta{m};
  return io.sequence(m.additions, must("delta", delta, Struct{}), may("attributes", m.attributes, Struct{}));
}

/// One axis of a computed lane's shift: a small or a large number.
template <class B, class D>
struct LaneShift {
  B& large;
  D& metres;
};
template <class B, class D>
LaneShift(B&, D&) -> LaneShift<B, D>;
template <class Io, class B, class D>
bool describe(Io& io, const LaneShift<B, D>& m) {
  static constexpr std::array names{"small", "large"};
  return io.choice(names, m.large, closed, [&](bool large) {
    return io.value(large ? scale::computed_large : scale::computed_small, m.metres);
  });
}

template <class Io>
bool describe(Io& io, As<Io, ComputedLane>& m) {
  const LaneShift x{m.large_x, m.offset_x_m};
  const LaneShift y{m.large_y, m.offset_y_m};
  return io.sequence(m.additions, must("referenceLaneId", m.reference_lane, byte), must("offsetXaxis", x, Struct{}),
                     must("offsetYaxis", y, Struct{}), may("rotateXY", m.rotate_rad, scale::heading),
                     may("scaleXaxis", m.scale_x, scale::stretch), may("scaleYaxis", m.scale_y, scale::stretch),
                     may("regional", m.regional, regional_list));
}

/// The parts of a lane that J2735 nests and MapLane holds flat.
template <class L>
struct LaneTypeOf {
  L& lane;
};
template <class L>
struct LaneAttributesOf {
  L& lane;
};
template <class L>
struct LaneNodesOf {
  L& lane;
};

template <class Io, class L>
bool describe(Io& io, const LaneTypeOf<L>& m) {
  static constexpr std::array names{"vehicle", "crosswalk", "bikeLane",       "sidewalk",
                                    "median",  "striping",  "trackedVehicle", "parking"};
  return io.choice(names, m.lane.type, m.lane.unknown_type, [&](LaneType type) {
    return io.value(type == LaneType::vehicle ? FlagBits{8, true} : FlagBits{16}, m.lane.type_attributes);
  });
}

template <class Io, class L>
bool describe(Io& io, const LaneAttributesOf<L>& m) {
  const LaneTypeOf<L> type{m.lane};
  return io.sequence(closed, must("directionalUse", m.lane.direction, FlagBits{2}),
                     must("sharedWith", m.lane.shared_with, FlagBits{10}), must("laneType", type, Struct{}),
                     may("regional", m.lane.attributes_regional, Struct{}));
}

template <class Io, class L>
bool describe(Io& io, const LaneNodesOf<L>& m) {
  static constexpr std::array names{"nodes", "computed"};
  return io.choice(names, m.lane.geometry, m.lane.unknown_geometry, [&](LaneGeometry geometry) {
    if (geometry == LaneGeometry::nodes) return io.value(ListOf<Struct>{2, 63, {}}, m.lane.nodes);
    if constexpr (!Io::looks_only) m.lane.computed.emplace();
    if (!m.lane.computed) return io.fail("geometry is computed, but `computed` is not set");
    return io.value(Struct{}, *m.lane.computed);
  });
}

template <class Io>
bool describe(Io& io, As<Io, Connection>& m);

template <class C>
struct ConnectingLane {
  C& connection;
};
template <class Io, class C>
bool describe(Io& io, const ConnectingLane<C>& m) {
  return io.sequence(closed, must("lane", m.connection.lane, byte),
                     may("maneuver", m.connection.maneuver, FlagBits{12}));
}

template <class Io>
bool describe(Io& io, As<Io, Connection>& m) {
  const ConnectingLane<As<Io, Connection>> lane{m};
  return io.sequence(closed, must("connectingLane", lane, Struct{}),
                     may("remoteIntersection", m.remote_intersection, Struct{}),
                     may("signalGroup", m.signal_group, byte), may("userClass", m.user_class, byte),
                     may("connectionID", m.connection_id, byte));
}

template <class Io>
bool describe(Io& io, As<Io, MapLane>& m) {
  using L = As<Io, MapLane>;
  const LaneAttributesOf<L> attributes{m};
  const LaneNodesOf<L> nodes{m};
  constexpr Integer approach{0, 15};
  return io.sequence(
      m.additions, must("laneID", m.id, byte), may("name", m.name, name_text),
      may("ingressApproach", m.ingress_approach, approach), may("egressApproach", m.egress_approach, approach),
      must("laneAttributes", attributes, Struct{}), may("maneuvers", m.maneuvers, FlagBits{12}),
      must("nodeList", nodes, Struct{}), may("connectsTo", m.connects_to, ListOf<Struct>{1, 16, {}}),
      may("overlays", m.overlays, ListOf<Integer>{1, 5, byte}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, ControlZone>& m) {
  return io.sequence(m.additions, must("zone", m.zone, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, IntersectionGeometry>& m) {
  return io.sequence(
      m.additions, may("name", m.name, name_text), must("id", m.id, Struct{}), must("revision", m.revision, revision),
      must("refPoint", m.reference, Struct{}), may("laneWidth", m.lane_width_m, scale::lane_width),
      may("speedLimits", m.speed_limits, speed_limit_list), must("laneSet", m.lanes, ListOf<Struct>{1, 255, {}}),
      may("preemptPriorityData", m.priority_zones, ListOf<Struct>{1, 32, {}}),
      may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, RoadSegment>& m) {
  return io.sequence(
      m.additions, may("name", m.name, name_text), must("id", m.id, Struct{}), must("revision", m.revision, revision),
      must("refPoint", m.reference, Struct{}), may("laneWidth", m.lane_width_m, scale::lane_width),
      may("speedLimits", m.speed_limits, speed_limit_list), must("roadLaneSet", m.lanes, ListOf<Struct>{1, 255, {}}),
      may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, DataParameters>& m) {
  constexpr Text text{1, 255};
  return io.sequence(m.additions, may("processMethod", m.process_method, text),
                     may("processAgency", m.process_agency, text), may("lastCheckedDate", m.last_checked, text),
                     may("geoidUsed", m.geoid, text));
}

template <class Io>
bool describe(Io& io, As<Io, RestrictionUser>& m) {
  static constexpr std::array names{"basicType", "regional"};
  return io.choice(names, m.kind, m.unknown, [&](RestrictionKind kind) {
    if (kind == RestrictionKind::basic) return io.value(Enum{}, m.applies_to);
    return io.value(regional_list, m.regional);
  });
}

template <class Io>
bool describe(Io& io, As<Io, RestrictionClass>& m) {
  return io.sequence(closed, must("id", m.id, byte), must("users", m.users, ListOf<Struct>{1, 16, {}}));
}

template <class Io>
bool describe(Io& io, As<Io, MapData>& m) {
  return io.sequence(
      m.additions, may("timeStamp", m.minute_of_year, minute_of_year), must("msgIssueRevision", m.revision, revision),
      may("layerType", m.layer_type, Enum{}), may("layerID", m.layer_id, Integer{0, 100}),
      may("intersections", m.intersections, ListOf<Struct>{1, 32, {}}),
      may("roadSegments", m.road_segments, ListOf<Struct>{1, 32, {}}),
      may("dataParameters", m.data_parameters, Struct{}),
      may("restrictionList", m.restrictions, ListOf<Struct>{1, 254, {}}), may("regional", m.regional, regional_list));
}

}  // namespace isochron::v2x
