// What must hold for every engine, and that they agree with each other.
#include <gmock/gmock.h>

#include <cmath>

#include "world/engine.hpp"
#include "world/test/scratch_model.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

std::string things_without_sensors() {
  std::string text = falling_things();
  const auto from = text.find("  <sensor>"), to = text.find("</sensor>") + 9;
  return text.erase(from, to - from);
}

std::vector<double> state_of(const Engine& engine) {
  std::vector<double> state(engine.state_size());
  engine.save(state);
  return state;
}

void run(Engine& engine, SimSpan for_how_long, SimSpan dt = 2ms) {
  const SimTime end = engine.time() + for_how_long;
  while (engine.time() < end) {
    const auto result = engine.step(dt);
    ASSERT_TRUE(result.ok()) << result.error().what;
  }
}

class Engines : public testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<Engine> load(const std::string& text) {
    const ScratchModel file(text);
    return load_engine(GetParam(), file.path());
  }
};
INSTANTIATE_TEST_SUITE_P(Both, Engines, testing::Values("mujoco", "ode"), [](const auto& i) { return i.param; });

TEST_P(Engines, GiveTheSameBitsTwice) {
  const auto a = load(things_without_sensors());
  const auto b = load(things_without_sensors());
  run(*a, 1s);
  run(*b, 1s);
  EXPECT_EQ(state_of(*a), state_of(*b));
}

TEST_P(Engines, GiveTheSameBitsAfterRestoreIntoAnotherOne) {
  const auto a = load(things_without_sensors());
  run(*a, 400ms);
  const auto middle = state_of(*a);
  run(*a, 600ms);
  const auto b = load(things_without_sensors());
  run(*b, 130ms);  // another past
  (void)b->contacts();
  b->restore(middle);
  EXPECT_EQ(state_of(*b), middle);
  run(*b, 600ms);
  EXPECT_EQ(state_of(*a), state_of(*b));
  EXPECT_EQ(std::vector(a->positions().begin(), a->positions().end()),
            std::vector(b->positions().begin(), b->positions().end()));
}

TEST_P(Engines, CanBeRestoredAtEveryStep) {
  // MuJoCo scales quaternions each time it computes positions, and scaling twice is not scaling once.
  const auto a = load(things_without_sensors());
  const auto b = load(things_without_sensors());
  for (int i = 0; i < 600; ++i) {
    b->restore(state_of(*a));
    ASSERT_TRUE(a->step(2ms).ok());
    ASSERT_TRUE(b->step(2ms).ok());
    ASSERT_EQ(state_of(*a), state_of(*b)) << "at step " << i;
  }
}

TEST_P(Engines, ContactsAreAFunctionOfTheState) {
  const auto a = load(things_without_sensors());
  run(*a, 500ms);
  const auto clone = a->clone();
  const auto from_a = a->contacts();
  const auto from_clone = clone->contacts();
  ASSERT_FALSE(from_a.empty());
  ASSERT_EQ(from_a.size(), from_clone.size());
  for (std::size_t i = 0; i < from_a.size(); ++i) {
    EXPECT_EQ(from_a[i].normal_force, from_clone[i].normal_force);
    EXPECT_EQ(from_a[i].position, from_clone[i].position);
  }
  EXPECT_EQ(state_of(*a), state_of(*clone));
}

TEST_P(Engines, CarryTheWeightOfABoxAtRest) {
  const auto engine = load(R"(<mujoco><worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody></mujoco>)");
  run(*engine, 2s);
  double sum = 0;
  for (const Contact& contact : engine->contacts()) sum += contact.normal_force;
  EXPECT_NEAR(sum, 2 * 9.81, 0.1);
  EXPECT_NEAR(engine->motion(1).pose.position[2], 0.1, 2e-3);
  EXPECT_NEAR(engine->acceleration(1)[2], 0, 0.05);
}

TEST_P(Engines, NameWhatDiverges) {
  const auto engine = load(things_without_sensors());
  run(*engine, 20ms);
  const auto before = state_of(*engine);
  engine->set_wrench(2, {{1e300, 0, 0}, {}});
  const auto result = engine->step(2ms);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().what, HasSubstr("body ball: the"));
  engine->set_wrench(2, {});
  EXPECT_EQ(state_of(*engine), before);
  engine->set_control(0, NAN);
  const auto refused = engine->step(2ms);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().what, HasSubstr("actuator push: the command is not a number"));
}

