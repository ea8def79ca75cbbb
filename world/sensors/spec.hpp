#pragma once
// A sensor as a user describes it: plain data, filled by whoever reads the scenario, checked against the model before
// anything starts. Lengths in metres, angles in radians, unless a field says otherwise.
//
// Sensors look along +x of the frame they are mounted in, z up (ROS's convention); a camera mounted on a model's camera
// looks where that one looks.
//
//        period             latency + jitter
//     |<-------->|      |<------------------->|
//   --o----------o------o----------o----------x------->  simulated time
//     sample     sample sample                readings become available: of the world at t − latency − jitter

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/input_error.hpp"
#include "core/time.hpp"
#include "world/engine.hpp"

namespace isochron::world {

enum class SensorType : std::uint8_t {
  pose,
  joints,
  contact,
  imu,
  gps,
  range,
  lidar,
  camera,
  model,
  barometer,
  magnetometer,
  airspeed,
  optical_flow
};

/// "imu" and the like; the other way round gives false if there is no such type.
const char* to_string(SensorType type);
bool sensor_type_from(std::string_view text, SensorType& type);
/// All of them, in the order above; for messages.
std::vector<std::string> sensor_type_names();

struct PoseOptions {
  double position_noise = 0;     // standard deviation of each axis
  double orientation_noise = 0;  // of a rotation about each axis
};

struct JointsOptions {
  std::vector<std::string> joints;  // hinges and slides; empty: all of the model
  double position_noise = 0;
  double velocity_noise = 0;
  double resolution = 0;  // of the position; 0 = none
};

struct ContactOptions {
  double threshold = 0;  // N; less is not felt
};

/// As data sheets have it: white noise by density, a bias that wanders.
struct ImuAxis {
  double noise_density = 0;  // rad/s/√Hz, m/s²/√Hz
  double bias = 0;           // standard deviation at switch-on
  double bias_walk = 0;      // rad/s/√s, m/s²/√s
  double range = 0;          // readings saturate at ±range; 0 = unlimited
  double resolution = 0;
};
struct ImuOptions {
  ImuAxis gyroscope;
  ImuAxis accelerometer;
  bool orientation = false;      // whether an orientation is given (as an AHRS does)
  double orientation_noise = 0;  // its standard deviation about each axis
};

struct GpsOptions {
  double latitude = 0;          // of the world's origin, degrees; x is east, y is north
  double longitude = 0;         // degrees
  double altitude = 0;          // above the ellipsoid
  double horizontal_noise = 0;  // standard deviations under an open sky; they grow with the dilution of precision
  double vertical_noise = 0;
  double drift = 0;  // standard deviation of a slow error in each axis, under an open sky
  SimSpan drift_time = std::chrono::seconds(60);
  std::uint32_t satellites = 24;  // in fixed places over the sky
  double mask = 0.17;             // elevation below which none is seen
  double worst_dilution = 20;     // times that of the open sky; beyond it the fix is lost
  double sky = 1000;              // how far up something may stand in the way
  bool velocity = false;          // gives velocity, satellites and accuracy, too, as a second output
  double velocity_noise = 0;      // standard deviation of each axis under an open sky
};

struct BarometerOptions {
  double altitude = 0;                 // of the world's origin above mean sea level
  double sea_level_pressure = 101325;  // Pa, of the day
  double sea_level_temperature = 15;   // °C, of the day
  double noise = 0;                    // standard deviation, Pa
  double drift = 0;                    // standard deviation of a slow error, Pa
  SimSpan drift_time = std::chrono::seconds(600);
  double resolution = 0;  // Pa
};

enum class MagneticSource : std::uint8_t { dipole, wmm };
struct MagnetometerOptions {
  MagneticSource model = MagneticSource::dipole;
  double latitude = 0;           // of the world's origin, degrees; x is east, y is north
  double longitude = 0;          // degrees
  double altitude = 0;           // above the ellipsoid
  double year = 2025;            // wmm: the field wanders
  std::string data = "wmm2020";  // wmm: GeographicLib's name of the model
  std::optional<Vec3> field;     // instead of both: east, north, up, T
  double noise = 0;              // standard deviation of each axis, T
  double bias = 0;               // standard deviation at switch-on, T
};

struct AirspeedOptions {
  double altitude = 0;  // of the world's origin above mean sea level
  double noise = 0;     // standard deviation, Pa
  double bias = 0;      // standard deviation at switch-on, Pa
};

struct OpticalFlowOptions {
  double min = 0.08;      // m
  double max = 30;        // m
  double max_rate = 7.4;  // rad/s of flow; beyond, the pictures have nothing in common
  double noise = 0;       // standard deviation of each angle, rad
};

struct RangeOptions {
  double min = 0.05;
  double max = 10;
  double noise = 0;            // standard deviation
  double noise_per_metre = 0;  // added for each metre
  double drop_out = 0;         // probability that a reading is lost
  double cone = 0;             // full angle; above 0 the nearest thing in the cone is measured (ultrasound)
};

enum class LidarFormat : std::uint8_t { cloud, scan };
struct LidarOptions {
  LidarFormat format = LidarFormat::cloud;  // PointCloud2, or LaserScan (one channel)
  std::uint32_t channels = 16;
  std::uint32_t columns = 360;
  double lowest = -0.26;  // elevation of the first and the last channel
  double highest = 0.26;
  double first = -3.14159265358979;  // azimuth, left is positive; columns are spread over [first, last)
  double last = 3.14159265358979;
  double min = 0.1;
  double max = 100;
  double noise = 0;
  double noise_per_metre = 0;
  double drop_out = 0;        // probability that a beam is lost
  double weak_range = 0;      // how far a surface of reflectivity 0.1 is seen head-on; 0: light is never too weak
  std::uint32_t sectors = 1;  // 1: the whole turn at one instant; n: it spins, in n instants spread over the period
};

struct CameraOptions {
  std::uint32_t width = 320;
  std::uint32_t height = 240;
  double vertical_fov = 0;  // 0: that of the model's camera, or 0.8
  bool colour = true;
  bool depth = false;
  bool segmentation = false;    // 0: sky; else 1 + index of the geometry
  bool segment_bodies = false;  // 1 + index of the body instead
  bool shadows = false;         // of the sun; a second ray for each pixel
  double near = 0.01;
  double far = 1000;
  double noise = 0;           // standard deviation of each colour value, of 255
  Vec3 sun{0.35, 0.25, 0.9};  // where it stands
};

struct SensorSpec {
  Place place;  // where it was declared, for messages
  std::string robot;
  std::string name;
  SensorType type = SensorType::pose;
  // Where it is mounted: one of these, and a pose in that frame.
  std::string body;
  std::string site;
  std::string camera;
  Pose offset;
  std::string model_sensor;  // type model: the sensor's name in the model
  std::string frame;         // frame_id; empty: robot/name

  SimSpan period;                                 // zero: sampled when asked only
  SimSpan phase;                                  // of the first sample
  SimSpan latency;                                // a reading is available that much after its sample
  SimSpan jitter;                                 // and up to that much more
  SimSpan acquire;                                // how long whoever asks is kept waiting
  SimSpan keep = std::chrono::milliseconds(100);  // how long readings can still be asked for after newer ones came

  PoseOptions pose;
  JointsOptions joints;
  ContactOptions contact;
  ImuOptions imu;
  GpsOptions gps;
  RangeOptions range;
  LidarOptions lidar;
  CameraOptions picture;
  BarometerOptions barometer;
  MagnetometerOptions magnetometer;
  AirspeedOptions airspeed;
  OpticalFlowOptions optical_flow;
};

/// Every mistake in it, each with the sensor's place and name; empty: make_sensor() will work.
std::vector<Mistake> check(const SensorSpec& spec, const Catalog& catalog);

}  // namespace isochron::world
