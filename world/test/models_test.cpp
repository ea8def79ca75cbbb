// Our own models do what they were made for.
#include <gtest/gtest.h>

#include <cmath>

#include "world/vehicle/car.hpp"
#include "world/vehicle/driver.hpp"
#include "world/world.hpp"

namespace isochron::world {
namespace {

using namespace std::chrono_literals;
constexpr SimTime at(SimSpan span) { return SimTime::zero() + span; }

std::unique_ptr<Engine> load(const char* name) {
  return load_engine("mujoco", std::string(ISOCHRON_MODELS "/") + name);
}

/// Holds the posture that the humanoid begins in, joint by joint.
class Posture {
 public:
  explicit Posture(World& world) : world_(world), state_(world.make_state()) {
    for (const ActuatorInfo& info : world.actuators()) {
      const JointInfo& joint = world.catalog().joints[world.joint(info.name)];
      const bool leg = info.name.find("hip") != std::string::npos || info.name.find("knee") != std::string::npos ||
                       info.name.find("ankle") != std::string::npos || info.name.starts_with("back");
      motors_.push_back({joint.position_at, joint.velocity_at, state_.positions[joint.position_at],
                         leg ? 1500.0 : 100.0, leg ? 60.0 : 5.0});
    }
  }
  void hold() {
    world_.read(state_);
    for (std::uint32_t i = 0; i < motors_.size(); ++i) {
      const Motor& m = motors_[i];
      ASSERT_TRUE(world_.command(i, m.kp * (m.wanted - state_.positions[m.q]) - m.kd * state_.velocities[m.v]).ok());
    }
  }

 private:
  struct Motor {
    std::uint32_t q, v;
    double wanted, kp, kd;
  };
  World& world_;
  State state_;
  std::vector<Motor> motors_;
};

TEST(Humanoid, HasTwentyEightActuatedJointsAndAnAdultsWeight) {
  const auto engine = load("humanoid28.xml");
  EXPECT_EQ(engine->catalog().actuators.size(), 28U);
  double mass = 0;
  for (const double m : engine->catalog().masses) mass += m;
  EXPECT_GT(mass, 80);
  EXPECT_LT(mass, 110);
}

TEST(Humanoid, StandsUnderAPostureController) {
  World world(load("humanoid28.xml"));
  Posture posture(world);
  const auto pelvis = world.body("pelvis");
  const double start = world.engine().motion(pelvis).pose.position[2];
  while (world.time() < at(3s)) {
    posture.hold();
    ASSERT_TRUE(world.advance_to(world.time() + world.step()).ok());
  }
  const Motion now = world.engine().motion(pelvis);
  EXPECT_NEAR(now.pose.position[2], start, 0.05);
  EXPECT_GT(rotate(now.pose.orientation, {0, 0, 1})[2], 0.99);
  EXPECT_LT(length(now.linear), 0.05);
}

TEST(Humanoid, FallsWithoutOne) {
  World world(load("humanoid28.xml"));
  ASSERT_TRUE(world.advance_to(at(2s)).ok());
  EXPECT_LT(world.engine().motion(world.body("pelvis")).pose.position[2], 0.5);
}

TEST(Uav, IsAFreeBodyWithNothingThatDrivesIt) {
  World world(load("uav.xml"));
  const auto uav = world.body("uav");
  EXPECT_NEAR(world.catalog().masses[uav], 1.22, 0.03);
  EXPECT_TRUE(world.engine().can_place(uav));
  EXPECT_TRUE(world.actuators().empty()) << "its rotors are those of the section `aircraft`";
}

TEST(Intersection, HasThirtyCarsThatStandOnTheirWheels) {
  World world(load("intersection.xml"));
  const auto ground = std::make_shared<Ground>(world.engine());
  std::vector<std::uint32_t> bodies;
  for (int i = 1; i <= 30; ++i) {
    const std::string name = "car" + std::string(i < 10 ? "0" : "") + std::to_string(i);
    bodies.push_back(world.body(name));
    world.add(std::make_unique<Car>(world.engine(), name, CarSettings{}, ground));
  }
  ASSERT_TRUE(world.advance_to(at(1s)).ok());
  for (const std::uint32_t body : bodies) EXPECT_NEAR(world.engine().motion(body).pose.position[2], 0.54, 0.01);
  EXPECT_TRUE(world.engine().contacts().empty()) << "nobody touches anybody";
}

TEST(Intersection, ACarCrossesItAlongItsLane) {
  World world(load("intersection.xml"));
  const auto& catalog = world.catalog();
  const auto point = [&](const char* site) -> PathDriver::Point {
    const Vec3 p = catalog.sites[catalog.site(site).value()].local.position;
    return {p[0], p[1]};
  };
  auto car = std::make_unique<Car>(world.engine(), "car01", CarSettings{}, std::make_shared<Ground>(world.engine()));
  const auto body = car->body();
  auto driver =
      std::make_unique<PathDriver>(std::vector{point("lane/south_in_1/start"), point("lane/south_in_1/stop"),
                                               point("lane/north_out_1/start"), point("lane/north_out_1/end")},
                                   false, PathDriverSettings{});
  world.add(std::make_unique<Seat>(std::move(driver), *car, body, false, SimSpan(20ms)));
  world.add(std::move(car));
  ASSERT_TRUE(world.advance_to(at(10s)).ok());
  const Motion now = world.engine().motion(body);
  EXPECT_GT(now.pose.position[1], 14) << "across";
  EXPECT_NEAR(now.pose.position[0], 1.75, 0.3);
}

}  // namespace
}  // namespace isochron::world
