// Sensors on the real engine: physics gives the truth that they must read.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "world/actuators/actuator.hpp"
#include "world/sensors/sensor_set.hpp"
#include "world/sensors/test/sensor_helpers.hpp"
#include "world/test/scratch_model.hpp"

namespace isochron::world {
namespace {

const char* const yard = R"(<mujoco>
  <option timestep="0.002" integrator="RK4"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom name="wall" type="box" size=".1 5 2" pos="8 0 2" rgba=".8 .8 .8 1"/>
    <body name="falling" pos="0 3 50"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body name="resting" pos="0 0 0.1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
      <site name="nose" pos=".1 0 .05"/>
      <camera name="eye" pos=".2 0 0.3" xyaxes="0 -1 0 0 0 1" fovy="45"/></body>
    <body name="arm" pos="0 -3 1"><joint name="spin" type="hinge" axis="0 0 1"/>
      <geom type="capsule" fromto="0 0 0 1 0 0" size=".03" mass="1"/><site name="tip" pos="1 0 0"/></body>
  </worldbody>
  <actuator><motor name="spin" joint="spin" ctrllimited="true" ctrlrange="-2 2"/></actuator>
  <sensor><jointpos name="angle" joint="spin"/></sensor>
</mujoco>)";

/// The yard with sensors on it, stepped for a while; what each read last.
class Yard {
 public:
  explicit Yard(const std::vector<SensorSpec>& specs)
      : model_(yard),
        engine_(load_engine("mujoco", model_.path())),
        scene_(engine_->geometry()),
        sensors_(specs, engine_->catalog(), 1),
        last_(specs.size()) {}

  void run(SimSpan span, double torque = 0) {
    const SimTime end = engine_->time() + span;
    while (engine_->time() < end) {
      engine_->set_control(0, torque);
      ASSERT_TRUE(engine_->step(ms(2)).ok());
      sensors_.take_before(engine_->time() + ms(2), WorldView(*engine_, &scene_),
                           [&](std::size_t i, const Reading& reading) {
                             last_[i] = &reading;
                             for (const std::byte b : reading.bytes()) {
                               digest_ = (digest_ ^ static_cast<std::uint64_t>(b)) * 1099511628211U;
                             }
                           });
    }
  }
  template <Message M>
  M last(std::size_t i) {
    return decoded<M>(*last_[i]);
  }
  Engine& engine() { return *engine_; }
  std::uint64_t digest() const { return digest_; }

 private:
  ScratchModel model_;
  std::unique_ptr<Engine> engine_;
  Scene scene_;
  SensorSet sensors_;
  std::vector<const Reading*> last_;
  std::uint64_t digest_ = 14695981039346656037U;
};

SensorSpec on_site(SensorType type, const std::string& site) {
  auto spec = on_body(type, "", ms(2), site);
  spec.phase = ms(2), spec.site = site;
  return spec;
}

TEST(SensorsOnMujoco, ImuFeelsTheFloorAndNothingInTheAir) {
  auto falling = on_body(SensorType::imu, "falling", ms(2), "falling");
  falling.phase = ms(2);
  Yard world({on_site(SensorType::imu, "nose"), falling});
  world.run(ms(600));
  const auto resting = world.last<sensor_msgs::Imu>(0);
  EXPECT_NEAR(resting.linear_acceleration.z, 9.81, 0.02);
  EXPECT_NEAR(resting.linear_acceleration.x, 0, 0.02);
  const auto in_air = world.last<sensor_msgs::Imu>(1);
  EXPECT_NEAR(in_air.linear_acceleration.z, 0, 1e-9);
}

TEST(SensorsOnMujoco, ImuAtTheTipOfATurningArm) {
  auto joints = on_body(SensorType::joints, "", ms(2), "joints");
  joints.phase = ms(2);
  joints.joints.joints = {"spin"};
  Yard world({on_site(SensorType::imu, "tip"), joints});
  world.run(ms(500), 0.5);
  const auto imu = world.last<sensor_msgs::Imu>(0);
  const double w = world.last<sensor_msgs::JointState>(1).velocity[0];
  EXPECT_GT(w, 0.5);
  EXPECT_NEAR(imu.angular_velocity.z, w, 1e-9);
  EXPECT_NEAR(imu.linear_acceleration.x / -(w * w), 1, 0.02) << "towards the axis";
  EXPECT_NEAR(imu.linear_acceleration.z, 9.81, 1e-6);
  EXPECT_GT(imu.linear_acceleration.y, 0.1) << "it is being accelerated";
}

TEST(SensorsOnMujoco, RangeAndDepthAgreeOnTheWall) {
  auto range = on_site(SensorType::range, "nose");
  auto camera = on_body(SensorType::camera, "", ms(100), "eye");
  camera.camera = "eye", camera.phase = ms(2), camera.picture.depth = true, camera.picture.colour = false;
  camera.picture.width = 65, camera.picture.height = 49;
  Yard world({range, camera});
  world.run(ms(300));
  const double x = world.engine().motion(*world.engine().catalog().body("resting")).pose.position[0];
  EXPECT_NEAR(world.last<sensor_msgs::Range>(0).range, 7.9 - 0.1 - x, 1e-3);
  const auto depth = world.last<sensor_msgs::Image>(1);
  float centre = 0;
  std::memcpy(&centre, &depth.data[24 * depth.step + 32 * 4], 4);
  EXPECT_NEAR(centre, 7.9 - 0.2 - x, 1e-2);
}

TEST(SensorsOnMujoco, ContactSensorCarriesTheWeight) {
  auto spec = on_body(SensorType::contact, "resting", ms(2));
  spec.phase = ms(2);
  Yard world({spec});
  world.run(ms(1000));
  const auto contact = world.last<isochron_msgs::ContactState>(0);
  EXPECT_TRUE(contact.touching);
  EXPECT_EQ(contact.other, "world");
  EXPECT_NEAR(contact.force, 9.81, 0.1);
  EXPECT_NEAR(contact.normal.z, 1, 1e-3);
}

TEST(SensorsOnMujoco, RunsRepeatBitForBit) {
  auto lidar = on_site(SensorType::lidar, "nose");
  lidar.period = ms(50), lidar.lidar.columns = 90, lidar.lidar.noise = 0.01, lidar.lidar.sectors = 5;
  auto imu = on_site(SensorType::imu, "tip");
  imu.imu.gyroscope.noise_density = 0.01;
  Yard first({lidar, imu}), second({lidar, imu});
  first.run(ms(400), 1), second.run(ms(400), 1);
  EXPECT_EQ(first.digest(), second.digest());
}

TEST(SensorsOnMujoco, ADelayedActuatorDrivesTheJoint) {
  ScratchModel model(yard);
  const auto engine = load_engine("mujoco", model.path());
  ActuatorSpec spec;
  spec.name = "spin", spec.delay = ms(100);
  Actuator actuator(spec, engine->catalog().actuators);
  ASSERT_TRUE(actuator.command(engine->time(), 50).ok());
  const std::uint32_t velocity = engine->catalog().joints[*engine->catalog().joint("spin")].velocity_at;
  for (int i = 0; i < 100; ++i) {
    actuator.drive(*engine, engine->time());
    EXPECT_EQ(engine->control(0), engine->time() < at_ms(100) ? 0 : 2) << "the model's limit is 2";
    ASSERT_TRUE(engine->step(ms(2)).ok());
    EXPECT_EQ(std::abs(engine->velocities()[velocity]) > 1e-9, engine->time() > at_ms(100));
  }
}

}  // namespace
}  // namespace isochron::world
