#include "world/vehicle/car.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "world/test/scratch_model.hpp"
#include "world/vehicle/driver.hpp"
#include "world/vehicle/kinematic_car.hpp"
#include "world/world.hpp"

namespace isochron::world {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;
constexpr SimTime at(SimSpan span) { return SimTime::zero() + span; }

/// A world with the car of models/car.xml.
struct Drive {
  explicit Drive(CarSettings settings = {}, SimSpan step = 2ms, const std::string& model = ISOCHRON_MODELS "/car.xml")
      : world(load_engine("mujoco", model), step) {
    auto car = std::make_unique<Car>(world.engine(), "car", settings, std::make_shared<Ground>(world.engine()));
    body = car->body();
    world.add(std::move(car));
    state = world.make_state();
  }
  void set(const char* what, double value) {
    ASSERT_TRUE(world.command(world.actuator(std::string("car/") + what), value).ok());
  }
  void run(SimSpan span) {
    const auto result = world.advance_to(world.time() + span);
    ASSERT_TRUE(result.ok()) << result.error().what;
    world.read(state);
  }
  double reading(const char* name, std::uint32_t i = 0) {
    return state.sensors[world.sensor_at(world.sensor(std::string("car/") + name)) + i];
  }
  [[nodiscard]] const Motion& motion() const { return state.bodies[body]; }
  void start_at(Vec3 position, double speed) {
    ASSERT_TRUE(world.place(body, {{position, {1, 0, 0, 0}}, {speed, 0, 0}, {}}).ok());
  }

