#pragma once
// SPaT: what the signals of an intersection show now, and until when.

#include <cstdint>
#include <optional>
#include <string>

#include "v2x/codec/types.hpp"

namespace isochron::v2x {

enum class SignalState : std::uint8_t {
  unavailable,
  dark,
  stop_then_proceed,
  stop_and_remain,
  pre_movement,
  permissive_movement_allowed,
  protected_movement_allowed,
  permissive_clearance,
  protected_clearance,
  caution_conflicting_traffic
};

/// Moments in the current or next UTC hour. J2735 2016 writes "unknown" as 3600.1 s, 2020 as nullopt (code 36111).
struct TimeChange {
  std::optional<Known> start_s;
  Known min_end_s;
  std::optional<Known> max_end_s;
  std::optional<Known> likely_s;
  std::optional<int> confidence;  // 0..15
  std::optional<Known> next_s;
  friend bool operator==(const TimeChange&, const TimeChange&) = default;
};

enum class AdviceType : std::uint8_t { none, green_wave, eco_drive, transit };
struct AdvisorySpeed {
  AdviceType type{};
  std::optional<Known> speed_m_s;
  std::optional<int> confidence;  // 0..7
  std::optional<double> distance_m;
  std::optional<int> user_class;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const AdvisorySpeed&, const AdvisorySpeed&) = default;
};

struct MovementEvent {
  SignalState state{};
  std::optional<TimeChange> timing;
  List<AdvisorySpeed> speeds;  // at most 16
  RegionalList regional;
  Additions additions;
  friend bool operator==(const MovementEvent&, const MovementEvent&) = default;
};

struct ManeuverAssist {
  int connection_id = 0;
  std::optional<double> queue_length_m;
  std::optional<double> available_storage_m;
  std::optional<bool> wait_on_stop;
  std::optional<bool> pedestrian_or_bicycle_detected;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const ManeuverAssist&, const ManeuverAssist&) = default;
};

struct MovementState {
  std::string name;
  int signal_group = 0;          // 0 = unknown, 255 = permanent green
  List<MovementEvent> events;    // 1..16, the first is now
  List<ManeuverAssist> assists;  // at most 16
  RegionalList regional;
  Additions additions;
  friend bool operator==(const MovementState&, const MovementState&) = default;
};

/// Bits of IntersectionState::status.
enum IntersectionStatus : unsigned {
  status_manual_control,
  status_stop_time_active,
  status_failure_flash,
  status_preempt,
  status_priority,
  status_fixed_time,
  status_traffic_dependent,
  status_standby,
  status_failure_mode,
  status_off,
  status_recent_map_update,
  status_recent_lane_assignment,
  status_no_valid_map,
  status_no_valid_spat
};

struct IntersectionState {
  std::string name;
  ReferenceId id;
  int revision = 0;  // 0..127
  Flags status{16};
  std::optional<int> minute_of_year;
  std::optional<Known> second_s;  // in the minute
  List<int> enabled_lanes;        // at most 16
  List<MovementState> movements;  // 1..255
  List<ManeuverAssist> assists;   // at most 16
  RegionalList regional;
  Additions additions;
  friend bool operator==(const IntersectionState&, const IntersectionState&) = default;
};

struct Spat {
  std::optional<int> minute_of_year;
  std::string name;
  List<IntersectionState> intersections;  // 1..32
  RegionalList regional;
  Additions additions;
  friend bool operator==(const Spat&, const Spat&) = default;
};

}  // namespace isochron::v2x
