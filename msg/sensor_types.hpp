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
