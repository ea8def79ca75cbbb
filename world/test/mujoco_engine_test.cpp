#include "world/mujoco_engine.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <thread>

#include "world/test/scratch_model.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

std::unique_ptr<MujocoEngine> engine_of(const std::string& text, const std::string& suffix = ".xml") {
  const ScratchModel file(text, suffix);
  return std::make_unique<MujocoEngine>(load_mujoco_model(file.path()));
}

std::string why_refused(const std::string& text, const std::string& suffix = ".xml") {
  try {
    engine_of(text, suffix);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<double> state_of(const Engine& engine) {
  std::vector<double> state(engine.state_size());
  engine.save(state);
  return state;
}

void run(Engine& engine, int steps, SimSpan dt = 2ms) {
  for (int i = 0; i < steps; ++i) {
    if (!engine.catalog().actuators.empty()) engine.set_control(0, std::sin(0.01 * i));
    const auto result = engine.step(dt);
    ASSERT_TRUE(result.ok()) << result.error().what;
  }
}

TEST(MujocoEngine, CountsTimeInWholeNanoseconds) {
  const auto engine = engine_of(falling_things());
  EXPECT_EQ(engine->natural_step(), SimSpan(2ms));
  run(*engine, 3, SimSpan::from_ns(333'333'3));
  EXPECT_EQ(engine->time(), SimTime::from_ns(3 * 333'333'3));
}

TEST(MujocoEngine, GivesTheSameBitsAfterRestore) {
  const auto engine = engine_of(falling_things());
  run(*engine, 200);
  const auto middle = state_of(*engine);
  run(*engine, 300);
  const auto end = state_of(*engine);
  engine->restore(middle);
  EXPECT_EQ(state_of(*engine), middle);
  run(*engine, 300);
  EXPECT_EQ(state_of(*engine), end);
}

TEST(MujocoEngine, AskingForContactsChangesNothingThatFollows) {
  const auto quiet = engine_of(falling_things());
  const auto asked = engine_of(falling_things());
  for (int i = 0; i < 400; ++i) {
    run(*quiet, 1);
    run(*asked, 1);
    (void)asked->contacts();
  }
  EXPECT_EQ(state_of(*quiet), state_of(*asked));
}

/// Somebody else's body: flies over the others and lands on them.
Motion placed_at(int step) {
  return {{{0.001 * step, 0, 1.5 - 0.002 * step}, {std::cos(0.001 * step), 0, 0, std::sin(0.001 * step)}},
          {0.5, 0, -1},
          {}};
}

TEST(MujocoEngine, PlacingABodyBeforeEachStepGivesMujocosOwnBits) {
  std::string text = falling_things();  // without its sensors, which would have to be known after each step
  text.erase(text.find("<sensor>"), text.find("</sensor>") + 9 - text.find("<sensor>"));
  const auto engine = engine_of(text);
  const auto watched = engine_of(text);
  const mjModel& model = engine->mujoco_model();
  const std::unique_ptr<mjData, void (*)(mjData*)> raw(mj_makeData(&model), mj_deleteData);
  const auto& joint = engine->catalog().joints.front();
  ASSERT_EQ(joint.positions, 7U) << "the first joint is a free one";
  mj_step1(&model, raw.get());
  for (int i = 0; i < 700; ++i) {
    const Motion motion = placed_at(i);
    for (const auto& one : {engine.get(), watched.get()}) one->set_motion(joint.body, motion);
    std::copy_n(motion.pose.position.begin(), 3, raw->qpos + joint.position_at);
    std::copy_n(motion.pose.orientation.begin(), 4, raw->qpos + joint.position_at + 3);
    std::copy_n(motion.linear.begin(), 3, raw->qvel + joint.velocity_at);
    std::fill_n(raw->qvel + joint.velocity_at + 3, 3, 0.0);
    (void)watched->contacts();  // who asks makes it compute all, earlier
    ASSERT_TRUE(engine->step(2ms).ok() && watched->step(2ms).ok());
    (void)watched->contacts();
    mj_step1(&model, raw.get());
    mj_step2(&model, raw.get());
    mj_step1(&model, raw.get());
    const auto now = engine->positions();
    ASSERT_TRUE(std::equal(now.begin(), now.end(), raw->qpos)) << "step " << i;
  }
  EXPECT_EQ(state_of(*engine), state_of(*watched));
  EXPECT_GT(engine->contacts().size(), 0U);
}

TEST(MujocoEngine, ContactForcesCarryTheWeight) {
  const auto engine = engine_of(R"(<mujoco><worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody></mujoco>)");
  run(*engine, 1000);
  double sum = 0;
  for (const Contact& contact : engine->contacts()) {
    sum += contact.normal_force;
    EXPECT_NEAR(contact.normal[2], 1, 1e-6);
  }
  EXPECT_NEAR(sum, 2 * 9.81, 0.05);
}

TEST(MujocoEngine, ACloneRollsForwardWithoutTouchingTheOriginal) {
  const auto engine = engine_of(falling_things());
  run(*engine, 150);
  const auto before = state_of(*engine);
  const auto clone = engine->clone();
  run(*clone, 100);
  EXPECT_EQ(state_of(*engine), before);
  run(*engine, 100);
  EXPECT_EQ(state_of(*engine), state_of(*clone));
}

TEST(MujocoEngine, MotionIsOfTheTimeAfterTheStep) {
  const auto engine = engine_of(R"(<mujoco><option gravity="0 0 0"/><worldbody><body name="a"><freejoint/>
    <geom type="box" size=".1 .2 .3" mass="1"/></body></worldbody></mujoco>)");
  engine->set_motion(1, {{{1, 2, 3}, {1, 0, 0, 0}}, {4, 5, 6}, {0, 0, 2}});
  EXPECT_EQ(engine->motion(1).linear, (Vec3{4, 5, 6}));
  run(*engine, 1, 10ms);
  EXPECT_NEAR(engine->motion(1).pose.position[0], 1.04, 1e-12);
  EXPECT_NEAR(engine->motion(1).pose.orientation[3], std::sin(0.01), 1e-9);
  EXPECT_NEAR(engine->motion(1).angular[2], 2, 1e-9);
}

TEST(MujocoEngine, VelocityIsOfTheFrameOriginInTheWorldFrame) {
  // A link of 1 m on a hinge at the origin, its frame at the tip: v = ω × r.
  const auto engine = engine_of(R"(<mujoco><option gravity="0 0 0"/><worldbody><body name="arm" pos="1 0 0">
    <joint name="hinge" type="hinge" axis="0 0 1" pos="-1 0 0"/><geom type="sphere" size=".1" mass="1" pos="-.3 0 0"/>
    </body></worldbody></mujoco>)");
  engine->set_joint(0, std::array{std::numbers::pi / 2}, std::array{3.0});
  const Motion tip = engine->motion(1);
  EXPECT_NEAR(tip.pose.position[1], 1, 1e-12);
  EXPECT_NEAR(tip.linear[0], -3, 1e-12);
  EXPECT_NEAR(tip.linear[1], 0, 1e-12);
  EXPECT_NEAR(tip.angular[2], 3, 1e-12);
  run(*engine, 1, 1us);
  EXPECT_NEAR(engine->acceleration(1)[1], -9, 1e-3) << "towards the hinge by ω² r";
}

TEST(MujocoEngine, AccelerationIsGravityInFreeFallAndZeroAtRest) {
  const auto engine = engine_of(falling_things());
  run(*engine, 1);
  EXPECT_NEAR(engine->acceleration(2)[2], -9.81, 1e-9);
  run(*engine, 3000);
  EXPECT_NEAR(engine->acceleration(1)[2], 0, 0.05);
  EXPECT_EQ(engine->gravity(), (Vec3{0, 0, -9.81}));
}

TEST(MujocoEngine, AWrenchHoldsUntilTheNextOne) {
  const auto engine = engine_of(R"(<mujoco><option gravity="0 0 0"/><worldbody><body name="a"><freejoint/>
    <geom type="box" size=".1 .2 .3" mass="2"/></body></worldbody></mujoco>)");
  engine->set_wrench(1, {{4, 0, 0}, {}});
  run(*engine, 500);
  EXPECT_NEAR(engine->motion(1).linear[0], 2, 1e-9);
  engine->set_wrench(1, {});
  run(*engine, 500);
  EXPECT_NEAR(engine->motion(1).linear[0], 2, 1e-9);
}

TEST(MujocoEngine, AMocapBodyKeepsTheVelocityItWasGiven) {
  const auto engine =
      engine_of(R"(<mujoco><worldbody><body name="car" mocap="true"><geom type="box" size="1 1 1"/></body>
    </worldbody></mujoco>)");
  engine->set_motion(1, {{{1, 0, 0}, {1, 0, 0, 0}}, {5, 0, 0}, {}});
  run(*engine, 1);
  EXPECT_EQ(engine->motion(1).linear[0], 5);
  EXPECT_EQ(engine->motion(1).pose.position[0], 1);
}

TEST(MujocoEngine, ADivergingStepNamesTheBodyAndKeepsTheStateBefore) {
  const auto engine = engine_of(falling_things());
  run(*engine, 10);
  const auto before = state_of(*engine);
  engine->set_wrench(2, {{1e300, 0, 0}, {}});
  const auto result = engine->step(2ms);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().what, HasSubstr("body ball: the acceleration is not a number"));
  engine->set_wrench(2, {});
  EXPECT_EQ(state_of(*engine), before);
  run(*engine, 10);
}

TEST(MujocoEngine, ANanCommandNamesTheActuator) {
  const auto engine = engine_of(falling_things());
  engine->set_control(0, NAN);
  const auto result = engine->step(2ms);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().what, HasSubstr("actuator push: the command is not a number"));
}