TEST_P(Engines, SpinAsymmetricBodiesWithoutLosingMomentum) {
  const auto engine = load(R"(<mujoco><option gravity="0 0 0" timestep=".001"/><worldbody><body name="a"><freejoint/>
    <geom type="box" size=".1 .2 .3" mass="2" pos=".1 0 0"/></body></worldbody></mujoco>)");
  engine->set_motion(1, {{{}, {1, 0, 0, 0}}, {}, {1, 2, 0.5}});
  const auto spin = [&] { return length(engine->motion(1).angular); };
  const double before = spin();
  run(*engine, 1s, 1ms);
  EXPECT_NEAR(spin(), before, 0.4) << "the axis wanders but the spin stays of its size";
}

TEST(EnginesTogether, AgreeOnFreeFlight) {
  const std::string model = ISOCHRON_MODELS "/ships.xml";
  const auto a = load_engine("mujoco", model), b = load_engine("ode", model);
  for (Engine* engine : {a.get(), b.get()}) {
    engine->set_control(*engine->catalog().actuator("predator/fx"), 2);
    engine->set_control(*engine->catalog().actuator("prey/tz"), 0.5);
    engine->set_control(*engine->catalog().actuator("prey/fy"), -1);
    run(*engine, 2s, 10ms);
  }
  for (std::uint32_t body = 1; body <= 2; ++body) {
    const Motion ma = a->motion(body), mb = b->motion(body);
    EXPECT_LT(length(ma.pose.position - mb.pose.position), 1e-9);
    EXPECT_LT(length(ma.linear - mb.linear), 1e-9);
    EXPECT_LT(length(ma.angular - mb.angular), 1e-9);
  }
  EXPECT_NEAR(a->motion(1).pose.position[0], -5 + 2 * 2.01, 1e-9) << "semi-implicit Euler: a t (t + dt) / 2";
}

TEST(EnginesTogether, AgreeOnWhereThingsComeToRest) {
  const ScratchModel file(R"(<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body pos="1 0 .3"><freejoint/><geom type="sphere" size=".12" mass="1"/></body>
    <body pos="2 0 .3" euler="90 0 0"><freejoint/><geom type="capsule" size=".05 .2" mass="1"/></body>
    <body pos="0 0 .6"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>)");
  const auto a = load_engine("mujoco", file.path()), b = load_engine("ode", file.path());
  run(*a, 3s);
  run(*b, 3s);
  for (std::uint32_t body = 1; body < a->catalog().bodies.size(); ++body) {
    const Motion ma = a->motion(body), mb = b->motion(body);
    EXPECT_LT(length(ma.pose.position - mb.pose.position), 0.01) << a->catalog().bodies[body];
  }
}

TEST(EnginesTogether, AgreeOnHowFarABoxSlides) {
  const ScratchModel file(R"(<mujoco><option timestep=".002" cone="elliptic" impratio="10"/><worldbody>
    <geom type="plane" size="0 0 1" friction=".5"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .2 .1" mass="1" friction=".5"/></body></worldbody></mujoco>)");
  for (const char* name : {"mujoco", "ode"}) {
    const auto engine = load_engine(name, file.path());
    run(*engine, 200ms);
    Motion motion = engine->motion(1);
    motion.linear = {3, 0, 0};
    engine->set_motion(1, motion);
    run(*engine, 2s);
    const double slid = engine->motion(1).pose.position[0] - motion.pose.position[0];
    EXPECT_NEAR(slid, 3 * 3 / (2 * 0.5 * 9.81), 0.06) << name;
  }
}

TEST(Ode, SaysAllThatItCannotDo) {
  const ScratchModel file(R"(<mujoco><worldbody>
    <body name="arm"><joint name="elbow" type="hinge"/><geom type="sphere" size=".1"/></body>
    <body name="b"><freejoint/><geom name="egg" type="ellipsoid" size=".1 .1 .2"/></body></worldbody>
    <actuator><position name="servo" joint="elbow"/></actuator>
    <sensor><jointpos name="angle" joint="elbow"/></sensor></mujoco>)");
  try {
    load_engine("ode", file.path());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(":2: ODE: joint elbow is not free; use engine mujoco"));
    EXPECT_THAT(error.what(), HasSubstr(":3: ODE: geom egg is an ellipsoid"));
    EXPECT_THAT(error.what(), HasSubstr(":4: ODE: actuator servo is not a motor on a free joint"));
    EXPECT_THAT(error.what(), HasSubstr(":5: ODE: sensor angle"));
  }
}

TEST(LoadEngine, SaysWhichEnginesThereAre) {
  try {
    load_engine("bullet", ISOCHRON_MODELS "/ships.xml");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no engine `bullet`; use mujoco, ode or the path"));
  }
}

}  // namespace
}  // namespace isochron::world
