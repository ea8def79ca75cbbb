#include "world/sensors/plain_reading.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "msg/ros_messages.hpp"
#include "msg/sensor_types.hpp"
#include "world/aircraft/atmosphere.hpp"

namespace isochron::world {
namespace {

template <class T>
PlainType type_of() {
  return {message_name<T>(), sizeof(T)};
}

std::array<double, 3> array_of(const geometry_msgs::Vector3& v) { return {v.x, v.y, v.z}; }
std::array<double, 3> array_of(const geometry_msgs::Point& p) { return {p.x, p.y, p.z}; }
std::array<double, 4> array_of(const geometry_msgs::Quaternion& q) { return {q.w, q.x, q.y, q.z}; }

PoseReading plain(const geometry_msgs::PoseStamped& m) {
  return {{}, 0, array_of(m.pose.position), array_of(m.pose.orientation)};
}
ImuReading plain(const sensor_msgs::Imu& m) {
  const bool oriented = m.orientation_covariance[0] >= 0;
  return {{},
          0,
          oriented ? array_of(m.orientation) : std::array<double, 4>{},
          array_of(m.angular_velocity),
          array_of(m.linear_acceleration)};
}
GpsReading plain(const sensor_msgs::NavSatFix& m) {
  const auto& variance = m.position_covariance;
  return {{}, 0, m.status.status, m.latitude, m.longitude, m.altitude, {variance[0], variance[4], variance[8]}};
}
RangeReading plain(const sensor_msgs::Range& m) { return {{}, 0, m.range, m.min_range, m.max_range}; }
ContactReading plain(const isochron_msgs::ContactState& m) {
  return {{}, 0, m.touching, m.contacts, m.force, array_of(m.position), array_of(m.normal)};
}

MagnetometerReading plain(const sensor_msgs::MagneticField& m) { return {{}, 0, array_of(m.magnetic_field)}; }
AirspeedReading plain(const isochron_msgs::Airspeed& m) {
  return {{}, 0, m.airspeed, m.differential_pressure, m.temperature};
}
OpticalFlowReading plain(const isochron_msgs::OpticalFlow& m) {
  return {{}, 0, m.flow, m.gyro, m.integration_time, m.distance, m.quality};
}
BarometerReading plain(const sensor_msgs::FluidPressure& m) {
  return {{}, 0, m.fluid_pressure, std::round(isa::altitude(m.fluid_pressure) * 1e6) * 1e-6, 0};
}
GpsVelocityReading plain(const isochron_msgs::GpsVelocity& m) {
  const auto& variance = m.velocity_covariance;
  return {{},
          0,
          m.satellites,
          array_of(m.velocity),
          {variance[0], variance[4], variance[8]},
          m.horizontal_dilution,
          m.vertical_dilution,
          m.horizontal_accuracy,
          m.vertical_accuracy};
}

/// Stamp and number, which every plain reading begins with.
struct Head {
  SimTime stamp;
  std::uint64_t number = 0;
};
static_assert(offsetof(ImuReading, orientation) == sizeof(Head) && sizeof(JointsReading<1>) == sizeof(Head) + 16);

Head head_of(const Reading& reading) { return {reading.taken(), reading.sequence() + 1}; }

template <class M>
void fill_fixed(const Reading& reading, std::span<std::byte> value, std::size_t output = 0) {
  thread_local M message;
  ENSURE(reading.decode(message, output), "a sensor's own reading cannot be read");
  auto made = plain(message);
  made.stamp = reading.taken();
  made.number = reading.sequence() + 1;
  std::memcpy(value.data(), &made, sizeof made);
}

void fill_numbers(const Reading& reading, std::span<const std::vector<double>* const> lists,
                  std::span<std::byte> value) {
  const Head head = head_of(reading);
  std::memcpy(value.data(), &head, sizeof head);
  value = value.subspan(sizeof head);
  for (const std::vector<double>* list : lists) {
    const std::size_t bytes = list->size() * sizeof(double);
    if (bytes > 0) std::memcpy(value.data(), list->data(), bytes);
    value = value.subspan(bytes);
  }
}

/// The temperature is another output of it.
void fill_barometer(const Reading& reading, std::span<std::byte> value) {
  fill_fixed<sensor_msgs::FluidPressure>(reading, value);
  thread_local sensor_msgs::Temperature message;
  ENSURE(reading.decode(message, 1), "a sensor's own reading cannot be read");
  std::memcpy(value.data() + offsetof(BarometerReading, temperature), &message.temperature, sizeof(double));
}

void fill_joints(const Reading& reading, std::span<std::byte> value) {
  thread_local sensor_msgs::JointState message;
  ENSURE(reading.decode(message), "a sensor's own reading cannot be read");
  const std::array<const std::vector<double>*, 2> lists{&message.position, &message.velocity};
  fill_numbers(reading, lists, value);
}

void fill_values(const Reading& reading, std::span<std::byte> value) {
  thread_local isochron_msgs::Values message;
  ENSURE(reading.decode(message), "a sensor's own reading cannot be read");
  const std::array<const std::vector<double>*, 1> lists{&message.values};
  fill_numbers(reading, lists, value);
}

std::size_t joints_of(const SensorSpec& spec, const Catalog& catalog) {
  if (!spec.joints.joints.empty()) return spec.joints.joints.size();
  return static_cast<std::size_t>(std::count_if(catalog.joints.begin(), catalog.joints.end(),
                                                [](const JointInfo& joint) { return joint.positions == 1; }));
}

}  // namespace

std::optional<PlainType> plain_type(const SensorSpec& spec, const Catalog& catalog) {
  switch (spec.type) {
    case SensorType::pose:
      return type_of<PoseReading>();
    case SensorType::imu:
      return type_of<ImuReading>();
    case SensorType::gps:
      return type_of<GpsReading>();
    case SensorType::range:
      return type_of<RangeReading>();
    case SensorType::contact:
      return type_of<ContactReading>();
    case SensorType::joints:
      return PlainType{message_name<JointsReading<1>>(), sizeof(Head) + 16 * joints_of(spec, catalog)};
    case SensorType::model:
      return PlainType{message_name<ValuesReading<1>>(),
                       sizeof(Head) + 8 * catalog.sensors[*catalog.sensor(spec.model_sensor)].dimensions};
    case SensorType::barometer:
      return type_of<BarometerReading>();
    case SensorType::magnetometer:
      return type_of<MagnetometerReading>();
    case SensorType::airspeed:
      return type_of<AirspeedReading>();
    case SensorType::optical_flow:
      return type_of<OpticalFlowReading>();
    case SensorType::lidar:
    case SensorType::camera:
      break;
  }
  return std::nullopt;
}

std::optional<PlainMore> plain_more(const SensorSpec& spec) {
  if (spec.type != SensorType::gps || !spec.gps.velocity) return std::nullopt;
  return PlainMore{"velocity", type_of<GpsVelocityReading>()};
}

void fill_plain_more(SensorType type, const Reading* reading, std::span<std::byte> value) {
  std::fill(value.begin(), value.end(), std::byte{});
  ENSURE(type == SensorType::gps, "only a GPS has more to say");
  if (reading != nullptr) fill_fixed<isochron_msgs::GpsVelocity>(*reading, value, 1);
}

void fill_plain(SensorType type, const Reading* reading, std::span<std::byte> value) {
  std::fill(value.begin(), value.end(), std::byte{});
  if (reading == nullptr) return;
  switch (type) {
    case SensorType::pose:
      return fill_fixed<geometry_msgs::PoseStamped>(*reading, value);
    case SensorType::imu:
      return fill_fixed<sensor_msgs::Imu>(*reading, value);
    case SensorType::gps:
      return fill_fixed<sensor_msgs::NavSatFix>(*reading, value);
    case SensorType::range:
      return fill_fixed<sensor_msgs::Range>(*reading, value);
    case SensorType::contact:
      return fill_fixed<isochron_msgs::ContactState>(*reading, value);
    case SensorType::joints:
      return fill_joints(*reading, value);
    case SensorType::model:
      return fill_values(*reading, value);
    case SensorType::barometer:
      return fill_barometer(*reading, value);
    case SensorType::magnetometer:
      return fill_fixed<sensor_msgs::MagneticField>(*reading, value);
    case SensorType::airspeed:
      return fill_fixed<isochron_msgs::Airspeed>(*reading, value);
    case SensorType::optical_flow:
      return fill_fixed<isochron_msgs::OpticalFlow>(*reading, value);
    case SensorType::lidar:
    case SensorType::camera:
      break;
  }
  ENSURE(false, "a picture or a scan has no plain value");
}

}  // namespace isochron::world
