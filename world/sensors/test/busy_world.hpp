#pragma once
// A world with one noisy sensor of every kind, and the bytes of a whole run of it.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "world/sensors/sensor_set.hpp"
#include "world/sensors/test/sensor_helpers.hpp"

namespace isochron::world {

/// A robot that circles among things, with one sensor of every kind on it, all noisy.
inline ScriptedEngine busy_world() {
  ScriptedEngine engine;
  engine.add_body("robot", [](double s) {
    ScriptedEngine::State state;
    state.motion.pose = {{0.3 * s, 0.1 * s, 1}, {1, 0, 0, 0}};
    state.motion.linear = {0.3, 0.1, 0};
    state.motion.angular = {0.1, 0.2, 0.3};
    return state;
  });
  engine.add_shape("floor", 0, Shape::plane, {}, {}, {0.6F, 0.6F, 0.5F, 1});
  engine.add_shape("hull", 1, Shape::box, {0.2, 0.2, 0.1});
  engine.add_shape("wall", 0, Shape::box, {0.1, 5, 2}, {6, 0, 2}, {0.8F, 0.3F, 0.2F, 1});
  engine.add_shape("ball", 0, Shape::sphere, {0.7, 0, 0}, {3, 1, 0.7}, {0.2F, 0.3F, 0.9F, 1});
  engine.add_shape("pole", 0, Shape::cylinder, {0.1, 1.5, 0}, {2, -2, 1.5});
  engine.add_joint("hip");
  engine.add_joint("knee");
  engine.edit_positions() = {0.1, 0.2};
  engine.edit_velocities() = {1, 2};
  engine.edit_catalog().sensors.push_back({"built_in", 3});
  engine.edit_catalog().sensors.push_back({"robot/wind", 3});  // as an aircraft has it
  engine.edit_sensor() = {3, 4, 5};
  engine.edit_contacts().push_back({0, 1, {1, 2, 0}, {0, 0, 1}, 0.001, 12});
  return engine;
}

inline std::vector<SensorSpec> one_of_each() {
  std::vector<SensorSpec> specs;
  for (const std::string& name : sensor_type_names()) {
    SensorType type{};
    EXPECT_TRUE(sensor_type_from(name, type));
    auto spec = on_body(type, "robot", ms(20), name);
    if (type == SensorType::model) spec.model_sensor = "built_in";
    spec.jitter = ms(3);
    spec.pose = {0.01, 0.01};
    spec.joints.position_noise = 0.01;
    spec.imu.gyroscope = {0.001, 0.01, 0.001, 0, 0};
    spec.imu.accelerometer = {0.01, 0.1, 0.01, 0, 0};
    spec.gps.horizontal_noise = 1, spec.gps.vertical_noise = 2, spec.gps.drift = 1;
    spec.barometer.noise = 2, spec.barometer.drift = 5;
    spec.magnetometer.noise = 1e-7, spec.airspeed.noise = 1, spec.optical_flow.noise = 0.001;
    spec.range.noise = 0.02, spec.range.drop_out = 0.1;
    spec.lidar.noise = 0.02, spec.lidar.drop_out = 0.1, spec.lidar.columns = 40, spec.lidar.channels = 8;
    spec.lidar.sectors = 4;
    spec.picture.width = 40, spec.picture.height = 30, spec.picture.noise = 2;
    spec.picture.depth = spec.picture.segmentation = spec.picture.shadows = true;
    specs.push_back(spec);
  }
  return specs;
}

/// All bytes and times of each sensor by its name.
inline std::map<std::string, std::vector<std::byte>> run_all(const std::vector<SensorSpec>& specs, std::uint64_t seed) {
  ScriptedEngine engine = busy_world();
  Scene scene(engine.geometry());
  SensorSet sensors(specs, engine.catalog(), seed);
  std::map<std::string, std::vector<std::byte>> all;
  for (std::int64_t t = 0; t < 200; ++t) {
    engine.set_time(at_ms(t));
    sensors.take_before(at_ms(t + 1), WorldView(engine, &scene), [&](std::size_t i, const Reading& reading) {
      auto& bytes = all[sensors[i].spec().name];
      const std::int64_t available = reading.available().ns();
      const auto* raw = reinterpret_cast<const std::byte*>(&available);
      bytes.insert(bytes.end(), raw, raw + sizeof available);
      for (std::size_t k = 0; k < sensors[i].outputs().size(); ++k) {
        bytes.insert(bytes.end(), reading.bytes(k).begin(), reading.bytes(k).end());
      }
    });
  }
  return all;
}

}  // namespace isochron::world
