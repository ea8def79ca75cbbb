#pragma once
// MAP: the lanes of intersections and road segments, where they lie and what they lead to. Lanes are chains of nodes,
// each an offset from the one before; the first from the reference point.

#include <cstdint>
#include <optional>
#include <string>

#include "v2x/codec/types.hpp"

namespace isochron::v2x {

/// How a node is sent: two numbers of cm in one of six sizes, a coordinate, or a region's own way.
enum class NodeForm : std::uint8_t { xy20, xy22, xy24, xy26, xy28, xy32, lat_lon, regional };

enum class LaneDataKind : std::uint8_t {
  path_end_point_angle,
  crown_center,
  crown_left,
  crown_right,
  lane_angle,
  speed_limits,
  regional
};
/// Something that holds along the lane from a node on.
struct LaneData {
  LaneDataKind kind{};
  double angle_rad = 0;     // the first five kinds
  List<SpeedLimit> limits;  // speed_limits: 1..9
  RegionalList regional;
  Bytes unknown;  // a later edition's kind
  friend bool operator==(const LaneData&, const LaneData&) = default;
};

enum class NodeAttribute : std::uint8_t {
  reserved,
  stop_line,
  rounded_cap_a,
  rounded_cap_b,
  merge_point,
  diverge_point,
  downstream_stop_line,
  downstream_start_node,
  closed_to_traffic,
  safe_island,
  curb_at_step_off,
  hydrant
};

/// What begins, ends or lies at a node. Segment attributes are codes 0..37 of J2735's SegmentAttributeXY.
struct NodeAttributes {
  List<NodeAttribute> local;  // each list at most 8
  List<int> disabled;
  List<int> enabled;
  List<LaneData> data;
  std::optional<double> width_change_m;
  std::optional<double> elevation_change_m;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const NodeAttributes&, const NodeAttributes&) = default;
};

struct Node {
  NodeForm form = NodeForm::xy32;
  double x_m = 0;      // east of the previous node (forms xy…)
  double y_m = 0;      // north of it
  Known latitude_deg;  // form lat_lon
  Known longitude_deg;
  RegionalList regional;  // form regional: one
  std::optional<NodeAttributes> attributes;
  Additions additions;
  /// The offset in the smallest form that holds it.
  static Node offset(double x_m, double y_m);
  friend bool operator==(const Node&, const Node&) = default;
};

/// A lane given as another one moved, turned and stretched.
struct ComputedLane {
  int reference_lane = 0;
  bool large_x = false;  // sent as 12 or 16 bits
  double offset_x_m = 0;
  bool large_y = false;
  double offset_y_m = 0;
  std::optional<Known> rotate_rad;
  std::optional<double> scale_x;  // change of scale: 0.1 = 10 % longer
  std::optional<double> scale_y;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const ComputedLane&, const ComputedLane&) = default;
};

enum class LaneGeometry : std::uint8_t { nodes, computed };
enum class LaneType : std::uint8_t { vehicle, crosswalk, bike, sidewalk, median, striping, tracked_vehicle, parking };

/// Bits of MapLane::direction.
enum LaneDirection : unsigned { direction_ingress, direction_egress };
/// Bits of MapLane::maneuvers and Connection::maneuver.
enum Maneuver : unsigned {
  maneuver_straight,
  maneuver_left,
  maneuver_right,
  maneuver_u_turn,
  maneuver_left_on_red,
  maneuver_right_on_red,
  maneuver_lane_change,
  maneuver_no_stopping,
  maneuver_yield,
  maneuver_go_with_halt,
  maneuver_caution,
  maneuver_reserved
};

struct Connection {
  int lane = 0;
  std::optional<Flags> maneuver;  // 12 bits
  std::optional<ReferenceId> remote_intersection;
  std::optional<int> signal_group;
  std::optional<int> user_class;
  std::optional<int> connection_id;
  friend bool operator==(const Connection&, const Connection&) = default;
};

