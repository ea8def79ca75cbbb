#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "world/world.hpp"

namespace isochron::world {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(OwnEngine, BouncesAsHighAsItsBallsKeep) {
  World world(load_engine(BOUNCING_BALLS, THREE_BALLS));
  const std::uint32_t red = world.body("red");
  State state = world.make_state();
  double highest = 0;
  const double first_touch = std::sqrt(2 * 1.9 / 9.81);
  for (SimTime t; t < SimTime::zero() + SimSpan(1500ms); t += world.step()) {
    ASSERT_TRUE(world.advance_to(t).ok());
    world.read(state);
    if (t.seconds() > first_touch + 0.02) highest = std::max(highest, state.bodies[red].pose.position[2]);
  }
  EXPECT_NEAR(highest, 0.1 + 1.9 * 0.9 * 0.9, 0.002);
}

TEST(OwnEngine, RepeatsAfterARestore) {
  World world(load_engine(BOUNCING_BALLS, THREE_BALLS));
  ASSERT_TRUE(world.command(world.actuator("green/push"), 0.5).ok());
  ASSERT_TRUE(world.advance_to(SimTime::zero() + SimSpan(1s)).ok());
  std::vector<double> middle(world.snapshot_size()), first(middle), second(middle);
  world.snapshot(middle);
  ASSERT_TRUE(world.advance_to(SimTime::zero() + SimSpan(3s)).ok());
  world.snapshot(first);
  world.restore(middle);
  ASSERT_TRUE(world.advance_to(SimTime::zero() + SimSpan(3s)).ok());
  world.snapshot(second);
  EXPECT_EQ(first, second);
}

TEST(OwnEngine, ItsComplaintsReachTheUser) {
  const std::string file = testing::TempDir() + "bad_balls.txt";
  std::ofstream(file) << "# balls\nred 0 0\n";
  try {
    load_engine(BOUNCING_BALLS, file);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("bad_balls.txt:2: a ball needs a name and five numbers"));
    EXPECT_THAT(error.what(), HasSubstr("bouncing_balls.so"));
  }
}

}  // namespace
}  // namespace isochron::world
