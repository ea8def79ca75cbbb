#include "world/vehicle/driver.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "world/test/scratch_model.hpp"
#include "world/vehicle/car.hpp"
#include "world/vehicle/kinematic_car.hpp"
#include "world/world.hpp"

namespace isochron::world {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;
constexpr SimTime at(SimSpan span) { return SimTime::zero() + span; }

std::string why_refused(const std::string& text) {
  const ScratchModel file(text, ".txt");
  try {
    FileDriver driver(file.path());
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<PathDriver::Point> circle(double radius) {
  std::vector<PathDriver::Point> points;
  for (int i = 0; i < 60; ++i)
    points.push_back({radius * std::sin(i * M_PI / 30), radius - radius * std::cos(i * M_PI / 30)});
  return points;
}

std::string two_kinematic_cars() {
  return R"(<mujoco><option timestep=".01"/><worldbody><geom name="ground" type="plane" size="0 0 1"/>
    <body name="a" mocap="true" pos="0 0 .54"><geom type="box" size="2 .8 .4"/></body>
    <body name="b" mocap="true" pos="30 0 .54"><geom type="box" size="2 .8 .4"/></body></worldbody></mujoco>)";
}

TEST(FileDriver, IsLinearBetweenLinesAndHoldsTheLast) {
  const ScratchModel file("# t steer throttle brake\n0 0 0 0\n1, 0.5, 1, 0\n2 0 0 1 # stop\n", ".txt");
  FileDriver driver(file.path());
  DriverView view;
  view.time = at(500ms);
  EXPECT_DOUBLE_EQ(driver.drive(view).steer, 0.25);
  EXPECT_DOUBLE_EQ(driver.drive(view).throttle, 0.5);
  view.time = at(10s);
  EXPECT_DOUBLE_EQ(driver.drive(view).brake, 1);
}

TEST(FileDriver, RefusesBadLinesWithTheirPlace) {
  EXPECT_THAT(why_refused("0 0 0 0\n1 0 x 0\n"), HasSubstr(".txt:2: a line of a driver's file has four numbers"));
  EXPECT_THAT(why_refused("0 0 0 0 0\n"), HasSubstr(".txt:1:"));
  EXPECT_THAT(why_refused("1 0 0 0\n1 0 0 0\n"), HasSubstr(".txt:2: time must grow"));
  EXPECT_THAT(why_refused("0 2 0 0\n"), HasSubstr(".txt:1: steer is from -1 to 1"));
  EXPECT_THAT(why_refused("# nothing\n"), HasSubstr("is empty"));
}

TEST(CarFollowing, AgreesWithItsFormula) {
  const CarFollowing idm;
  EXPECT_NEAR(idm(0, 1e9, 0), idm.acceleration, 1e-9);
  EXPECT_NEAR(idm(idm.desired_speed, 1e9, 0), 0, 1e-6);
  const double equilibrium = (2 + 10 * 1.4) / std::sqrt(1 - std::pow(10 / 13.9, 4));
  EXPECT_NEAR(idm(10, equilibrium, 10), 0, 1e-9);
}

TEST(PathDriver, KeepsAFullCarOnACircle) {
  World world(load_engine("mujoco", ISOCHRON_MODELS "/car.xml"));
  auto car = std::make_unique<Car>(world.engine(), "car", CarSettings{}, std::make_shared<Ground>(world.engine()));
  PathDriverSettings settings;
  settings.follow.desired_speed = 9;
  auto driver = std::make_unique<PathDriver>(circle(30), true, settings);
  PathDriver& at_the_wheel = *driver;
  world.add(std::make_unique<Seat>(std::move(driver), *car, car->body(), false, SimSpan(20ms)));
  const auto body = car->body();
  world.add(std::move(car));
  double worst = 0;
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(world.advance_to(world.time() + SimSpan(100ms)).ok());
    if (i > 50) worst = std::max(worst, std::fabs(at_the_wheel.offset()));
  }
  EXPECT_LT(worst, 1.0);
  EXPECT_NEAR(length(world.engine().motion(body).linear), 9, 1.2);
}

TEST(PathDriver, FollowsAtADistanceAndStopsAtTheLine) {
  const ScratchModel model(two_kinematic_cars());
  World world(load_engine("mujoco", model.path()));
  const auto ground = std::make_shared<Ground>(world.engine());
  const std::vector<std::uint32_t> both{1, 2};
  PathDriver* leader = nullptr;
  for (const char* name : {"b", "a"}) {
    auto car = std::make_unique<KinematicCar>(world.engine(), name, KinematicCarSettings{}, ground);
    auto driver =
        std::make_unique<PathDriver>(std::vector<PathDriver::Point>{{0, 0}, {1000, 0}}, false, PathDriverSettings{});
    if (leader == nullptr) leader = driver.get();
    world.add(std::make_unique<Seat>(std::move(driver), *car, car->body(), true, SimSpan(50ms), both));
    world.add(std::move(car));
  }
  leader->stop_before(300);
  double closest = 1e9;
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(world.advance_to(world.time() + SimSpan(100ms)).ok());
    closest = std::min(closest, world.engine().motion(2).pose.position[0] - world.engine().motion(1).pose.position[0]);
  }
  EXPECT_GT(closest, 4.5) << "no collision";
  EXPECT_NEAR(world.engine().motion(2).pose.position[0], 298, 1.5);
  EXPECT_NEAR(world.engine().motion(1).pose.position[0], 298 - 6.5, 2.5);
  EXPECT_LT(length(world.engine().motion(1).linear), 0.1);
}

