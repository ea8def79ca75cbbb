#include "world/world.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "core/cdr.hpp"
#include "core/schema.hpp"
#include "world/fields.hpp"
#include "world/messages.hpp"
#include "world/test/scratch_model.hpp"

namespace isochron::world {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

const std::string ships = ISOCHRON_MODELS "/ships.xml";
constexpr SimTime at(SimSpan span) { return SimTime::zero() + span; }

std::vector<double> snapshot_of(const World& world) {
  std::vector<double> state(world.snapshot_size());
  world.snapshot(state);
  return state;
}

template <class F>
std::string why(F&& attempt) {
  try {
    attempt();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(World, HoldsCommandsUntilTheNextWrite) {
  World world(load_engine("mujoco", ships));
  ASSERT_TRUE(world.command(world.actuator("prey/fx"), 1).ok());
  ASSERT_TRUE(world.advance_to(at(1s)).ok());
  EXPECT_NEAR(world.engine().motion(world.body("prey")).linear[0], 1, 1e-9);
  ASSERT_TRUE(world.command(world.actuator("prey/fx"), 0).ok());
  ASSERT_TRUE(world.advance_to(at(2s)).ok());
  EXPECT_NEAR(world.engine().motion(world.body("prey")).linear[0], 1, 1e-9);
}

TEST(World, TakesWholeStepsOnly) {
  World world(load_engine("mujoco", ships));
  ASSERT_TRUE(world.advance_to(at(25ms)).ok());
  EXPECT_EQ(world.time(), at(20ms));
  ASSERT_TRUE(world.advance_to(at(30ms)).ok());
  EXPECT_EQ(world.time(), at(30ms));
}

TEST(World, HowItIsAdvancedChangesNothing) {
  const ScratchModel file(falling_things());
  World small(load_engine("mujoco", file.path())), large(load_engine("mujoco", file.path()));
  for (SimTime t; t <= at(1s); t += SimSpan(1ms)) ASSERT_TRUE(small.advance_to(t).ok());
  ASSERT_TRUE(large.advance_to(at(1s)).ok());
  EXPECT_EQ(snapshot_of(small), snapshot_of(large));
}

TEST(World, RefusesANanCommandByName) {
  World world(load_engine("mujoco", ships));
  const auto refused = world.command(world.actuator("prey/fx"), NAN);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what, "actuator prey/fx: the command is not a number");
  const auto pushed = world.push(world.body("prey"), {{INFINITY, 0, 0}, {}});
  ASSERT_FALSE(pushed.ok());
  EXPECT_EQ(pushed.error().what, "body prey: the force is not a number");
  const auto placed = world.place(0, {});
  ASSERT_FALSE(placed.ok());
  EXPECT_EQ(placed.error().what, "body world: only a free or a mocap body can be placed");
}

TEST(World, KeepsShowingTheLastGoodStateAfterItDiverged) {
  World world(load_engine("mujoco", ships));
  ASSERT_TRUE(world.advance_to(at(50ms)).ok());
  ASSERT_TRUE(world.push(1, {{1e200, 0, 0}, {}}).ok());
  for (int i = 0; i < 2; ++i) {
    const auto result = world.advance_to(at(1s));
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().what, HasSubstr("body predator"));
  }
  const State state = world.make_state();
  EXPECT_EQ(state.time, at(50ms));
  EXPECT_EQ(state.bodies[1].pose.position[0], -5);
}

TEST(World, ARestoreBeginsANewBranch) {
  World world(load_engine("mujoco", ships));
  ASSERT_TRUE(world.command(0, 1).ok());
  ASSERT_TRUE(world.advance_to(at(100ms)).ok());
  const auto middle = snapshot_of(world);
  ASSERT_TRUE(world.advance_to(at(200ms)).ok());
  const auto end = snapshot_of(world);
  world.restore(middle);
  State state = world.make_state();
  EXPECT_EQ(state.time, at(100ms));
  EXPECT_EQ(state.branch, 1U);
  ASSERT_TRUE(world.advance_to(at(200ms)).ok());
  EXPECT_EQ(snapshot_of(world), end);
}

/// Tries steps that are too long first, and rejects them: what an engine with an error estimate does.
class Hesitant final : public Engine {
 public:
  explicit Hesitant(std::unique_ptr<Engine> inner) : inner_(std::move(inner)), kept_(inner_->state_size()) {}
  Result<Done, Diverged> step(SimSpan dt) override {
    inner_->save(kept_);
    (void)inner_->step(dt * 3).ok();  // further than anyone may see
    if (during_) during_();
    inner_->restore(kept_);
    return inner_->step(dt);
  }
  std::function<void()> during_;

