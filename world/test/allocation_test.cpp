// After the first step nothing asks the heap for memory: not a step, not a snapshot, not a reader.
#include <gtest/gtest.h>

#include "world/aircraft/autopilot.hpp"
#include "world/fields.hpp"
#include "world/test/counting_allocator.hpp"
#include "world/test/scratch_model.hpp"
#include "world/world.hpp"

namespace isochron::world {
namespace {

using namespace std::chrono_literals;
constexpr SimTime at(SimSpan span) { return SimTime::zero() + span; }

TEST(Allocation, TheCounterCounts) {
  const long before = allocations;
  std::vector<double> some(100);
  EXPECT_GT(allocations, before) << some.size();
}

TEST(Allocation, AStepOfMujocoTakesNoneAfterTheFirst) {
  const ScratchModel file(falling_things());
  World world(load_engine("mujoco", file.path()));
  world.add(std::make_unique<PenaltyWalls>(std::vector<std::uint32_t>{1, 2}, PenaltyWalls::Settings{}));
  State state = world.make_state();
  std::vector<double> snapshot(world.snapshot_size());
  ASSERT_TRUE(world.advance_to(at(2ms)).ok());
  (void)world.engine().contacts();
  const long before = allocations;
  for (SimTime t = at(4ms); t < at(2s); t += SimSpan(2ms)) {
    const bool ok = world.command(0, 0.1).ok() && world.advance_to(t).ok();
    world.read(state);
    world.snapshot(snapshot);
    world.restore(snapshot);
    (void)world.engine().contacts();
    ASSERT_TRUE(ok);
  }
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, AStepOfOdeTakesNoneWithTheContactsItHadBefore) {
  const ScratchModel file(R"(<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body pos="1 0 .3"><freejoint/><geom type="sphere" size=".12" mass="1"/></body></worldbody></mujoco>)");
  World world(load_engine("ode", file.path()));
  ASSERT_TRUE(world.advance_to(at(1s)).ok());
  const long before = allocations;
  ASSERT_TRUE(world.advance_to(at(2s)).ok());
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, AStepOfAMultirotorInGustsTakesNone) {
  World world(load_engine("mujoco", ISOCHRON_MODELS "/uav.xml"));
  auto air = std::make_shared<Air>();
  air->gusts = 5;
  MultirotorSettings settings;
  settings.rotors = rotors_of(MultirotorFrame::quad_x, 0.226, 0.05);
  settings.battery = BatterySettings{};
  auto made =
      std::make_unique<Multirotor>(world.engine(), "uav", settings, air, std::make_shared<Ground>(world.engine()), 1);
  world.add(std::make_unique<Autopilot>(world.engine(), *made, AutopilotSettings{.hold = Vec3{0, 0, 1.2}}));
  world.add(std::move(made));
  ASSERT_TRUE(world.advance_to(at(3s)).ok());
  std::vector<double> snapshot(world.snapshot_size());
  const long before = allocations;
  ASSERT_TRUE(world.advance_to(at(4s)).ok());
  world.snapshot(snapshot);
  world.restore(snapshot);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace isochron::world