TEST(Seat, ActsAtItsPeriodWhateverTheStepAndItsCommandsAreSeen) {
  const ScratchModel model(two_kinematic_cars());
  World world(load_engine("mujoco", model.path()), SimSpan(3ms));  // does not divide the period
  auto car = std::make_unique<KinematicCar>(world.engine(), "a", KinematicCarSettings{},
                                            std::make_shared<Ground>(world.engine()));
  std::istringstream text("0 0.25 1 0");
  world.add(std::make_unique<Seat>(std::make_unique<FileDriver>(text, "text"), *car, car->body(), true, SimSpan(20ms)));
  world.add(std::move(car));
  ASSERT_TRUE(world.advance_to(at(999ms)).ok());
  const State state = world.make_state();
  EXPECT_NEAR(state.sensors[world.sensor_at(world.sensor("a/speed"))], 3 * 0.999, 1e-9) << "full throttle is 3 m/s²";
  EXPECT_EQ(state.commands[world.actuator("a/steer")], 0.25);
  EXPECT_EQ(state.commands[world.actuator("a/acceleration")], 3);
}

TEST(PathDriver, RefusesAPathOfOnePoint) { EXPECT_THROW(PathDriver({{0, 0}}, false, {}), InputError); }

TEST(PathDriver, InABendItFollowsWhoIsAheadOnItsWayAndNobodyElse) {
  const PathDriver driver({{0, 0}, {20, 0}, {20, 50}}, false, {});
  EXPECT_NEAR(driver.ahead(5, {20, 10, 0}, 100).value_or(-1), 25, 1e-9) << "round the corner";
  EXPECT_FALSE(driver.ahead(5, {40, 0, 0}, 100)) << "straight ahead, but not on its way";
  EXPECT_FALSE(driver.ahead(15, {5, 0, 0}, 100)) << "behind";
  EXPECT_FALSE(driver.ahead(5, {20, 40, 0}, 30)) << "too far";
  const PathDriver round({{0, 0}, {10, 0}, {10, 10}, {0, 10}}, true, {});
  EXPECT_NEAR(round.ahead(35, {5, 0, 0}, 30).value_or(-1), 10, 1e-9) << "the beginning comes again";
}

TEST(CarFollowing, StopsInComfortWhereThereIsRoomAndHarderWhereThereIsLess) {
  const CarFollowing idm;
  const auto stop = [&](double speed, double metres) {  // how hard at most, and what is left
    double hardest = 0;
    for (double t = 0; t < 60; t += 0.02) {
      const double a = std::min(idm.stopping(speed, metres), 1.0);
      hardest = std::max(hardest, -a);
      metres -= 0.02 * speed;
      speed = std::max(0.0, speed + 0.02 * a);
    }
    return std::pair{hardest, metres};
  };
  const auto [easy, left] = stop(14, 80);
  EXPECT_LT(easy, idm.braking + 0.2);
  EXPECT_NEAR(left, 0, 0.5);
  const auto [hard, over] = stop(14, 20);
  EXPECT_GT(hard, 4.5);
  EXPECT_LT(hard, 6.5);
  EXPECT_GT(over, -0.8);
}

/// How much a kinematic car loses or gains in a second, from 15 m/s, at these commands.
double gained(double steer, double acceleration, double friction) {
  const ScratchModel model(two_kinematic_cars());
  World world(load_engine("mujoco", model.path()));
  KinematicCarSettings settings;
  settings.start_speed = 15;
  settings.friction = friction;
  world.add(std::make_unique<KinematicCar>(world.engine(), "a", settings, std::make_shared<Ground>(world.engine())));
  EXPECT_TRUE(world.command(world.actuator("a/steer"), steer).ok());
  EXPECT_TRUE(world.command(world.actuator("a/acceleration"), acceleration).ok());
  EXPECT_TRUE(world.advance_to(at(1s)).ok());
  return length(world.engine().motion(1).linear) - 15;
}

TEST(KinematicCar, BrakesAndPullsNoHarderThanItsTyresAllow) {
  EXPECT_NEAR(gained(0, -40, 1), -9.81, 0.05);
  EXPECT_NEAR(gained(0, -40, 0.3), -0.3 * 9.81, 0.05) << "on ice";
  EXPECT_NEAR(gained(0, 40, 1), 4, 0.05) << "its engine is no rocket";
  EXPECT_NEAR(gained(0, 40, 0.2), 0.2 * 9.81, 0.05);
  EXPECT_GT(gained(0.15, -40, 1), -9.5) << "the bend takes its share of the grip";
}

TEST(KinematicCar, TurnsAtTheBicycleRadius) {
  const ScratchModel model(two_kinematic_cars());
  World world(load_engine("mujoco", model.path()));
  KinematicCarSettings settings;
  settings.start_speed = 5;
  world.add(std::make_unique<KinematicCar>(world.engine(), "a", settings, std::make_shared<Ground>(world.engine())));
  ASSERT_TRUE(world.command(world.actuator("a/steer"), 0.5).ok());
  const double rear_radius = 2.65 / std::tan(0.5 * 0.61);
  const double round = 2 * M_PI * rear_radius / 5;
  ASSERT_TRUE(world.advance_to(at(SimSpan::from_seconds(round))).ok());
  EXPECT_NEAR(length(world.engine().motion(1).pose.position - Vec3{0, 0, 0.54}), 0, 0.06) << "a full circle";
  EXPECT_NEAR(world.engine().motion(1).angular[2], 5 / rear_radius, 1e-9);
}

}  // namespace
}  // namespace isochron::world