  [[nodiscard]] std::string_view name() const override { return "hesitant"; }
  [[nodiscard]] const Catalog& catalog() const override { return inner_->catalog(); }
  [[nodiscard]] const std::vector<Geometry>& geometry() const override { return inner_->geometry(); }
  [[nodiscard]] SimSpan natural_step() const override { return inner_->natural_step(); }
  [[nodiscard]] SimTime time() const override { return inner_->time(); }
  void reset() override { inner_->reset(); }
  void set_control(std::uint32_t a, double v) override { inner_->set_control(a, v); }
  [[nodiscard]] double control(std::uint32_t a) const override { return inner_->control(a); }
  void set_wrench(std::uint32_t b, const Wrench& w) override { inner_->set_wrench(b, w); }
  [[nodiscard]] Motion motion(std::uint32_t b) const override { return inner_->motion(b); }
  [[nodiscard]] Vec3 acceleration(std::uint32_t b) const override { return inner_->acceleration(b); }
  void set_motion(std::uint32_t b, const Motion& m) override { inner_->set_motion(b, m); }
  [[nodiscard]] std::span<const double> positions() const override { return inner_->positions(); }
  [[nodiscard]] std::span<const double> velocities() const override { return inner_->velocities(); }
  void set_joint(std::uint32_t j, std::span<const double> p, std::span<const double> v) override {
    inner_->set_joint(j, p, v);
  }
  [[nodiscard]] std::span<const double> sensor(std::uint32_t s) const override { return inner_->sensor(s); }
  [[nodiscard]] std::span<const Contact> contacts() const override { return inner_->contacts(); }
  [[nodiscard]] std::size_t state_size() const override { return inner_->state_size(); }
  void save(std::span<double> s) const override { inner_->save(s); }
  void restore(std::span<const double> s) override { inner_->restore(s); }
  [[nodiscard]] std::unique_ptr<Engine> clone() const override { return inner_->clone(); }

 private:
  std::unique_ptr<Engine> inner_;
  std::vector<double> kept_;
};

TEST(World, ARejectedTryIsNeverSeen) {
  auto engine = std::make_unique<Hesitant>(load_engine("mujoco", ships));
  Hesitant& hesitant = *engine;
  World world(std::move(engine)), plain(load_engine("mujoco", ships));
  State seen = world.make_state();
  SimTime last;
  hesitant.during_ = [&] {
    world.read(seen);
    EXPECT_EQ(seen.time, last) << "in the middle of a try the last accepted state is shown";
  };
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(world.command(0, 0.1 * i).ok());
    ASSERT_TRUE(plain.command(0, 0.1 * i).ok());
    ASSERT_TRUE(world.advance_to(at(10ms * i)).ok());
    ASSERT_TRUE(plain.advance_to(at(10ms * i)).ok());
    last = at(10ms * i);
  }
  EXPECT_EQ(snapshot_of(world), snapshot_of(plain));
}

TEST(World, NamesThatDoNotExistGetTheNearestOne) {
  World world(load_engine("mujoco", ships));
  EXPECT_THAT(why([&] { (void)world.actuator("pray/fx"); }),
              HasSubstr("there is no actuator `pray/fx`; did you mean `prey/fx`?"));
  EXPECT_THAT(why([&] { (void)world.sensor("lidar"); }), HasSubstr("there is no sensor `lidar`; the model has none"));
  EXPECT_THAT(why([&] { (void)world.body("whale"); }), HasSubstr("known here: world predator prey"));
  EXPECT_THAT(why([&] { World(load_engine("mujoco", ships), SimSpan::zero()); }), HasSubstr("must be positive"));
}

