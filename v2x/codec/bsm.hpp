#pragma once
// The Basic Safety Message: where a vehicle is and what it does, ten times a second. Part I is always there; Part II
// holds what changes slowly or matters rarely (part2.hpp).

#include <cstdint>
#include <variant>

#include "v2x/codec/part2.hpp"
#include "v2x/codec/types.hpp"

namespace isochron::v2x {

enum class ControlStatus : std::uint8_t { unavailable, off, on, engaged };
enum class BrakeBoost : std::uint8_t { unavailable, off, on };
enum class AuxiliaryBrakes : std::uint8_t { unavailable, off, on, reserved };

/// Bits of BrakeSystem::wheel_brakes.
enum WheelBrake : unsigned {
  wheel_unavailable,
  wheel_left_front,
  wheel_left_rear,
  wheel_right_front,
  wheel_right_rear
};

struct BrakeSystem {
  Flags wheel_brakes{5, 0b10000};
  ControlStatus traction{};
  ControlStatus abs{};
  ControlStatus stability{};
  BrakeBoost boost{};
  AuxiliaryBrakes auxiliary{};
  friend bool operator==(const BrakeSystem&, const BrakeSystem&) = default;
};

struct Acceleration {
  Known longitudinal_m_s2;
  Known lateral_m_s2;
  Known vertical_m_s2;
  double yaw_rate_rad_s = 0;
  friend bool operator==(const Acceleration&, const Acceleration&) = default;
};

struct VehicleSize {
  Known width_m;
  Known length_m;
  friend bool operator==(const VehicleSize&, const VehicleSize&) = default;
};

struct BsmCore {
  int msg_count = 0;     // 0..127, counts up by one and wraps
  std::uint32_t id = 0;  // the vehicle's temporary name
  Known sec_mark_s;      // since the start of the UTC minute
  Known latitude_deg;
  Known longitude_deg;
  Known elevation_m;
  PositionalAccuracy accuracy;
  TransmissionState transmission = TransmissionState::unavailable;
  Known speed_m_s;
  Known heading_rad;         // clockwise from north
  Known steering_angle_rad;  // of the wheel, right is positive
  Acceleration acceleration;
  BrakeSystem brakes;
  VehicleSize size;
  friend bool operator==(const BsmCore&, const BsmCore&) = default;
};

/// A Part II container that we do not know, or cannot read: its octets, and why.
struct OpaquePart {
  int id = 0;  // 0..63
  Bytes value;
  std::string reason;  // empty = an unknown id; not sent
  friend bool operator==(const OpaquePart& a, const OpaquePart& b) { return a.id == b.id && a.value == b.value; }
};
using PartII =
    std::variant<VehicleSafetyExtensions, SpecialVehicleExtensions, SupplementalVehicleExtensions, OpaquePart>;

struct Bsm {
  BsmCore core;
  List<PartII> part2;  // at most 8
  RegionalList regional;
  Additions additions;
  friend bool operator==(const Bsm&, const Bsm&) = default;
};

}  // namespace isochron::v2x
