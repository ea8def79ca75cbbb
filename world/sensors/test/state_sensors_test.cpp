// Pose, joints, contact and the model's own sensors; and the numbers that have the same bits everywhere.

#include <gtest/gtest.h>

#include <cmath>

#include "world/sensors/repeatable.hpp"
#include "world/sensors/test/sensor_helpers.hpp"

namespace isochron::world {
namespace {

TEST(PoseSensor, IsWhereItsMountIs) {
  ScriptedEngine engine;
  const double h = std::sqrt(0.5);
  engine.add_body("robot", [h](double) {
    return ScriptedEngine::State{{{{1, 2, 3}, {h, 0, 0, h}}, {}, {}}, {}, {}};  // its x is the world's y
  });
  engine.edit_catalog().sites.push_back({"nose", 1, {{0.5, 0, 0}, {1, 0, 0, 0}}});
  auto spec = on_body(SensorType::pose, "", ms(10));
  spec.site = "nose";
  const auto message = messages_of<geometry_msgs::PoseStamped>(engine, nullptr, spec, SimTime::zero())[0];
  EXPECT_NEAR(message.pose.position.x, 1, 1e-12);
  EXPECT_NEAR(message.pose.position.y, 2.5, 1e-12);
  EXPECT_NEAR(message.pose.orientation.z, h, 1e-12);
  EXPECT_EQ(message.header.frame_id, "world");
}

TEST(PoseSensor, NoiseHasItsDeviationAndOrientationsStayOfUnitLength) {
  ScriptedEngine engine;
  engine.add_fixed_body("robot", {1, 2, 3});
  auto spec = on_body(SensorType::pose, "robot", ms(1));
  spec.pose = {0.05, 0.02};
  double squares = 0, turns = 0;
  const auto all = messages_of<geometry_msgs::PoseStamped>(engine, nullptr, spec, at_ms(3999));
  for (const auto& message : all) {
    const auto& q = message.pose.orientation;
    squares += std::pow(message.pose.position.y - 2, 2) / 4000;
    turns += 4 * q.y * q.y / 4000;
    ASSERT_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-12);
  }
  EXPECT_NEAR(std::sqrt(squares), 0.05, 0.003);
  EXPECT_NEAR(std::sqrt(turns), 0.02, 0.0015);
}

TEST(JointsSensor, GivesHingesAndSlidesInOrder) {
  ScriptedEngine engine;
  engine.add_joint("root", 7);
  engine.add_joint("hip");
  engine.add_joint("knee");
  engine.edit_positions() = {0, 0, 0, 1, 0, 0, 0, 0.123, 0.456};
  engine.edit_velocities() = {0, 0, 0, 0, 0, 0, 1.5, 2.5};
  auto spec = on_body(SensorType::joints, "", ms(10));
  auto state = messages_of<sensor_msgs::JointState>(engine, nullptr, spec, SimTime::zero())[0];
  EXPECT_EQ(state.name, (std::vector<std::string>{"hip", "knee"}));
  EXPECT_EQ(state.position, (std::vector<double>{0.123, 0.456}));
  EXPECT_EQ(state.velocity, (std::vector<double>{1.5, 2.5}));
  spec.joints.joints = {"knee"};
  spec.joints.resolution = 0.01;
  state = messages_of<sensor_msgs::JointState>(engine, nullptr, spec, SimTime::zero())[0];
  ASSERT_EQ(state.position.size(), 1U);
  EXPECT_NEAR(state.position[0], 0.46, 1e-15);
}

TEST(ContactSensor, SaysWhatItsBodyTouchesAndHowHard) {
  ScriptedEngine engine;
  engine.add_fixed_body("foot", {});
  engine.add_fixed_body("a body with quite a long name", {});
  engine.add_shape("floor", 0, Shape::plane, {});
  engine.add_shape("sole", 1, Shape::box, {1, 1, 1});
  engine.add_shape("thing", 2, Shape::box, {1, 1, 1});
  auto spec = on_body(SensorType::contact, "foot", ms(10));
  spec.contact.threshold = 20;
  const auto reading = [&] {
    return messages_of<isochron_msgs::ContactState>(engine, nullptr, spec, SimTime::zero())[0];
  };
  EXPECT_FALSE(reading().touching);
  engine.edit_contacts() = {{0, 1, {0, 0, 0}, {0, 0, 1}, 0.01, 15}, {0, 2, {9, 9, 9}, {0, 0, 1}, 0.01, 500}};
  EXPECT_FALSE(reading().touching) << "15 N are not felt, and the rest is not ours";
  EXPECT_EQ(reading().contacts, 1U);
  EXPECT_EQ(reading().other, "world");
  engine.edit_contacts().push_back({1, 2, {1, 0, 0}, {1, 0, 0}, 0.01, 30});
  const auto state = reading();
  EXPECT_TRUE(state.touching);
  EXPECT_EQ(state.contacts, 2U);
  EXPECT_DOUBLE_EQ(state.force, 45);
  EXPECT_EQ(state.other, "a body with quite a long name");
  EXPECT_DOUBLE_EQ(state.normal.x, -1) << "towards the foot";
}

TEST(ModelSensor, PassesOnWhatTheEngineMeasures) {
  ScriptedEngine engine;
  engine.edit_catalog().sensors.push_back({"force", 3});
  engine.edit_sensor() = {1, 2, 3};
  auto spec = on_body(SensorType::model, "", ms(10));
  spec.model_sensor = "force";
  EXPECT_EQ(messages_of<isochron_msgs::Values>(engine, nullptr, spec, SimTime::zero())[0].values,
            (std::vector<double>{1, 2, 3}));
}

TEST(Repeatable, AgreesWithTheTrueFunctions) {
  double worst = 0, worst_exp = 0;
  for (int i = -20'000; i <= 20'000; ++i) {
    const double x = i * 0.00137;
    const SinCos sc = repeatable_sincos(x);
    worst = std::max({worst, std::abs(sc.sin - std::sin(x)), std::abs(sc.cos - std::cos(x))});
    worst_exp = std::max(worst_exp, std::abs(repeatable_exp(x) / std::exp(x) - 1));
  }
  EXPECT_LT(worst, 4e-16);
  EXPECT_LT(worst_exp, 1e-15);
  EXPECT_NEAR(repeatable_sincos(9000.5).sin, std::sin(9000.5), 4e-16);
  EXPECT_EQ(repeatable_exp(0), 1);
  EXPECT_EQ(repeatable_exp(-1000), 0);
}

TEST(Repeatable, HasTheseVeryBits) {
  EXPECT_EQ(repeatable_sincos(1.0).sin, 0x1.aed548f090ceep-1);
  EXPECT_EQ(repeatable_exp(1.0), 0x1.5bf0a8b14576ap+1);
}

}  // namespace
}  // namespace isochron::world