TEST(World, PublishesSensorsOfTheModelWithTheState) {
  const ScratchModel file(falling_things());
  World world(load_engine("mujoco", file.path()));
  ASSERT_TRUE(world.advance_to(at(100ms)).ok());
  const State state = world.make_state();
  const auto first = world.sensor_at(world.sensor("box_at"));
  EXPECT_EQ(state.sensors[first + 2], state.bodies[world.body("box")].pose.position[2]);
  EXPECT_EQ(state.commands.size(), 1U);
}

TEST(PenaltyWalls, PushBackByTheSpringLaw) {
  const PenaltyWalls::Settings s;
  EXPECT_EQ(PenaltyWalls::force(0, s), 0);
  EXPECT_EQ(PenaltyWalls::force(19.9, s), 0);
  EXPECT_DOUBLE_EQ(PenaltyWalls::force(22, s), -20 * (5 - 3.0));
  EXPECT_DOUBLE_EQ(PenaltyWalls::force(-22, s), 20 * (5 - 3.0));
}

TEST(PenaltyWalls, KeepAShipInsideAndItsEnergy) {
  World world(load_engine("mujoco", ships), SimSpan(1ms));
  world.add(std::make_unique<PenaltyWalls>(std::vector<std::uint32_t>{1, 2}, PenaltyWalls::Settings{}));
  ASSERT_TRUE(world.place(2, {{{18, 0, 0}, {1, 0, 0, 0}}, {6, 0, 0}, {}}).ok());
  double furthest = 0;
  for (SimTime t; t <= at(3s); t += SimSpan(1ms)) {
    ASSERT_TRUE(world.advance_to(t).ok());
    furthest = std::max(furthest, world.engine().motion(2).pose.position[0]);
  }
  EXPECT_NEAR(furthest, 20 + 6 / std::sqrt(20.0), 0.01) << "v sqrt(m/k) into the spring";
  EXPECT_NEAR(world.engine().motion(2).linear[0], -6, 0.05);
}

TEST(Wind, CarriesThingsAlong) {
  World world(load_engine("mujoco", ships));
  world.add(std::make_unique<Wind>(std::vector<std::uint32_t>{1}, Vec3{3, 0, 0}, 0.5));
  ASSERT_TRUE(world.advance_to(at(60s)).ok());
  EXPECT_NEAR(world.engine().motion(1).linear[0], 3, 0.1);
}

TEST(World, ForcesOfPartsAndPushesAddUpAndAreRestored) {
  World world(load_engine("mujoco", ships));
  world.add(std::make_unique<PenaltyWalls>(std::vector<std::uint32_t>{1, 2}, PenaltyWalls::Settings{}));
  ASSERT_TRUE(world.place(1, {{{24, 0, 0}, {1, 0, 0, 0}}, {}, {}}).ok());
  ASSERT_TRUE(world.push(1, {{80, 1, 0}, {}}).ok());
  ASSERT_TRUE(world.advance_to(at(10ms)).ok());
  EXPECT_NEAR(world.engine().motion(1).linear[0], 0, 1e-9) << "spring 20·(5−1) against the push";
  EXPECT_NEAR(world.engine().motion(1).linear[1], 0.01, 1e-9);
  const auto middle = snapshot_of(world);
  ASSERT_TRUE(world.advance_to(at(1s)).ok());
  const auto end = snapshot_of(world);
  world.restore(middle);
  ASSERT_TRUE(world.advance_to(at(1s)).ok());
  EXPECT_EQ(snapshot_of(world), end);
}

TEST(WorldMessages, HaveTheLayoutOfRos) {
  const ScratchModel file(falling_things());
  World world(load_engine("mujoco", file.path()));
  tf2_msgs::TFMessage tf;
  fill(tf, world.make_state(), world.catalog());
  ASSERT_EQ(tf.transforms.size(), 3U);
  EXPECT_EQ(tf.transforms[1].child_frame_id, "ball");
  EXPECT_DOUBLE_EQ(tf.transforms[1].transform.translation.z, 0.9);
  EXPECT_DOUBLE_EQ(tf.transforms[1].transform.rotation.w, 1);
  EXPECT_THAT(ros2msg_schema<tf2_msgs::TFMessage>(), HasSubstr("geometry_msgs/TransformStamped[] transforms"));
  WorldState whole;
  fill(whole, world.make_state());
  const auto back = cdr_read<WorldState>(cdr_bytes(whole));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->bodies, whole.bodies);
}

}  // namespace
}  // namespace isochron::world