TEST(MujocoEngine, ANanPositionNamesBodyAndJoint) {
  const auto engine = engine_of(falling_things());
  engine->set_motion(3, {{{NAN, 0, 0}, {1, 0, 0, 0}}, {}, {}});
  const auto result = engine->step(2ms);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().what, HasSubstr("body stick, joint stick: the position is not a number"));
}

TEST(MujocoEngine, AFullContactBufferStopsTheStep) {
  const auto engine = engine_of(R"(<mujoco><size nconmax="3"/><worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 .101"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>)");
  auto result = engine->step(2ms);
  while (result.ok() && engine->time() < SimTime::zero() + SimSpan(1s)) result = engine->step(2ms);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().what, HasSubstr("more contacts than the model has room for (3): raise <size nconmax>"));
}

TEST(MujocoEngine, TooLittleStackIsToldAtLoading) {
  EXPECT_THAT(why_refused(R"(<mujoco><size nstack="10"/><worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 .099"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>)"),
              HasSubstr("Stack overflow"));
}

TEST(MujocoEngine, RunningOutOfStackStopsTheStepNotTheProcess) {
  std::string boxes;
  for (int i = 0; i < 6; ++i) {
    boxes += "<body pos='" + std::to_string(i) + " 0 .2'><freejoint/><geom type='box' size='.1 .1 .1'/></body>";
  }
  const auto engine = engine_of("<mujoco><size nstack='1000'/><worldbody><geom type='plane' size='0 0 1'/>" + boxes +
                                "</worldbody></mujoco>");
  auto result = engine->step(2ms);
  while (result.ok() && engine->time() < SimTime::zero() + SimSpan(1s)) result = engine->step(2ms);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().what, "MuJoCo: Stack overflow: raise <size nstack>");
  const double height = engine->motion(1).pose.position[2];
  EXPECT_GT(height, 0.09) << "the state before it is still there to read";
}