  World world;
  std::uint32_t body = 0;
  State state;
};

TEST(Car, StandsStillAndCarriesItsWeight) {
  Drive d;
  d.run(5s);
  double load = 0;
  for (std::uint32_t i = 0; i < 4; ++i) load += d.reading("tyre_load", i);
  EXPECT_NEAR(load, 1500 * 9.81, 20);
  EXPECT_NEAR(d.motion().pose.position[2], 0.54, 0.01);
  EXPECT_LT(length(d.motion().linear), 1e-3);
  EXPECT_NEAR(d.motion().pose.position[0], 0, 0.02);
  EXPECT_GT(d.reading("tyre_load", 0), d.reading("tyre_load", 2)) << "the engine is in front";
}

TEST(Car, AcceleratesThroughItsGearsAsASedanDoes) {
  Drive d;
  d.run(1s);
  d.set("throttle", 1);
  double hundred = 0;
  for (int i = 0; i < 300 && hundred == 0; ++i) {
    d.run(100ms);
    if (d.reading("speed") > 100 / 3.6) hundred = d.world.time().seconds() - 1;
  }
  EXPECT_GT(hundred, 6);
  EXPECT_LT(hundred, 16);
  EXPECT_GE(d.reading("gear"), 2);
  d.run(90s);
  EXPECT_GT(d.reading("speed"), 40);
  EXPECT_LT(d.reading("speed"), 70) << "air drag sets a top speed";
}

TEST(Car, StopsWithinWhatFrictionAllows) {
  Drive d;
  d.start_at({0, 0, 0.54}, 27.8);
  d.run(500ms);
  const double speed = d.motion().linear[0], from = d.motion().pose.position[0];
  d.set("brake", 1);
  d.run(8s);
  const double way = d.motion().pose.position[0] - from;
  EXPECT_LT(std::fabs(d.motion().linear[0]), 0.05);
  EXPECT_GT(way, speed * speed / (2 * 1.05 * 9.81)) << "not shorter than friction one allows";
  EXPECT_LT(way, speed * speed / (2 * 0.6 * 9.81));
}

TEST(Car, SlidesFurtherOnIce) {
  Drive d;
  d.start_at({5, 6, 0.545}, 10);
  d.run(300ms);
  const double speed = d.motion().linear[0], from = d.motion().pose.position[0];
  d.set("brake", 1);
  d.run(12s);
  const double way = d.motion().pose.position[0] - from;
  EXPECT_GT(way, speed * speed / (2 * 0.16 * 9.81));
  EXPECT_LT(way, speed * speed / (2 * 0.09 * 9.81));
}

TEST(Car, CornersAtTheRadiusOfItsGeometry) {
  Drive d;
  d.start_at({-50, 0, 0.54}, 3);
  d.set("steer", 0.4);
  d.set("throttle", 0.1);
  d.run(4s);
  const double radius = std::hypot(d.motion().linear[0], d.motion().linear[1]) / d.motion().angular[2];
  const double rear = 2.65 / std::tan(0.4 * 0.61);
  EXPECT_NEAR(radius, std::hypot(rear, 1.4), 0.15 * rear);
}

TEST(Car, UndersteersRatherThanExceedFriction) {
  Drive d;
  d.start_at({-100, 0, 0.54}, 20);
  d.set("steer", 0.6);
  d.set("throttle", 0.3);
  d.run(2s);
  const double lateral = d.motion().angular[2] * std::hypot(d.motion().linear[0], d.motion().linear[1]);
  EXPECT_LT(std::fabs(lateral), 1.1 * 9.81);
  EXPECT_GT(std::fabs(lateral), 0.4 * 9.81);
  EXPECT_GT(rotate(d.motion().pose.orientation, {0, 0, 1})[2], 0.95) << "and does not roll over";
}

TEST(Car, ClimbsARampOfTriangles) {
  Drive d;
  d.start_at({50, 0, 0.54}, 8);
  d.set("throttle", 0.4);
  double highest = 0;
  for (int i = 0; i < 40; ++i) {
    d.run(100ms);
    highest = std::max(highest, d.motion().pose.position[2]);
  }
  EXPECT_GT(highest, 1.8);
}

TEST(Car, ParksOnASlope) {
  const ScratchModel model(R"(<mujoco><option timestep=".002"/><worldbody>
    <geom name="ground" type="plane" size="0 0 1" euler="0 10 0"/>
    <body name="car" pos="0 0 .55" euler="0 10 0"><freejoint/><inertial pos="0 0 0" mass="1500" diaginertia="560 2300 2600"/>
      <geom type="box" size="2 .8 .2"/></body></worldbody></mujoco>)");
  Drive d({}, 2ms, model.path());
  d.set("brake", 1);
  d.run(2s);
  const Vec3 before = d.motion().pose.position;
  d.run(5s);
  EXPECT_LT(length(d.motion().pose.position - before), 0.02);
}

TEST(Car, DrivesBackwards) {
  Drive d;
  d.run(500ms);
  d.set("reverse", 1);
  d.set("throttle", 0.4);
  d.run(4s);
  EXPECT_LT(d.reading("speed"), -1);
  EXPECT_EQ(d.reading("gear"), -1);
}

TEST(Car, ShowsItsWheelsWhereTheyAre) {
  Drive d;
  d.start_at({0, 0, 0.54}, 10);
  d.run(1s);
  const Motion& wheel = d.state.bodies[d.world.body("car/wheel_fl")];
  const Vec3 from_car = wheel.pose.position - d.motion().pose.position;
  EXPECT_NEAR(from_car[0], 1.25, 0.01);
  EXPECT_NEAR(from_car[1], 0.77, 0.01);
  EXPECT_NEAR(wheel.linear[0], d.motion().linear[0], 0.05);
}

TEST(Car, GivesTheSameBitsAfterRestore) {
  Drive d;
  d.set("throttle", 0.8);
  d.set("steer", 0.2);
  d.run(2s);
  std::vector<double> middle(d.world.snapshot_size()), first(middle), second(middle);
  d.world.snapshot(middle);
  d.set("brake", 0.5);
  d.run(2s);
  d.world.snapshot(first);
  d.world.restore(middle);
  d.set("brake", 0.5);
  d.run(2s);
  d.world.snapshot(second);
  EXPECT_EQ(first, second);
}

TEST(Car, HardlyDependsOnTheStep) {
  Drive fine({}, 1ms), coarse({}, 4ms);
  for (Drive* d : {&fine, &coarse}) {
    d->set("throttle", 0.6);
    d->run(3s);
    d->set("steer", 0.1);
    d->run(2s);
  }
  EXPECT_LT(length(fine.motion().pose.position - coarse.motion().pose.position), 0.5);
}

TEST(Car, SaysWhatIsWrongWithTheModel) {
  World world(load_engine("mujoco", ISOCHRON_MODELS "/car.xml"));
  const auto ground = std::make_shared<Ground>(world.engine());
  const auto why = [&](const char* body) -> std::string {
    try {
      Car(world.engine(), body, {}, ground);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(why("caar"), HasSubstr("there is no body `caar`; did you mean `car`?"));
  EXPECT_THAT(why("world"), HasSubstr("body `world` cannot be a car: it has no free joint"));
  const auto ships = load_engine("mujoco", ISOCHRON_MODELS "/ships.xml");
  EXPECT_THROW(Ground{*ships}, InputError);
}

TEST(Ground, KnowsHeightNormalAndFriction) {
  const auto engine = load_engine("mujoco", ISOCHRON_MODELS "/car.xml");
  const Ground ground(*engine);
  EXPECT_EQ(ground.below(-10, 0, 5)->height, 0);
  EXPECT_NEAR(ground.below(50, 6, 5)->height, 0.005, 1e-12);
  EXPECT_EQ(ground.below(50, 6, 5)->friction, 0.15);
  EXPECT_NEAR(ground.below(70, 1, 5)->height, 0.75, 1e-5);
  EXPECT_NEAR(ground.below(70, 1, 5)->normal[0], -1.5 / std::hypot(20, 1.5), 1e-5);
  EXPECT_EQ(ground.below(70, 1, 0.3)->height, 0) << "what is above does not count";
}

TEST(Ground, FollowsAHeightField) {
  // MuJoCo's binary height field: rows, columns, then heights.
  const std::string file = testing::TempDir() + "hill.bin";
  {
    std::ofstream out(file, std::ios::binary);
    const std::int32_t size[2]{21, 21};
    out.write(reinterpret_cast<const char*>(size), sizeof size);
    for (int r = 0; r < 21; ++r) {
      for (int c = 0; c < 21; ++c) {
        const float h = static_cast<float>(c) / 20;
        out.write(reinterpret_cast<const char*>(&h), sizeof h);
      }
    }
  }
  const ScratchModel model("<mujoco><asset><hfield name='h' file='" + file + R"(' size="50 50 5 1"/></asset>
    <worldbody><geom name="ground" type="hfield" hfield="h"/>
    <body name="car" pos="-20 0 2.1"><freejoint/><inertial pos="0 0 0" mass="1500" diaginertia="560 2300 2600"/>
      <geom type="box" size="2 .8 .2" contype="0" conaffinity="0"/></body></worldbody></mujoco>)");
  Drive d({}, 2ms, model.path());
  const Ground ground(d.world.engine());
  for (const double x : {-49.0, -20.0, 0.3, 33.3})
    EXPECT_NEAR(ground.below(x, 7.7, 100)->height, 0.05 * (x + 50), 1e-4);
  EXPECT_FALSE(ground.below(60, 0, 100).has_value());
  d.set("throttle", 0.6);
  d.run(4s);
  EXPECT_NEAR(d.motion().pose.position[2], 0.54 + 0.05 * (d.motion().pose.position[0] + 50), 0.1);
  EXPECT_GT(d.motion().pose.position[0], -15);
}

TEST(Powertrain, FollowsItsCurveAndGears) {
  Powertrain p({});
  EXPECT_DOUBLE_EQ(p.full_torque(800), 110);
  EXPECT_DOUBLE_EQ(p.full_torque(3000), 200);
  EXPECT_DOUBLE_EQ(p.full_torque(9000), 0);
  EXPECT_DOUBLE_EQ(p.step(1, false, 0, 1e-3), 110 * 3.6 * 3.9 * 0.92);
  EXPECT_LT(p.step(0, false, 35, 1e-3), 0) << "the engine brakes";
  EXPECT_EQ(p.step(1, false, 50, 1e-3), 0) << "no torque while it shifts";
  EXPECT_EQ(p.gear(), 2);
  PowertrainSettings falling;
  falling.curve = {{2000, 100}, {1000, 90}};
  EXPECT_THROW(Powertrain{falling}, InputError);
}

}  // namespace
}  // namespace isochron::world
