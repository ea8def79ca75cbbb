// The same seed gives the same bytes; other sensors change nothing.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "world/sensors/test/busy_world.hpp"
#include "world/sensors/test/sensor_helpers.hpp"

namespace isochron::world {
namespace {

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
  const std::map<std::string, std::string> expected{{"pose", "geometry_msgs/msg/PoseStamped"},
                                                    {"joints", "sensor_msgs/msg/JointState"},
                                                    {"contact", "isochron_msgs/msg/ContactState"},
                                                    {"imu", "sensor_msgs/msg/Imu"},
                                                    {"gps", "sensor_msgs/msg/NavSatFix"},
                                                    {"range", "sensor_msgs/msg/Range"},
                                                    {"lidar", "sensor_msgs/msg/PointCloud2"},
                                                    {"camera", "sensor_msgs/msg/Image"},
                                                    {"model", "isochron_msgs/msg/Values"},
                                                    {"barometer", "sensor_msgs/msg/FluidPressure"},
                                                    {"magnetometer", "sensor_msgs/msg/MagneticField"},
                                                    {"airspeed", "isochron_msgs/msg/Airspeed"},
                                                    {"optical_flow", "isochron_msgs/msg/OpticalFlow"}};
  for (const SensorSpec& spec : one_of_each()) {
    const auto sensor = make_sensor(spec, engine.catalog(), 1);
    EXPECT_EQ(sensor->outputs()[0].message_name, expected.at(spec.name));
    EXPECT_NE(sensor->outputs()[0].schema.find("std_msgs/Header header"), std::string::npos);
  }
}

}  // namespace
}  // namespace isochron::world
