#include "run/stage.hpp"

namespace isochron {
namespace {

world::ImuOptions imu_options(const ImuSection& section) {
  return {section.gyroscope, section.accelerometer, section.orientation, section.orientation_noise};
}

world::SensorSpec sensor_spec(const std::string& robot, const RobotSection& owner, const std::string& name,
                              const SensorSection& s) {
  world::SensorSpec spec;
  spec.place = s.place;
  spec.robot = robot;
  spec.name = name;
  spec.type = s.type;
  spec.body = s.body;
  spec.site = s.site;
  spec.camera = s.camera;
  const bool needs_mount = s.type != world::SensorType::joints && s.type != world::SensorType::model;
  if (needs_mount && s.body.empty() && s.site.empty() && s.camera.empty())
    spec.body = owner.body.empty() ? robot : owner.body;
  spec.model_sensor = s.model_sensor;
  spec.frame = s.frame;
  spec.offset = {s.position, s.orientation};
  spec.period = s.every;
  spec.phase = s.phase;
  spec.latency = s.latency;
  spec.jitter = s.jitter;
  spec.acquire = s.acquire;
  spec.keep = s.keep;
  spec.pose = s.pose;
  spec.joints = s.joints;
  spec.contact = s.contact;
  spec.imu = imu_options(s.imu);
  spec.gps = s.gps;
  spec.range = s.range;
  spec.lidar = s.lidar;
  spec.picture = s.picture;
  spec.barometer = s.barometer;
  spec.magnetometer = s.magnetometer;
  spec.airspeed = s.airspeed;
  spec.optical_flow = s.optical_flow;
  return spec;
}

world::ActuatorSpec actuator_spec(const std::string& robot, const std::string& name, const ActuatorSection& s) {
  world::ActuatorSpec spec;
  spec.place = s.place;
  spec.robot = robot;
  spec.name = name;
  spec.actuator = s.actuator;
  spec.delay = s.delay;
  spec.low = s.low;
  spec.high = s.high;
  spec.rate = s.rate;
  spec.lag = s.lag;
  spec.resolution = s.resolution;
  spec.initial = s.initial;
  return spec;
}

}  // namespace

std::vector<world::SensorSpec> sensor_specs(const Scenario& scenario) {
  std::vector<world::SensorSpec> specs;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, sensor] : section.sensors) specs.push_back(sensor_spec(robot, section, name, sensor));
  }
  return specs;
}

std::vector<world::ActuatorSpec> actuator_specs(const Scenario& scenario) {
  std::vector<world::ActuatorSpec> specs;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, actuator] : section.actuators) specs.push_back(actuator_spec(robot, name, actuator));
  }
  return specs;
}

}  // namespace isochron
