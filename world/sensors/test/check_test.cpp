// What is wrong with a sensor is said before the run, with the place and a hint.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "world/sensors/test/sensor_helpers.hpp"

namespace isochron::world {
namespace {

using testing::HasSubstr;

Catalog humanoid() {
  ScriptedEngine engine;
  engine.add_fixed_body("torso", {});
  engine.add_fixed_body("left_foot", {});
  engine.add_joint("root", 7);
  engine.add_joint("knee");
  Catalog catalog = engine.catalog();
  catalog.sites.push_back({"imu_site", 1, {}});
  catalog.cameras.push_back({"head_camera", 1, {}, 0.8});
  catalog.sensors.push_back({"foot_force", 1});
  catalog.sensors.push_back({"torso/wind", 3});  // as an aircraft has it
  return catalog;
}

SensorSpec good(SensorType type) {
  auto spec = on_body(type, "torso", ms(10), "eye");
  spec.place = {"walk.yaml", 12, 7};
  return spec;
}

/// The one mistake in it, as the user reads it.
std::string mistake_in(const SensorSpec& spec) {
  const auto mistakes = check(spec, humanoid());
  EXPECT_EQ(mistakes.size(), 1U);
  return mistakes.empty() ? "" : to_string(mistakes[0]);
}

TEST(SensorCheck, FindsNothingWrongWithGoodOnes) {
  for (const std::string& name : sensor_type_names()) {
    SensorType type{};
    ASSERT_TRUE(sensor_type_from(name, type));
    EXPECT_EQ(to_string(type), name);
    auto spec = good(type);
    if (type == SensorType::model) spec.model_sensor = "foot_force";
    const auto mistakes = check(spec, humanoid());
    EXPECT_TRUE(mistakes.empty()) << name << ": " << to_string(mistakes[0]);
  }
  SensorType type{};
  EXPECT_FALSE(sensor_type_from("radar", type));
}

TEST(SensorCheck, NamesTheMissingBodyAndTheNearestOne) {
  auto spec = good(SensorType::lidar);
  spec.body = "torzo";
  EXPECT_EQ(mistake_in(spec), "walk.yaml:12:7: sensor `robot/eye`: there is no body `torzo`; did you mean `torso`?");
  spec.body = "propeller";
  EXPECT_THAT(mistake_in(spec), HasSubstr("known here: world torso left_foot"));
}

TEST(SensorCheck, NamesMissingSitesCamerasJointsAndModelSensors) {
  auto spec = good(SensorType::imu);
  spec.body.clear(), spec.site = "imu_sight";
  EXPECT_THAT(mistake_in(spec), HasSubstr("no site `imu_sight`; did you mean `imu_site`?"));
  spec = good(SensorType::camera);
  spec.body.clear(), spec.camera = "head";
  EXPECT_THAT(mistake_in(spec), HasSubstr("no camera `head`; known here: head_camera"));
  spec = good(SensorType::joints);
  spec.joints.joints = {"knees"};
  EXPECT_THAT(mistake_in(spec), HasSubstr("no joint `knees`; did you mean `knee`?"));
  spec.joints.joints = {"root"};
  EXPECT_THAT(mistake_in(spec), HasSubstr("neither a hinge nor a slide"));
  spec = good(SensorType::model);
  spec.model_sensor = "foot_torque";
  EXPECT_THAT(mistake_in(spec), HasSubstr("the model has no sensor `foot_torque`"));
}

TEST(SensorCheck, WantsExactlyOneMount) {
  auto spec = good(SensorType::pose);
  spec.body.clear();
  EXPECT_THAT(mistake_in(spec), HasSubstr("mounted nowhere"));
  spec.body = "torso", spec.site = "imu_site";
  EXPECT_THAT(mistake_in(spec), HasSubstr("mounted more than once"));
}

TEST(SensorCheck, RefusesNumbersThatMeanNothing) {
  auto spec = good(SensorType::imu);
  spec.imu.gyroscope.noise_density = NAN;
  EXPECT_THAT(mistake_in(spec), HasSubstr("noise_density must be a number"));
  spec = good(SensorType::imu);
  spec.period = SimSpan::zero();
  EXPECT_THAT(mistake_in(spec), HasSubstr("an IMU needs a period"));
  spec = good(SensorType::pose);
  spec.latency = -ms(1);
  EXPECT_THAT(mistake_in(spec), HasSubstr("latency is negative"));
  spec = good(SensorType::pose);
  spec.offset.orientation = {1, 1, 0, 0};
  EXPECT_THAT(mistake_in(spec), HasSubstr("unit length"));
  spec = good(SensorType::gps);
  spec.gps.latitude = 91;
  EXPECT_THAT(mistake_in(spec), HasSubstr("latitude"));
  spec = good(SensorType::range);
  spec.range.max = 0.01;
  EXPECT_THAT(mistake_in(spec), HasSubstr("max must be greater than min"));
  spec = good(SensorType::lidar);
  spec.lidar.format = LidarFormat::scan;
  EXPECT_THAT(mistake_in(spec), HasSubstr("a scan has one channel"));
  spec = good(SensorType::lidar);
  spec.lidar.drop_out = 1.5;
  EXPECT_THAT(mistake_in(spec), HasSubstr("drop_out"));
  spec = good(SensorType::camera);
  spec.picture.colour = false;
  EXPECT_THAT(mistake_in(spec), HasSubstr("neither colour, depth nor segmentation"));
  spec = good(SensorType::camera);
  spec.name = "a/b";
  EXPECT_THAT(mistake_in(spec), HasSubstr("`/`"));
}

TEST(SensorCheck, RefusesRingsThatNoMachineHolds) {
  auto spec = good(SensorType::camera);
  spec.period = std::chrono::microseconds(10), spec.latency = std::chrono::seconds(10);
  EXPECT_THAT(mistake_in(spec), HasSubstr("MB"));
}

TEST(SensorCheck, MakeSensorThrowsWithAllOfThem) {
  auto spec = good(SensorType::imu);
  spec.body = "nowhere", spec.latency = -ms(1), spec.imu.accelerometer.range = -3;
  try {
    make_sensor(spec, humanoid(), 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.mistakes().size(), 3U);
    EXPECT_EQ(error.mistakes()[0].place.line, 12);
  }
}

}  // namespace
}  // namespace isochron::world
