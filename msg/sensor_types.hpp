#pragma once
// What a robot program reads from its sensors, where that is a handful of numbers: `robot.read<ImuReading>("imu")`.
// Plain values of 8 bytes each without gaps, so that C and Python read them too. Pictures and scans have no fixed size:
// they are read as the messages of ros_messages.hpp.
//
// Promises: the newest reading that is available at the reader's own time; `stamp` is the time of the world that it
//           shows, older than the reader by the sensor's latency. `number` counts readings from 1; 0: there is none
//           yet, and the rest is zero.

#include <array>
#include <cstdint>

#include "core/message.hpp"

namespace isochron {

struct PoseReading {
  SimTime stamp;
  std::uint64_t number = 0;
  std::array<double, 3> position{};
  std::array<double, 4> orientation{};  // w x y z
};
ISOCHRON_MESSAGE(PoseReading, "isochron_msgs/msg/PoseReading", stamp, number, position, orientation)

struct ImuReading {
  SimTime stamp;
  std::uint64_t number = 0;
  std::array<double, 4> orientation{};  // w x y z; all zero: it measures none
  std::array<double, 3> angular_velocity{};
  std::array<double, 3> linear_acceleration{};
};
ISOCHRON_MESSAGE(ImuReading, "isochron_msgs/msg/ImuReading", stamp, number, orientation, angular_velocity,
                 linear_acceleration)

struct GpsReading {
  SimTime stamp;
  std::uint64_t number = 0;
  std::int64_t status = 0;           // -1 no fix, 0 fix
  double latitude = 0;               // degrees; not a number without a fix
  double longitude = 0;              // degrees
  double altitude = 0;               // m above the ellipsoid
  std::array<double, 3> variance{};  // m²: east, north, up
};
ISOCHRON_MESSAGE(GpsReading, "isochron_msgs/msg/GpsReading", stamp, number, status, latitude, longitude, altitude,
                 variance)

/// Of a `gps` with `velocity: true`, as `NAME/velocity`: how fast it moves, and how good the fix is.
struct GpsVelocityReading {
  SimTime stamp;
  std::uint64_t number = 0;
  std::int64_t satellites = 0;       // used; fewer than 4: no fix, and the velocity is not a number
  std::array<double, 3> velocity{};  // m/s: east, north, up
  std::array<double, 3> variance{};  // (m/s)²
  double horizontal_dilution = 0;
  double vertical_dilution = 0;
  double horizontal_accuracy = 0;  // m, one standard deviation
  double vertical_accuracy = 0;    // m
};
ISOCHRON_MESSAGE(GpsVelocityReading, "isochron_msgs/msg/GpsVelocityReading", stamp, number, satellites, velocity,
                 variance, horizontal_dilution, vertical_dilution, horizontal_accuracy, vertical_accuracy)

struct BarometerReading {
  SimTime stamp;
  std::uint64_t number = 0;
  double pressure = 0;     // Pa
  double altitude = 0;     // m above mean sea level, by the standard atmosphere
  double temperature = 0;  // °C
};
ISOCHRON_MESSAGE(BarometerReading, "isochron_msgs/msg/BarometerReading", stamp, number, pressure, altitude, temperature)

struct MagnetometerReading {
  SimTime stamp;
  std::uint64_t number = 0;
  std::array<double, 3> field{};  // T, in the sensor's frame
};
ISOCHRON_MESSAGE(MagnetometerReading, "isochron_msgs/msg/MagnetometerReading", stamp, number, field)

struct AirspeedReading {
  SimTime stamp;
  std::uint64_t number = 0;
  double airspeed = 0;               // m/s along the sensor's x, as the pressure says at sea level
  double differential_pressure = 0;  // Pa, total less static; negative when the air comes from behind
  double temperature = 0;            // °C
};
ISOCHRON_MESSAGE(AirspeedReading, "isochron_msgs/msg/AirspeedReading", stamp, number, airspeed, differential_pressure,
                 temperature)

/// Angles since the reading before, about the axes of the sensor's frame (x forward, y left, z up): what the picture of
/// the ground moved, and what the sensor's own gyroscope says that it turned.
struct OpticalFlowReading {
  SimTime stamp;
  std::uint64_t number = 0;
  std::array<double, 2> flow{};  // rad about x and y; turning and moving together
  std::array<double, 3> gyro{};  // rad about x, y, z
  double integration_time = 0;   // s
  double distance = 0;           // m to the ground along the axis; not a number if there is none in reach
  double quality = 0;            // 0 (nothing) … 1
};
ISOCHRON_MESSAGE(OpticalFlowReading, "isochron_msgs/msg/OpticalFlowReading", stamp, number, flow, gyro,
                 integration_time, distance, quality)

struct RangeReading {
  SimTime stamp;
  std::uint64_t number = 0;
  double range = 0;  // -inf: nearer than `min`; +inf: nothing up to `max`
  double min = 0;
  double max = 0;
};
ISOCHRON_MESSAGE(RangeReading, "isochron_msgs/msg/RangeReading", stamp, number, range, min, max)

struct ContactReading {
  SimTime stamp;
  std::uint64_t number = 0;
  std::int64_t touching = 0;  // 0 or 1
  std::int64_t contacts = 0;
  double force = 0;                  // N, sum of the normal forces
  std::array<double, 3> position{};  // of the strongest contact, world frame
  std::array<double, 3> normal{};    // towards the sensor's body, world frame
};
ISOCHRON_MESSAGE(ContactReading, "isochron_msgs/msg/ContactReading", stamp, number, touching, contacts, force, position,
                 normal)

/// n joints in the order of the sensor's `joints`, or of the model. The name does not say n: the size is checked.
template <std::size_t n>
struct JointsReading {
  SimTime stamp;
  std::uint64_t number = 0;
  std::array<double, n> position{};
  std::array<double, n> velocity{};
};
template <std::size_t n>
constexpr const char* isochron_message_name(const JointsReading<n>*) {
  return "isochron_msgs/msg/JointsReading";
}

/// What a sensor of type `model` says: n numbers.
template <std::size_t n>
struct ValuesReading {
  SimTime stamp;
  std::uint64_t number = 0;
  std::array<double, n> values{};
};
template <std::size_t n>
constexpr const char* isochron_message_name(const ValuesReading<n>*) {
  return "isochron_msgs/msg/ValuesReading";
}

}  // namespace isochron