TEST(MujocoEngine, StartsAtTheKeyframeNamedStart) {
  const auto engine = engine_of(R"(<mujoco><worldbody><body><joint name="j" type="slide" axis="1 0 0"/>
    <geom type="sphere" size=".1"/></body></worldbody><keyframe><key name="start" qpos="0.25"/></keyframe></mujoco>)");
  EXPECT_EQ(engine->positions()[0], 0.25);
  run(*engine, 5);
  engine->reset();
  EXPECT_EQ(engine->positions()[0], 0.25);
  EXPECT_EQ(engine->time(), SimTime::zero());
}

TEST(MujocoEngine, ReadsUrdf) {
  const auto engine = engine_of(R"(<robot name="pendulum">
    <link name="base"/>
    <link name="bob"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="swing" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>)",
                                ".urdf");
  EXPECT_TRUE(engine->catalog().joint("swing").has_value());
  EXPECT_TRUE(engine->catalog().body("bob").has_value());
  run(*engine, 10);
}

TEST(MujocoEngine, ExportsAHeightFieldAsAMesh) {
  const auto engine = engine_of(R"(<mujoco><asset><hfield name="h" nrow="3" ncol="4" size="2 1 .5 .1"/></asset>
    <worldbody><geom name="ground" type="hfield" hfield="h"/></worldbody></mujoco>)");
  const Geometry& ground = engine->geometry()[0];
  EXPECT_EQ(ground.shape, Shape::mesh);
  EXPECT_EQ(ground.vertices.size(), 12U);
  EXPECT_EQ(ground.triangles.size(), 12U);
  EXPECT_EQ(ground.vertices[0], (std::array<float, 3>{-2, -1, 0}));
}

TEST(MujocoEngine, RefusesBadModelsWithTheirPlace) {
  EXPECT_THAT(why_refused("<mujoco>\n<worldbody>\n<body nam='x'/>\n</worldbody></mujoco>"),
              testing::ContainsRegex(R"(\.xml:3: Schema violation: unrecognized attribute: 'nam')"));
  EXPECT_THAT(why_refused("<mujoco>\n<worldbody>\n<body><freejoint/></body></worldbody></mujoco>"),
              testing::ContainsRegex(R"(\.xml:3: mass and inertia of moving bodies)"));
  EXPECT_THAT(why_refused("<mujoco>\n<worl"), testing::ContainsRegex(R"(\.xml:2: XML parse error)"));
  EXPECT_THAT(why_refused("<mujoco>\n<actuator>\n<motor joint='q'/></actuator></mujoco>"),
              testing::ContainsRegex(R"(\.xml:3: unknown transmission target 'q')"));
  EXPECT_THAT(why_refused("<mujoco><asset>\n<mesh name='m' file='nope.stl'/></asset></mujoco>"),
              testing::ContainsRegex(R"(\.xml:2: could not open STL file)"));
  EXPECT_THAT(why_refused("<mujoco><option><flag sensornoise='enable'/></option></mujoco>"),
              HasSubstr("not repeatable"));
  try {
    load_mujoco_model("/nowhere/model.xml");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/model.xml: cannot open the model"));
  }
}

TEST(MujocoEngine, LeavesNoLogFileBehind) {
  (void)why_refused("<mujoco><worl");
  const auto engine = engine_of(falling_things());
  engine->set_control(0, NAN);
  EXPECT_FALSE(engine->step(2ms).ok());
  EXPECT_FALSE(std::filesystem::exists("MUJOCO_LOG.TXT"));
}

}  // namespace
}  // namespace isochron::world