struct MapLane {
  int id = 0;
  std::string name;                     // at most 63 characters
  std::optional<int> ingress_approach;  // 0..15
  std::optional<int> egress_approach;
  Flags direction{2};
  Flags shared_with{10};
  LaneType type{};
  Flags type_attributes{8};  // 8 bits for vehicle lanes, 16 for the others
  Bytes unknown_type;        // a later edition's lane type
  std::optional<Regional> attributes_regional;
  std::optional<Flags> maneuvers;  // 12 bits
  LaneGeometry geometry = LaneGeometry::nodes;
  List<Node> nodes;  // 2..63
  std::optional<ComputedLane> computed;
  Bytes unknown_geometry;
  List<Connection> connects_to;  // at most 16
  List<int> overlays;            // at most 5 lane ids
  RegionalList regional;
  Additions additions;
  friend bool operator==(const MapLane&, const MapLane&) = default;
};

/// A zone in which vehicles may ask for priority; its content is a region's.
struct ControlZone {
  Regional zone;
  Additions additions;
  friend bool operator==(const ControlZone&, const ControlZone&) = default;
};

struct IntersectionGeometry {
  std::string name;
  ReferenceId id;
  int revision = 0;  // 0..127
  Position reference;
  std::optional<double> lane_width_m;
  List<SpeedLimit> speed_limits;     // at most 9
  List<MapLane> lanes;               // 1..255
  List<ControlZone> priority_zones;  // at most 32
  RegionalList regional;
  Additions additions;
  friend bool operator==(const IntersectionGeometry&, const IntersectionGeometry&) = default;
};

struct RoadSegment {
  std::string name;
  ReferenceId id;
  int revision = 0;
  Position reference;
  std::optional<double> lane_width_m;
  List<SpeedLimit> speed_limits;
  List<MapLane> lanes;  // 1..255
  RegionalList regional;
  Additions additions;
  friend bool operator==(const RoadSegment&, const RoadSegment&) = default;
};

/// How the map was made; texts of at most 255 characters.
struct DataParameters {
  std::string process_method;
  std::string process_agency;
  std::string last_checked;
  std::string geoid;
  Additions additions;
  friend bool operator==(const DataParameters&, const DataParameters&) = default;
};

enum class RestrictionKind : std::uint8_t { basic, regional };
enum class RestrictionAppliesTo : std::uint8_t {
  none,
  equipped_transit,
  equipped_taxis,
  equipped_other,
  emission_compliant,
  equipped_bicycle,
  weight_compliant,
  height_compliant,
  pedestrians,
  slow_moving_persons,
  wheelchair_users,
  visual_disabilities,
  audio_disabilities,
  other_disabilities
};
struct RestrictionUser {
  RestrictionKind kind{};
  RestrictionAppliesTo applies_to{};
  RegionalList regional;
  Bytes unknown;
  friend bool operator==(const RestrictionUser&, const RestrictionUser&) = default;
};
struct RestrictionClass {
  int id = 0;
  List<RestrictionUser> users;  // 1..16
  friend bool operator==(const RestrictionClass&, const RestrictionClass&) = default;
};

enum class LayerType : std::uint8_t {
  none,
  mixed_content,
  general_map_data,
  intersection_data,
  curve_data,
  roadway_section_data,
  parking_area_data,
  shared_lane_data
};

/// A minute of the year that says "not known".
inline constexpr int minute_of_year_invalid = 527040;

struct MapData {
  std::optional<int> minute_of_year;  // 0..527040
  int revision = 0;                   // 0..127
  std::optional<LayerType> layer_type;
  std::optional<int> layer_id;               // 0..100
  List<IntersectionGeometry> intersections;  // at most 32
  List<RoadSegment> road_segments;           // at most 32
  std::optional<DataParameters> data_parameters;
  List<RestrictionClass> restrictions;  // at most 254
  RegionalList regional;
  Additions additions;
  friend bool operator==(const MapData&, const MapData&) = default;
};

}  // namespace isochron::v2x
