#pragma once
// What a TIM is made of (see fields.hpp).

#include "v2x/codec/describe_map.hpp"
#include "v2x/codec/describe_part2.hpp"
#include "v2x/codec/tim.hpp"

namespace isochron::v2x {

inline constexpr Code directionality{4, false};
inline constexpr Integer zoom{0, 15};

template <class Io>
bool describe(Io& io, As<Io, RoadSignId>& m) {
  return io.sequence(closed, must("position", m.position, Struct{}), must("viewAngle", m.view_angle, FlagBits{16}),
                     may("mutcdCode", m.mutcd, Code{7, true}), may("crc", m.crc, Integer{0, 65535}));
}

template <class Io>
bool describe(Io& io, As<Io, NodeListXY>& m) {
  return describe(io, LaneNodesOf<As<Io, NodeListXY>>{m});
}

template <class D>
struct OffsetLL {
  D& longitude_deg;
  D& latitude_deg;
  unsigned bits;
};
template <class Io, class D>
bool describe(Io& io, const OffsetLL<D>& m) {
  return io.sequence(closed, must("lon", m.longitude_deg, scale::node_ll(m.bits)),
                     must("lat", m.latitude_deg, scale::node_ll(m.bits)));
}

template <class N>
struct NodeDeltaLL {
  N& node;
};
template <class Io, class N>
bool describe(Io& io, const NodeDeltaLL<N>& m) {
  static constexpr std::array names{"node-LL1", "node-LL2", "node-LL3",    "node-LL4",
                                    "node-LL5", "node-LL6", "node-LatLon", "regional"};
  constexpr unsigned bits[] = {12, 14, 16, 18, 22, 24};
  auto& n = m.node;
  return io.choice(names, n.form, closed, [&](NodeFormLL form) {
    if (form == NodeFormLL::regional) {
      if constexpr (!Io::looks_only) n.regional.resize(1);
      if (n.regional.size() != 1) return io.fail("form is regional, but `regional` is not set");
      return io.value(Struct{}, n.regional[0]);
    }
    if (form == NodeFormLL::lat_lon) {
      return describe(io, NodeLatLon<As<Io, Known>>{n.absolute_longitude_deg, n.absolute_latitude_deg});
    }
    return describe(io, OffsetLL<As<Io, double>>{n.longitude_deg, n.latitude_deg, bits[static_cast<unsigned>(form)]});
  });
}

template <class Io>
bool describe(Io& io, As<Io, NodeLL>& m) {
  const NodeDeltaLL<As<Io, NodeLL>> delta{m};
  return io.sequence(m.additions, must("delta", delta, Struct{}), may("attributes", m.attributes, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, NodeListLL>& m) {
  static constexpr std::array names{"nodes"};
  return io.choice(names, m.kind, m.unknown, [&](NodeListKindLL) {
    return io.value(ListOf<Struct>{2, 63, {}}, m.nodes);
  });
}

template <class S>
struct OffsetsOf {
  S& system;
};
template <class Io, class S>
bool describe(Io& io, const OffsetsOf<S>& m) {
  static constexpr std::array names{"xy", "ll"};
  return io.choice(names, m.system.kind, closed, [&](OffsetKind kind) {
    return kind == OffsetKind::xy ? io.value(Struct{}, m.system.xy) : io.value(Struct{}, m.system.ll);
  });
}
template <class Io>
bool describe(Io& io, As<Io, OffsetSystem>& m) {
  const OffsetsOf<As<Io, OffsetSystem>> offsets{m};
  return io.sequence(closed, may("scale", m.zoom, zoom), must("offset", offsets, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, Circle>& m) {
  return io.sequence(closed, must("center", m.center, Struct{}), must("radius", m.radius, Integer{0, 4095}),
                     must("units", m.unit, Code{8, false}));
}

template <class Io>
bool describe(Io& io, As<Io, GeometricProjection>& m) {
  return io.sequence(m.additions, must("direction", m.direction, FlagBits{16}),
                     may("extent", m.extent, Code{16, false}), may("laneWidth", m.lane_width_m, scale::lane_width),
                     must("circle", m.circle, Struct{}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, ShapePoints>& m) {
  return io.sequence(m.additions, may("anchor", m.anchor, Struct{}),
                     may("laneWidth", m.lane_width_m, scale::lane_width),
                     may("directionality", m.directionality, directionality), must("nodeList", m.nodes, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, RegionOffset>& m) {
  constexpr Integer offset{-32768, 32767};
  return io.sequence(closed, must("xOffset", m.x, offset), must("yOffset", m.y, offset), may("zOffset", m.z, offset));
}

template <class Io>
bool describe(Io& io, As<Io, RegionPoints>& m) {
  return io.sequence(m.additions, may("anchor", m.anchor, Struct{}), may("scale", m.zoom, zoom),
                     must("nodeList", m.nodes, ListOf<Struct>{1, 64, {}}));
}

template <class R>
struct AreaOf {
  R& region;
};
template <class Io, class R>
bool describe(Io& io, const AreaOf<R>& m) {
  static constexpr std::array names{"shapePointSet", "circle", "regionPointSet"};
  return io.choice(names, m.region.area, closed, [&](AreaKind area) {
    if (area == AreaKind::shape) return io.value(Struct{}, m.region.shape);
    if (area == AreaKind::circle) return io.value(Struct{}, m.region.circle);
    return io.value(Struct{}, m.region.region);
  });
}
template <class Io>
bool describe(Io& io, As<Io, ValidRegion>& m) {
  const AreaOf<As<Io, ValidRegion>> area{m};
  return io.sequence(closed, must("direction", m.direction, FlagBits{16}), may("extent", m.extent, Code{16, false}),
                     must("area", area, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, PathDescription>& m) {
  static constexpr std::array names{"path", "geometry", "oldRegion"};
  return io.choice(names, m.kind, m.unknown, [&](PathKind kind) {
    if (kind == PathKind::path) return io.value(Struct{}, m.path);
    if (kind == PathKind::geometry) return io.value(Struct{}, m.geometry);
    return io.value(Struct{}, m.old_region);
  });
}

template <class Io>
bool describe(Io& io, As<Io, GeographicalPath>& m) {
  return io.sequence(m.additions, may("name", m.name, name_text), may("id", m.id, Struct{}),
                     may("anchor", m.anchor, Struct{}), may("laneWidth", m.lane_width_m, scale::lane_width),
                     may("directionality", m.directionality, directionality), may("closedPath", m.closed, Bool{}),
                     may("direction", m.direction, FlagBits{16}), may("description", m.description, Struct{}),
                     may("regional", m.regional, regional_list));
}

template <class T>
struct ItisChoice {
  T& item;
};
template <class Io, class T>
bool describe(Io& io, const ItisChoice<T>& m) {
  static constexpr std::array names{"itis", "text"};
  return io.choice(names, m.item.kind, closed, [&](ItisKind kind) {
    return kind == ItisKind::itis ? io.value(itis_code, m.item.itis) : io.value(Text{1, T::longest}, m.item.text);
  });
}
template <class Io>
bool describe(Io& io, As<Io, ItisItem<500>>& m) {
  const ItisChoice<As<Io, ItisItem<500>>> choice{m};
  return io.sequence(closed, must("item", choice, Struct{}));
}
template <class Io>
bool describe(Io& io, As<Io, ItisItem<16>>& m) {
  const ItisChoice<As<Io, ItisItem<16>>> choice{m};
  return io.sequence(closed, must("item", choice, Struct{}));
}

template <class F>
struct TimIdOf {
  F& frame;
};
template <class Io, class F>
bool describe(Io& io, const TimIdOf<F>& m) {
  static constexpr std::array names{"furtherInfoID", "roadSignID"};
  return io.choice(names, m.frame.id_kind, closed, [&](TimIdKind kind) {
    return kind == TimIdKind::further_info ? io.value(Integer{0, 65535}, m.frame.further_info)
                                           : io.value(Struct{}, m.frame.road_sign);
  });
}
template <class F>
struct TimContentOf {
  F& frame;
};
template <class Io, class F>
bool describe(Io& io, const TimContentOf<F>& m) {
  static constexpr std::array names{"advisory", "workZone", "genericSign", "speedLimit", "exitService"};
  return io.choice(names, m.frame.content, closed, [&](ContentKind kind) {
    return kind == ContentKind::advisory ? io.value(ListOf<Struct>{1, 100, {}}, m.frame.advisory)
                                         : io.value(ListOf<Struct>{1, 16, {}}, m.frame.sign);
  });
}

template <class Io>
bool describe(Io& io, As<Io, TravelerFrame>& m) {
  using F = As<Io, TravelerFrame>;
  const TimIdOf<F> id{m};
  const TimContentOf<F> content{m};
  return io.sequence(m.additions, must("sspTimRights", m.rights, rights), must("frameType", m.type, Enum{}),
                     must("msgId", id, Struct{}), may("startYear", m.start_year, Integer{0, 4095}),
                     must("startTime", m.start_minute, minute_of_year),
                     must("duratonTime", m.minutes, Integer{0, 32000}), must("priority", m.priority, Integer{0, 7}),
                     must("sspLocationRights", m.location_rights, rights),
                     must("regions", m.regions, ListOf<Struct>{1, 16, {}}),
                     must("sspMsgRights1", m.message_rights1, rights), must("sspMsgRights2", m.message_rights2, rights),
                     must("content", content, Struct{}), may("url", m.url, Text{1, 15}));
}

template <class Io>
bool describe(Io& io, As<Io, Tim>& m) {
  return io.sequence(m.additions, must("msgCnt", m.msg_count, revision),
                     may("timeStamp", m.minute_of_year, minute_of_year), may("packetID", m.packet_id, Octets{9, 9}),
                     may("urlB", m.url, Text{1, 45}), must("dataFrames", m.frames, ListOf<Struct>{1, 8, {}}),
                     may("regional", m.regional, regional_list));
}

}  // namespace isochron::v2x
