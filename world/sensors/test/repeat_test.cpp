// The same seed gives the same bytes; other sensors change nothing.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "world/sensors/sensor_set.hpp"
#include "world/sensors/test/sensor_helpers.hpp"

namespace isochron::world {
namespace {

/// A robot that circles among things, with one sensor of every kind on it, all noisy.
ScriptedEngine busy_world() {
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
  engine.edit_catalog().sensors.push_back({"built_in", 2});
  engine.edit_sensor() = {3, 4};
  engine.edit_contacts().push_back({0, 1, {1, 2, 0}, {0, 0, 1}, 0.001, 12});
  return engine;
}

std::vector<SensorSpec> one_of_each() {
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
std::map<std::string, std::vector<std::byte>> run_all(const std::vector<SensorSpec>& specs, std::uint64_t seed) {
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

TEST(Sensors, OfEveryKindRepeatBitForBit) {
  const auto first = run_all(one_of_each(), 5), second = run_all(one_of_each(), 5);
  ASSERT_EQ(first.size(), sensor_type_names().size());
  for (const auto& [name, bytes] : first) {
    EXPECT_GT(bytes.size(), 500U) << name;
    EXPECT_TRUE(bytes == second.at(name)) << name;
  }
}

TEST(Sensors, OfEveryKindDependOnTheSeed) {
  const auto first = run_all(one_of_each(), 5), second = run_all(one_of_each(), 6);
  for (const auto& [name, bytes] : first) EXPECT_FALSE(bytes == second.at(name)) << name;
}

TEST(Sensors, AddingOneChangesNoOther) {
  const auto specs = one_of_each();
  const auto all = run_all(specs, 5);
  for (const SensorSpec& spec : specs) {
    const auto alone = run_all({spec}, 5);
    EXPECT_TRUE(alone.at(spec.name) == all.at(spec.name)) << spec.name;
  }
  auto more = specs;
  for (const SensorSpec& spec : specs) more.insert(more.begin(), spec)->name = "other_" + spec.name;
  const auto twice = run_all(more, 5);
  for (const auto& [name, bytes] : all) {
    EXPECT_TRUE(bytes == twice.at(name)) << name;
    EXPECT_FALSE(bytes == twice.at("other_" + name)) << name << " and its twin share their noise";
  }
}

TEST(Sensors, AnObstacleInOneBeamChangesNoOthersNoise) {
  const auto ranges = [](bool obstacle) {
    ScriptedEngine engine;
    engine.add_fixed_body("robot", {0, 0, 1});
    engine.add_shape("room", 0, Shape::box, {5, 5, 5});
    if (obstacle) engine.add_shape("pole", 0, Shape::cylinder, {0.1, 2, 0}, {2, 0, 1});
    Scene scene(engine.geometry());
    auto spec = on_body(SensorType::lidar, "robot", ms(100));
    spec.lidar.format = LidarFormat::scan, spec.lidar.channels = 1, spec.lidar.lowest = spec.lidar.highest = 0;
    spec.lidar.noise = 0.05;
    return messages_of<sensor_msgs::LaserScan>(engine, &scene, spec, at_ms(100))[1].ranges;
  };
  const auto without = ranges(false), with = ranges(true);
  int changed = 0;
  for (std::size_t i = 0; i < with.size(); ++i) changed += with[i] != without[i];
  EXPECT_GT(changed, 0);
  EXPECT_LT(changed, 10) << "only the beams that meet the pole";
}

TEST(Sensors, TellTheirMessagesAndSchemas) {
  ScriptedEngine engine = busy_world();
  const std::map<std::string, std::string> expected{
      {"pose", "geometry_msgs/msg/PoseStamped"},     {"joints", "sensor_msgs/msg/JointState"},
      {"contact", "isochron_msgs/msg/ContactState"}, {"imu", "sensor_msgs/msg/Imu"},
      {"gps", "sensor_msgs/msg/NavSatFix"},          {"range", "sensor_msgs/msg/Range"},
      {"lidar", "sensor_msgs/msg/PointCloud2"},      {"camera", "sensor_msgs/msg/Image"},
      {"model", "isochron_msgs/msg/Values"}};
  for (const SensorSpec& spec : one_of_each()) {
    const auto sensor = make_sensor(spec, engine.catalog(), 1);
    EXPECT_EQ(sensor->outputs()[0].message_name, expected.at(spec.name));
    EXPECT_NE(sensor->outputs()[0].schema.find("std_msgs/Header header"), std::string::npos);
  }
}

}  // namespace
}  // namespace isochron::world
