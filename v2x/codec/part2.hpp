#pragma once
// Part II of a Basic Safety Message: the three containers that SAE J2735 defines.
//   0 VehicleSafetyExtensions        events, path history and prediction, lights
//   1 SpecialVehicleExtensions       emergency vehicles, trailers
//   2 SupplementalVehicleExtensions  vehicle class, weather, obstacles and other reports
// Codes of the ITIS lists (locations, equipment, affected groups) are the position in their list, 0 being the first.

#include <cstdint>
#include <optional>

#include "v2x/codec/types.hpp"

namespace isochron::v2x {

/// Bits of VehicleSafetyExtensions::events.
enum VehicleEvent : unsigned {
  event_hazard_lights,
  event_stop_line_violation,
  event_abs_activated,
  event_traction_control_loss,
  event_stability_control_activated,
  event_hazardous_materials,
  event_reserved,
  event_hard_braking,
  event_lights_changed,
  event_wipers_changed,
  event_flat_tire,
  event_disabled_vehicle,
  event_air_bag_deployment
};
/// Bits of VehicleSafetyExtensions::lights.
enum ExteriorLight : unsigned {
  light_low_beam,
  light_high_beam,
  light_left_turn_signal,
  light_right_turn_signal,
  light_hazard,
  light_automatic,
  light_daytime_running,
  light_fog,
  light_parking
};

struct DateTime {
  std::optional<int> year;    // 0..4095, 0 = unknown
  std::optional<int> month;   // 0..12
  std::optional<int> day;     // 0..31
  std::optional<int> hour;    // 0..31
  std::optional<int> minute;  // 0..60
  std::optional<Known> second_s;
  std::optional<int> offset_min;  // of the local time zone, -840..840
  friend bool operator==(const DateTime&, const DateTime&) = default;
};

struct TransmissionAndSpeed {
  TransmissionState transmission = TransmissionState::unavailable;
  Known speed_m_s;
  friend bool operator==(const TransmissionAndSpeed&, const TransmissionAndSpeed&) = default;
};

/// Confidence codes as the standard lists them, 0 = unavailable, higher = better.
struct PositionConfidence {
  int position = 0;   // 0..15
  int elevation = 0;  // 0..15
  friend bool operator==(const PositionConfidence&, const PositionConfidence&) = default;
};
struct MotionConfidence {
  int heading = 0;   // 0..7
  int speed = 0;     // 0..7
  int throttle = 0;  // 0..3
  friend bool operator==(const MotionConfidence&, const MotionConfidence&) = default;
};

struct FullPosition {
  std::optional<DateTime> utc;
  Known longitude_deg;
  Known latitude_deg;
  std::optional<Known> elevation_m;
  std::optional<Known> heading_rad;
  std::optional<TransmissionAndSpeed> speed;
  std::optional<PositionalAccuracy> accuracy;
  std::optional<int> time_confidence;  // 0..39
  std::optional<PositionConfidence> position_confidence;
  std::optional<MotionConfidence> speed_confidence;
  Additions additions;
  friend bool operator==(const FullPosition&, const FullPosition&) = default;
};

/// Where the vehicle was `time_offset_s` ago, relative to where it is.
struct PathPoint {
  Known latitude_offset_deg;
  Known longitude_offset_deg;
  Known elevation_offset_m;
  Known time_offset_s;
  std::optional<Known> speed_m_s;
  std::optional<PositionalAccuracy> accuracy;
  std::optional<Known> heading_rad;  // in steps of 1.5 degrees
  Additions additions;
  friend bool operator==(const PathPoint&, const PathPoint&) = default;
};

struct PathHistory {
  std::optional<FullPosition> initial_position;
  std::optional<Flags> gnss_status;  // 8 bits
  List<PathPoint> crumbs;            // 1..23
  Additions additions;
  friend bool operator==(const PathHistory&, const PathHistory&) = default;
};

struct PathPrediction {
  Known radius_m;         // positive = turning right; nullopt = straight on
  double confidence = 0;  // 0..1
  Additions additions;
  friend bool operator==(const PathPrediction&, const PathPrediction&) = default;
};

struct VehicleSafetyExtensions {
  std::optional<Flags> events;  // 13 bits or more
  std::optional<PathHistory> path_history;
  std::optional<PathPrediction> path_prediction;
  std::optional<Flags> lights;  // 9 bits or more
  Additions additions;
  friend bool operator==(const VehicleSafetyExtensions&, const VehicleSafetyExtensions&) = default;
};

enum class SirenUse : std::uint8_t { unavailable, not_in_use, in_use, reserved };
enum class LightbarUse : std::uint8_t {
  unavailable,
  not_in_use,
  in_use,
  yellow_caution,
  school_bus,
  arrow_signs,
  slow_moving,
  frequent_stops
};
enum class MultiVehicle : std::uint8_t { unavailable, single, multiple, reserved };
enum class ResponseType : std::uint8_t {
  not_in_use,
  emergency,
  non_emergency,
  pursuit,
  stationary,
  slow_moving,
  stop_and_go
};

struct PrivilegedEvents {
  int rights = 0;  // 0..31
  Flags events{16};
  Additions additions;
  friend bool operator==(const PrivilegedEvents&, const PrivilegedEvents&) = default;
};

struct EmergencyDetails {
  int rights = 0;  // 0..31
  SirenUse siren{};
  LightbarUse lightbar{};
  MultiVehicle multi{};
  std::optional<PrivilegedEvents> events;
  std::optional<ResponseType> response;
  Additions additions;
  friend bool operator==(const EmergencyDetails&, const EmergencyDetails&) = default;
};

struct EventDescription {
  int type_event = 0;            // ITIS code
  List<int> description;         // at most 8 ITIS codes
  std::optional<int> priority;   // one octet
  std::optional<Flags> heading;  // 16 slices of 22.5 degrees
  std::optional<int> extent;     // 0..15
  RegionalList regional;
  Additions additions;
  friend bool operator==(const EventDescription&, const EventDescription&) = default;
};

struct Pivot {
  double offset_m = 0;
  Known angle_rad;
  bool pivots = false;
  Additions additions;
  friend bool operator==(const Pivot&, const Pivot&) = default;
};

struct BumperHeights {
  double front_m = 0;
  double rear_m = 0;
  friend bool operator==(const BumperHeights&, const BumperHeights&) = default;
};

struct TrailerPoint {
  Known pivot_angle_rad;
  Known time_offset_s;
  OffsetXY position;
  std::optional<double> elevation_offset_m;
  std::optional<Known> heading_rad;
  Additions additions;
  friend bool operator==(const TrailerPoint&, const TrailerPoint&) = default;
};

struct TrailerUnit {
  bool is_dolly = false;
  Known width_m;
  Known length_m;
  std::optional<double> height_m;
  std::optional<int> mass_code;  // steps of 500 kg, 0 = unknown
  std::optional<BumperHeights> bumpers;
  std::optional<double> centre_of_gravity_m;
  Pivot front_pivot;
  std::optional<Pivot> rear_pivot;
  std::optional<double> rear_wheel_offset_m;
  OffsetXY position;
  std::optional<double> elevation_offset_m;
  List<TrailerPoint> crumbs;  // at most 23
  Additions additions;
  friend bool operator==(const TrailerUnit&, const TrailerUnit&) = default;
};

struct TrailerData {
  int rights = 0;  // 0..31
  Pivot connection;
  List<TrailerUnit> units;  // 1..8
  Additions additions;
  friend bool operator==(const TrailerData&, const TrailerData&) = default;
};

struct SpecialVehicleExtensions {
  std::optional<EmergencyDetails> alerts;
  std::optional<EventDescription> description;
  std::optional<TrailerData> trailers;
  Additions additions;
  friend bool operator==(const SpecialVehicleExtensions&, const SpecialVehicleExtensions&) = default;
};

struct VehicleClassification {
  std::optional<int> key_type;            // 0..255, J2735's basic vehicle class
  std::optional<int> role;                // 0..22, later editions more
  std::optional<int> iso3883;             // 0..100
  std::optional<int> hpms_type;           // 0..15, later editions more
  std::optional<int> vehicle_group;       // ITIS list, 0..34
  std::optional<int> response_equipment;  // ITIS list, 0..71
  std::optional<int> responder_group;     // ITIS list, 0..13
  std::optional<int> fuel_type;           // 0..15
  RegionalList regional;
  Additions additions;
  friend bool operator==(const VehicleClassification&, const VehicleClassification&) = default;
};

struct VehicleData {
  std::optional<double> height_m;
  std::optional<BumperHeights> bumpers;
  std::optional<int> mass_code;  // 0..80: 50 kg, ..200: 500 kg, ..253: 2 t steps; 255 = unavailable
  std::optional<double> trailer_weight_kg;
  Additions additions;
  friend bool operator==(const VehicleData&, const VehicleData&) = default;
};

enum class Precipitation : std::uint8_t { yes, no, error };

struct WeatherReport {
  Precipitation raining = Precipitation::error;
  std::optional<Known> rain_rate_kg_m2_s;
  std::optional<int> situation;  // 0..14, NTCIP's list of precipitation situations
  std::optional<int> solar_radiation_j_m2;
  std::optional<Known> friction_percent;
  std::optional<Known> road_friction;  // coefficient
  Additions additions;
  friend bool operator==(const WeatherReport&, const WeatherReport&) = default;
};

struct WiperSet {
  int front_status = 0;  // 0..6, later editions more
  int front_rate = 0;    // sweeps a minute, 0..127
  std::optional<int> rear_status;
  std::optional<int> rear_rate;
  friend bool operator==(const WiperSet&, const WiperSet&) = default;
};

struct WeatherProbe {
  std::optional<Known> air_temperature_degc;
  std::optional<Known> air_pressure_pa;
  std::optional<WiperSet> wipers;
  Additions additions;
  friend bool operator==(const WeatherProbe&, const WeatherProbe&) = default;
};

struct Obstacle {
  double distance_m = 0;
  Known direction_rad;
  std::optional<int> description;  // ITIS code 523..541
  std::optional<int> location;     // ITIS list, 0..95
  DateTime date_time;
  std::optional<Flags> vertical_event;  // 5 bits, as the wheels
  Additions additions;
  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};

struct DisabledVehicle {
  int status = 523;             // ITIS code 523..541
  std::optional<int> location;  // ITIS list, 0..95
  Additions additions;
  friend bool operator==(const DisabledVehicle&, const DisabledVehicle&) = default;
};

struct SpeedProfile {
  List<int> reports;  // 1..20 codes 0..31
  Additions additions;
  friend bool operator==(const SpeedProfile&, const SpeedProfile&) = default;
};

struct AntennaOffset {
  double x_m = 0;
  double y_m = 0;
  double z_m = 0;
  friend bool operator==(const AntennaOffset&, const AntennaOffset&) = default;
};
struct RtcmHeader {
  Flags status{8};
  AntennaOffset antenna;
  friend bool operator==(const RtcmHeader&, const RtcmHeader&) = default;
};
struct RtcmPackage {
  std::optional<RtcmHeader> header;
  List<Bytes> messages;  // 1..5 of 1..1023 octets
  Additions additions;
  friend bool operator==(const RtcmPackage&, const RtcmPackage&) = default;
};

struct SupplementalVehicleExtensions {
  std::optional<int> classification;  // 0..255
  std::optional<VehicleClassification> class_details;
  std::optional<VehicleData> vehicle;
  std::optional<WeatherReport> weather_report;
  std::optional<WeatherProbe> weather_probe;
  std::optional<Obstacle> obstacle;
  std::optional<DisabledVehicle> status;
  std::optional<SpeedProfile> speed_profile;
  std::optional<RtcmPackage> rtcm;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const SupplementalVehicleExtensions&, const SupplementalVehicleExtensions&) = default;
};

}  // namespace isochron::v2x
