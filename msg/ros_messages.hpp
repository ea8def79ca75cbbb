#pragma once
// What sensors say and where bodies are, in the layouts of ROS 2, so that Foxglove, PlotJuggler and a robot's own
// software read our records as they read a robot's. Each struct's fields and their order are those of the message it is
// named after. A robot program reads pictures and scans in these types; small readings are plain: sensor_types.hpp.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/message.hpp"

namespace isochron::std_msgs {

struct Header {
  SimTime stamp;
  std::string frame_id;
};
ISOCHRON_MESSAGE(Header, "std_msgs/msg/Header", stamp, frame_id)

}  // namespace isochron::std_msgs

namespace isochron::geometry_msgs {

struct Vector3 {
  double x = 0, y = 0, z = 0;
};
ISOCHRON_MESSAGE(Vector3, "geometry_msgs/msg/Vector3", x, y, z)

struct Point {
  double x = 0, y = 0, z = 0;
};
ISOCHRON_MESSAGE(Point, "geometry_msgs/msg/Point", x, y, z)

struct Quaternion {
  double x = 0, y = 0, z = 0, w = 1;
};
ISOCHRON_MESSAGE(Quaternion, "geometry_msgs/msg/Quaternion", x, y, z, w)

struct Pose {
  Point position;
  Quaternion orientation;
};
ISOCHRON_MESSAGE(Pose, "geometry_msgs/msg/Pose", position, orientation)

struct PoseStamped {
  std_msgs::Header header;
  Pose pose;
};
ISOCHRON_MESSAGE(PoseStamped, "geometry_msgs/msg/PoseStamped", header, pose)

struct Transform {
  Vector3 translation;
  Quaternion rotation;
};
ISOCHRON_MESSAGE(Transform, "geometry_msgs/msg/Transform", translation, rotation)

struct TransformStamped {
  std_msgs::Header header;
  std::string child_frame_id;
  Transform transform;
};
ISOCHRON_MESSAGE(TransformStamped, "geometry_msgs/msg/TransformStamped", header, child_frame_id, transform)

}  // namespace isochron::geometry_msgs

namespace isochron::tf2_msgs {

/// Where every body is, each under its own name, in the frame `world`.
struct TFMessage {
  std::vector<geometry_msgs::TransformStamped> transforms;
};
ISOCHRON_MESSAGE(TFMessage, "tf2_msgs/msg/TFMessage", transforms)

}  // namespace isochron::tf2_msgs

namespace isochron::sensor_msgs {

struct Imu {
  std_msgs::Header header;
  geometry_msgs::Quaternion orientation;
  std::array<double, 9> orientation_covariance{-1};  // -1: no orientation is measured
  geometry_msgs::Vector3 angular_velocity;
  std::array<double, 9> angular_velocity_covariance{};
  geometry_msgs::Vector3 linear_acceleration;
  std::array<double, 9> linear_acceleration_covariance{};
};
ISOCHRON_MESSAGE(Imu, "sensor_msgs/msg/Imu", header, orientation, orientation_covariance, angular_velocity,
                 angular_velocity_covariance, linear_acceleration, linear_acceleration_covariance)

struct NavSatStatus {
  std::int8_t status = 0;     // -1 no fix, 0 fix
  std::uint16_t service = 1;  // 1 GPS
};
ISOCHRON_MESSAGE(NavSatStatus, "sensor_msgs/msg/NavSatStatus", status, service)

struct NavSatFix {
  std_msgs::Header header;
  NavSatStatus status;
  double latitude = 0;                          // degrees
  double longitude = 0;                         // degrees
  double altitude = 0;                          // m above the ellipsoid
  std::array<double, 9> position_covariance{};  // m², east north up
  std::uint8_t position_covariance_type = 0;    // 0 unknown, 2 diagonal known
};
ISOCHRON_MESSAGE(NavSatFix, "sensor_msgs/msg/NavSatFix", header, status, latitude, longitude, altitude,
                 position_covariance, position_covariance_type)

struct FluidPressure {
  std_msgs::Header header;
  double fluid_pressure = 0;  // Pa
  double variance = 0;
};
ISOCHRON_MESSAGE(FluidPressure, "sensor_msgs/msg/FluidPressure", header, fluid_pressure, variance)

struct Temperature {
  std_msgs::Header header;
  double temperature = 0;  // °C
  double variance = 0;
};
ISOCHRON_MESSAGE(Temperature, "sensor_msgs/msg/Temperature", header, temperature, variance)

struct MagneticField {
  std_msgs::Header header;
  geometry_msgs::Vector3 magnetic_field;  // T
  std::array<double, 9> magnetic_field_covariance{};
};
ISOCHRON_MESSAGE(MagneticField, "sensor_msgs/msg/MagneticField", header, magnetic_field, magnetic_field_covariance)

struct Range {
  std_msgs::Header header;
  std::uint8_t radiation_type = 1;  // 0 ultrasound, 1 infrared
  float field_of_view = 0;
  float min_range = 0;
  float max_range = 0;
  float range = 0;  // -inf: nearer than min_range; +inf: nothing up to max_range
};
ISOCHRON_MESSAGE(Range, "sensor_msgs/msg/Range", header, radiation_type, field_of_view, min_range, max_range, range)

struct LaserScan {
  std_msgs::Header header;
  float angle_min = 0, angle_max = 0, angle_increment = 0;
  float time_increment = 0, scan_time = 0;
  float range_min = 0, range_max = 0;
  std::vector<float> ranges;
  std::vector<float> intensities;
};
ISOCHRON_MESSAGE(LaserScan, "sensor_msgs/msg/LaserScan", header, angle_min, angle_max, angle_increment, time_increment,
                 scan_time, range_min, range_max, ranges, intensities)

struct PointField {
  std::string name;
  std::uint32_t offset = 0;
  std::uint8_t datatype = 7;  // 4 uint16, 7 float32
  std::uint32_t count = 1;
};
ISOCHRON_MESSAGE(PointField, "sensor_msgs/msg/PointField", name, offset, datatype, count)

struct PointCloud2 {
  std_msgs::Header header;
  std::uint32_t height = 1;
  std::uint32_t width = 0;
  std::vector<PointField> fields;
  bool is_bigendian = false;
  std::uint32_t point_step = 0;
  std::uint32_t row_step = 0;
  std::vector<std::uint8_t> data;
  bool is_dense = false;
};
ISOCHRON_MESSAGE(PointCloud2, "sensor_msgs/msg/PointCloud2", header, height, width, fields, is_bigendian, point_step,
                 row_step, data, is_dense)

struct Image {
  std_msgs::Header header;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::string encoding;  // rgb8, 32FC1, mono16
  std::uint8_t is_bigendian = 0;
  std::uint32_t step = 0;  // bytes of a row
  std::vector<std::uint8_t> data;
};
ISOCHRON_MESSAGE(Image, "sensor_msgs/msg/Image", header, height, width, encoding, is_bigendian, step, data)

/// Hinges and slides; effort is left empty, as ROS allows.
struct JointState {
  std_msgs::Header header;
  std::vector<std::string> name;
  std::vector<double> position;
  std::vector<double> velocity;
  std::vector<double> effort;
};
ISOCHRON_MESSAGE(JointState, "sensor_msgs/msg/JointState", header, name, position, velocity, effort)

}  // namespace isochron::sensor_msgs

