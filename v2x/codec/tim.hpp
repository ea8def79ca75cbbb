#pragma once
// TIM: what travellers are told, where it holds and for how long. Signs, work zones, curves, advice.

#include <cstdint>
#include <optional>
#include <string>

#include "v2x/codec/map.hpp"

namespace isochron::v2x {

enum class TravelerInfo : std::uint8_t { unknown, advisory, road_signage, commercial_signage };

struct RoadSignId {
  Position position;
  Flags view_angle{16};      // slices of 22.5 degrees
  std::optional<int> mutcd;  // 0..6
  std::optional<int> crc;    // 0..65535
  friend bool operator==(const RoadSignId&, const RoadSignId&) = default;
};

enum class TimIdKind : std::uint8_t { further_info, road_sign };

/// A chain of points, each an offset from the one before, in metres as MAP has them.
struct NodeListXY {
  LaneGeometry geometry = LaneGeometry::nodes;
  List<Node> nodes;  // 2..63
  std::optional<ComputedLane> computed;
  Bytes unknown_geometry;
  friend bool operator==(const NodeListXY&, const NodeListXY&) = default;
};

/// The same in degrees. How a node is sent: two numbers in one of six sizes, a coordinate, or a region's own way.
enum class NodeFormLL : std::uint8_t { ll24, ll28, ll32, ll36, ll44, ll48, lat_lon, regional };
struct NodeLL {
  NodeFormLL form = NodeFormLL::ll48;
  double longitude_deg = 0;     // east of the previous node
  double latitude_deg = 0;      // north of it
  Known absolute_latitude_deg;  // form lat_lon
  Known absolute_longitude_deg;
  RegionalList regional;  // form regional: one
  std::optional<NodeAttributes> attributes;
  Additions additions;
  friend bool operator==(const NodeLL&, const NodeLL&) = default;
};
enum class NodeListKindLL : std::uint8_t { nodes };
struct NodeListLL {
  NodeListKindLL kind{};
  List<NodeLL> nodes;  // 2..63
  Bytes unknown;
  friend bool operator==(const NodeListLL&, const NodeListLL&) = default;
};

enum class OffsetKind : std::uint8_t { xy, ll };
struct OffsetSystem {
  std::optional<int> zoom;  // 0..15: offsets are multiplied by 2^zoom
  OffsetKind kind{};
  NodeListXY xy;
  NodeListLL ll;
  friend bool operator==(const OffsetSystem&, const OffsetSystem&) = default;
};

struct Circle {
  Position center;
  int radius = 0;  // 0..4095, of `unit`
  int unit = 0;    // 0 cm, 1 2.5 cm, 2 dm, 3 m, 4 km, 5 foot, 6 yard, 7 mile
  friend bool operator==(const Circle&, const Circle&) = default;
};

struct GeometricProjection {
  Flags direction{16};
  std::optional<int> extent;  // 0..15
  std::optional<double> lane_width_m;
  Circle circle;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const GeometricProjection&, const GeometricProjection&) = default;
};

struct ShapePoints {
  std::optional<Position> anchor;
  std::optional<double> lane_width_m;
  std::optional<int> directionality;  // 0..3
  NodeListXY nodes;
  Additions additions;
  friend bool operator==(const ShapePoints&, const ShapePoints&) = default;
};
struct RegionOffset {
  int x = 0, y = 0;  // of 1e-7 degrees
  std::optional<int> z;
  friend bool operator==(const RegionOffset&, const RegionOffset&) = default;
};
struct RegionPoints {
  std::optional<Position> anchor;
  std::optional<int> zoom;
  List<RegionOffset> nodes;  // 1..64
  Additions additions;
  friend bool operator==(const RegionPoints&, const RegionPoints&) = default;
};
enum class AreaKind : std::uint8_t { shape, circle, region };
struct ValidRegion {
  Flags direction{16};
  std::optional<int> extent;
  AreaKind area{};
  ShapePoints shape;
  Circle circle;
  RegionPoints region;
  friend bool operator==(const ValidRegion&, const ValidRegion&) = default;
};

enum class PathKind : std::uint8_t { path, geometry, old_region };
struct PathDescription {
  PathKind kind{};
  OffsetSystem path;
  GeometricProjection geometry;
  ValidRegion old_region;
  Bytes unknown;
  friend bool operator==(const PathDescription&, const PathDescription&) = default;
};
struct GeographicalPath {
  std::string name;
  std::optional<ReferenceId> id;
  std::optional<Position> anchor;
  std::optional<double> lane_width_m;
  std::optional<int> directionality;  // 0..3: unavailable, forward, reverse, both
  std::optional<bool> closed;
  std::optional<Flags> direction;  // 16 bits
  std::optional<PathDescription> description;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const GeographicalPath&, const GeographicalPath&) = default;
};

enum class ContentKind : std::uint8_t { advisory, work_zone, generic_sign, speed_limit, exit_service };
enum class ItisKind : std::uint8_t { itis, text };
/// One word of what is said: a code of the ITIS list, or free text. Texts of an advisory may have 500 characters, those
/// of signs 16.
template <unsigned longest_text>
struct ItisItem {
  static constexpr unsigned longest = longest_text;
  ItisKind kind{};
  int itis = 0;
  std::string text;
  friend bool operator==(const ItisItem&, const ItisItem&) = default;
};

struct TravelerFrame {
  int rights = 0;  // 0..31
  TravelerInfo type{};
  TimIdKind id_kind{};
  int further_info = 0;  // 0..65535
  RoadSignId road_sign;
  std::optional<int> start_year;  // 0..4095
  int start_minute = 0;           // of the year
  int minutes = 0;                // 0..32000
  int priority = 0;               // 0..7
  int location_rights = 0;
  List<GeographicalPath> regions;  // 1..16
  int message_rights1 = 0, message_rights2 = 0;
  ContentKind content{};
  List<ItisItem<500>> advisory;  // 1..100
  List<ItisItem<16>> sign;       // all other contents: 1..16
  std::string url;               // at most 15 characters
  Additions additions;
  friend bool operator==(const TravelerFrame&, const TravelerFrame&) = default;
};

struct Tim {
  int msg_count = 0;
  std::optional<int> minute_of_year;
  Bytes packet_id;             // 9 octets, or none
  std::string url;             // at most 45 characters
  List<TravelerFrame> frames;  // 1..8
  RegionalList regional;
  Additions additions;
  friend bool operator==(const Tim&, const Tim&) = default;
};

}  // namespace isochron::v2x
