#pragma once
// The part of a scenario's vocabulary that equips a robot: sensors and actuators. The fields are those of the world's
// own descriptions (world/sensors/spec.hpp, world/actuators/actuator.hpp); only their spelling is decided here.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "scenario/section.hpp"
#include "world/actuators/actuator.hpp"
#include "world/sensors/spec.hpp"

namespace isochron {

template <>
struct Words<world::SensorType> {
  static constexpr std::array<const char*, 13> list{"pose",         "joints",   "contact",     "imu",   "gps",
                                                    "range",        "lidar",    "camera",      "model", "barometer",
                                                    "magnetometer", "airspeed", "optical_flow"};
};
template <>
struct Words<world::MagneticSource> {
  static constexpr std::array<const char*, 2> list{"dipole", "wmm"};
};
template <>
struct Words<world::LidarFormat> {
  static constexpr std::array<const char*, 2> list{"cloud", "scan"};
};

/// A section around one of the world's option structs.
template <class Options>
struct OptionsSection : Section, Options {};

template <class V>
void describe(V& v, OptionsSection<world::PoseOptions>& s) {
  v.optional("position_noise", s.position_noise, "standard deviation on each axis, m");
  v.optional("orientation_noise", s.orientation_noise, "standard deviation about each axis, rad");
}
template <class V>
void describe(V& v, OptionsSection<world::JointsOptions>& s) {
  v.optional("joints", s.joints, "hinges and slides; all of the model if left out");
  v.optional("position_noise", s.position_noise, "standard deviation, rad or m");
  v.optional("velocity_noise", s.velocity_noise, "standard deviation, rad/s or m/s");
  v.optional("resolution", s.resolution, "of the position; 0 = none");
}
template <class V>
void describe(V& v, OptionsSection<world::ContactOptions>& s) {
  v.optional("threshold", s.threshold, "N; less is not felt");
}
template <class V>
void describe(V& v, OptionsSection<world::ImuAxis>& s) {
  v.optional("noise_density", s.noise_density, "rad/s/√Hz or m/s²/√Hz");
  v.optional("bias", s.bias, "standard deviation at switch-on");
  v.optional("bias_walk", s.bias_walk, "rad/s/√s or m/s²/√s");
  v.optional("range", s.range, "readings saturate here; 0 = unlimited");
  v.optional("resolution", s.resolution, "0 = none");
}
struct ImuSection : Section {
  OptionsSection<world::ImuAxis> gyroscope;
  OptionsSection<world::ImuAxis> accelerometer;
  bool orientation = false;
  double orientation_noise = 0;
};
template <class V>
void describe(V& v, ImuSection& s) {
  v.optional("gyroscope", s.gyroscope, "noise of the rates");
  v.optional("accelerometer", s.accelerometer, "noise of the specific force");
  v.optional("orientation", s.orientation, "whether an orientation is given, as an AHRS does");
  v.optional("orientation_noise", s.orientation_noise, "standard deviation about each axis, rad");
}
template <class V>
void describe(V& v, OptionsSection<world::GpsOptions>& s) {
  v.optional("latitude", s.latitude, "of the world's origin, degrees; x is east, y is north");
  v.optional("longitude", s.longitude, "degrees");
  v.optional("altitude", s.altitude, "above the ellipsoid, m");
  v.optional("horizontal_noise", s.horizontal_noise, "standard deviation under an open sky, m");
  v.optional("vertical_noise", s.vertical_noise, "m");
  v.optional("drift", s.drift, "standard deviation of a slow error, m");
  v.optional("drift_time", s.drift_time, "how slow it is");
  v.optional("mask", s.mask, "elevation below which no satellite is seen, rad");
  v.optional("satellites", s.satellites, "how many stand over the sky");
  v.optional("worst_dilution", s.worst_dilution, "times that of the open sky; beyond it the fix is lost");
  v.optional("sky", s.sky, "how far up something may stand in the way, m");
  v.optional("velocity", s.velocity, "gives velocity, satellites and accuracy, too, as NAME/velocity");
  v.optional("velocity_noise", s.velocity_noise, "standard deviation of each axis under an open sky, m/s");
}
template <class V>
void describe(V& v, OptionsSection<world::BarometerOptions>& s) {
  v.optional("altitude", s.altitude, "of the world's origin above mean sea level, m");
  v.optional("sea_level_pressure", s.sea_level_pressure, "of the day, Pa");
  v.optional("sea_level_temperature", s.sea_level_temperature, "of the day, °C");
  v.optional("noise", s.noise, "standard deviation, Pa");
  v.optional("drift", s.drift, "standard deviation of a slow error, Pa");
  v.optional("drift_time", s.drift_time, "how slow it is");
  v.optional("resolution", s.resolution, "Pa; 0 = none");
}
template <class V>
void describe(V& v, OptionsSection<world::MagnetometerOptions>& s) {
  v.optional("model", s.model, "dipole, or the World Magnetic Model by GeographicLib, which needs its data file");
  v.optional("latitude", s.latitude, "of the world's origin, degrees; x is east, y is north");
  v.optional("longitude", s.longitude, "degrees");
  v.optional("altitude", s.altitude, "above the ellipsoid, m");
  v.optional("year", s.year, "of model wmm, as in 2025.5");
  v.optional("data", s.data, "of model wmm: which one");
  v.optional("field", s.field, "instead: the field, east, north and up, T");
  v.optional("noise", s.noise, "standard deviation of each axis, T");
  v.optional("bias", s.bias, "standard deviation at switch-on, T: iron nearby");
}
template <class V>
void describe(V& v, OptionsSection<world::AirspeedOptions>& s) {
  v.optional("altitude", s.altitude, "of the world's origin above mean sea level, m");
  v.optional("noise", s.noise, "standard deviation, Pa");
  v.optional("bias", s.bias, "standard deviation at switch-on, Pa");
}
template <class V>
void describe(V& v, OptionsSection<world::OpticalFlowOptions>& s) {
  v.optional("min", s.min, "m; nearer is out of focus");
  v.optional("max", s.max, "m");
  v.optional("max_rate", s.max_rate, "rad/s; faster, and the pictures have nothing in common");
  v.optional("noise", s.noise, "standard deviation of each angle, rad");
}
template <class V>
void describe(V& v, OptionsSection<world::RangeOptions>& s) {
  v.optional("min", s.min, "m");
  v.optional("max", s.max, "m");
  v.optional("noise", s.noise, "standard deviation, m");
  v.optional("noise_per_metre", s.noise_per_metre, "added for each metre");
  v.optional("drop_out", s.drop_out, "probability that a reading is lost");
  v.optional("cone", s.cone, "full angle, rad; above 0 the nearest thing in it is measured");
}
template <class V>
void describe(V& v, OptionsSection<world::LidarOptions>& s) {
  v.optional("format", s.format, "PointCloud2, or LaserScan for one channel");
  v.optional("channels", s.channels, "beams above each other");
  v.optional("columns", s.columns, "beams around");
  v.optional("lowest", s.lowest, "elevation of the first channel, rad");
  v.optional("highest", s.highest, "elevation of the last channel, rad");
  v.optional("first", s.first, "azimuth, left is positive, rad");
  v.optional("last", s.last, "rad");
  v.optional("min", s.min, "m");
  v.optional("max", s.max, "m");
  v.optional("noise", s.noise, "standard deviation, m");
  v.optional("noise_per_metre", s.noise_per_metre, "added for each metre");
  v.optional("drop_out", s.drop_out, "probability that a beam is lost");
  v.optional("weak_range", s.weak_range, "how far a dark surface is seen, m; 0 = light is never too weak");
  v.optional("sectors", s.sectors, "1: the whole turn at once; n: it spins, in n looks");
}
template <class V>
void describe(V& v, OptionsSection<world::CameraOptions>& s) {
  v.optional("width", s.width, "pixels");
  v.optional("height", s.height, "pixels");
  v.optional("vertical_fov", s.vertical_fov, "rad; 0: that of the model's camera");
  v.optional("colour", s.colour, "give a picture");
  v.optional("depth", s.depth, "give distances");
  v.optional("segmentation", s.segmentation, "give which shape each pixel shows");
  v.optional("segment_bodies", s.segment_bodies, "or which body");
  v.optional("near", s.near, "m along the axis");
  v.optional("far", s.far, "m along the axis; what is beyond is sky");
  v.optional("sun", s.sun, "where it stands, world frame");
  v.optional("shadows", s.shadows, "of the sun");
  v.optional("noise", s.noise, "standard deviation of each colour value, of 255");
}

struct SensorSection : Section {
  world::SensorType type = world::SensorType::pose;
  std::string body, site, camera, model_sensor, frame;
  std::array<double, 3> position{};
  std::array<double, 4> orientation{1, 0, 0, 0};
  SimSpan every, phase, latency, jitter, acquire;
  SimSpan keep = world::SensorSpec{}.keep;
  OptionsSection<world::PoseOptions> pose;
  OptionsSection<world::JointsOptions> joints;
  OptionsSection<world::ContactOptions> contact;
  ImuSection imu;
  OptionsSection<world::GpsOptions> gps;
  OptionsSection<world::RangeOptions> range;
  OptionsSection<world::LidarOptions> lidar;
  OptionsSection<world::CameraOptions> picture;
  OptionsSection<world::BarometerOptions> barometer;
  OptionsSection<world::MagnetometerOptions> magnetometer;
  OptionsSection<world::AirspeedOptions> airspeed;
  OptionsSection<world::OpticalFlowOptions> optical_flow;
};
template <class V>
void describe(V& v, SensorSection& s) {
  v.required("type", s.type, "what it measures");
  v.optional("body", s.body, "the body that carries it; the robot's own if left out");
  v.optional("site", s.site, "or the model's site");
  v.optional("camera", s.camera, "or the model's camera");
  v.optional("model_sensor", s.model_sensor, "type model: the sensor's name in the model");
  v.optional("frame", s.frame, "frame_id of its messages; robot/name if left out");
  v.optional("position", s.position, "in the frame that carries it, m");
  v.optional("orientation", s.orientation, "w x y z");
  v.optional("every", s.every, "period; left out: it looks when asked");
  v.optional("phase", s.phase, "of the first sample");
  v.optional("latency", s.latency, "a reading is of the past by this much");
  v.optional("jitter", s.jitter, "and by up to this much more");
  v.optional("acquire", s.acquire, "how long whoever asks is kept waiting");
  v.optional("keep", s.keep, "how long a reading can still be had by a program that is behind");
  v.optional("pose", s.pose, "options of type pose");
  v.optional("joints", s.joints, "options of type joints");
  v.optional("contact", s.contact, "options of type contact");
  v.optional("imu", s.imu, "options of type imu");
  v.optional("gps", s.gps, "options of type gps");
  v.optional("range", s.range, "options of type range");
  v.optional("lidar", s.lidar, "options of type lidar");
  v.optional("picture", s.picture, "options of type camera");
  v.optional("barometer", s.barometer, "options of type barometer");
  v.optional("magnetometer", s.magnetometer, "options of type magnetometer");
  v.optional("airspeed", s.airspeed, "options of type airspeed");
  v.optional("optical_flow", s.optical_flow, "options of type optical_flow");
}

struct ActuatorSection : Section {
  std::string actuator;
  SimSpan delay, lag;
  double low = 0, high = 0, rate = 0, resolution = 0, initial = 0;
};
template <class V>
void describe(V& v, ActuatorSection& s) {
  v.optional("actuator", s.actuator, "its name in the model; this name, or robot/name, if left out");
  v.optional("delay", s.delay, "from command to effect");
  v.optional("low", s.low, "least value; as the model has it if low = high");
  v.optional("high", s.high, "greatest value");
  v.optional("rate", s.rate, "units per second; 0 = unlimited");
  v.optional("lag", s.lag, "time constant of a first-order lag");
  v.optional("resolution", s.resolution, "0 = none");
  v.optional("initial", s.initial, "before the first command");
}

}  // namespace isochron