namespace isochron::isochron_msgs {

/// ROS has no message for touch; this one says what a bumper or a foot switch with a load cell would.
struct ContactState {
  std_msgs::Header header;
  bool touching = false;
  std::uint32_t contacts = 0;
  double force = 0;               // N, sum of the normal forces
  std::string other;              // the body on the other side of the strongest contact
  geometry_msgs::Point position;  // of the strongest contact, world frame
  geometry_msgs::Vector3 normal;  // towards the sensor's body, world frame
};
ISOCHRON_MESSAGE(ContactState, "isochron_msgs/msg/ContactState", header, touching, contacts, force, other, position,
                 normal)

/// What a satellite receiver says beside its fix.
struct GpsVelocity {
  std_msgs::Header header;
  std::int32_t satellites = 0;                  // used
  geometry_msgs::Vector3 velocity;              // m/s: east, north, up
  std::array<double, 9> velocity_covariance{};  // (m/s)²
  double horizontal_dilution = 0;
  double vertical_dilution = 0;
  double horizontal_accuracy = 0;  // m, one standard deviation
  double vertical_accuracy = 0;    // m
};
ISOCHRON_MESSAGE(GpsVelocity, "isochron_msgs/msg/GpsVelocity", header, satellites, velocity, velocity_covariance,
                 horizontal_dilution, vertical_dilution, horizontal_accuracy, vertical_accuracy)

/// A Pitot tube.
struct Airspeed {
  std_msgs::Header header;
  double airspeed = 0;               // m/s, as the pressure says at sea level
  double differential_pressure = 0;  // Pa
  double temperature = 0;            // °C
};
ISOCHRON_MESSAGE(Airspeed, "isochron_msgs/msg/Airspeed", header, airspeed, differential_pressure, temperature)

/// A camera that looks at the ground and says how its picture moved; see OpticalFlowReading.
struct OpticalFlow {
  std_msgs::Header header;
  std::array<double, 2> flow{};  // rad
  std::array<double, 3> gyro{};  // rad
  double integration_time = 0;   // s
  double distance = 0;           // m
  double quality = 0;            // 0 … 1
};
ISOCHRON_MESSAGE(OpticalFlow, "isochron_msgs/msg/OpticalFlow", header, flow, gyro, integration_time, distance, quality)

/// A sensor that the model itself declares.
struct Values {
  std_msgs::Header header;
  std::vector<double> values;
};
ISOCHRON_MESSAGE(Values, "isochron_msgs/msg/Values", header, values)

}  // namespace isochron::isochron_msgs
