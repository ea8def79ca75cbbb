// Worlds and their readers in several threads: bits do not change with company, and no state is ever seen half.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "world/test/scratch_model.hpp"
#include "world/world.hpp"

namespace isochron::world {
namespace {

using namespace std::chrono_literals;
constexpr SimTime at(SimSpan span) { return SimTime::zero() + span; }

std::string things(bool sensors) {
  std::string text = falling_things();
  if (sensors) return text;
  const auto from = text.find("  <sensor>"), to = text.find("</sensor>") + 9;
  return text.erase(from, to - from);
}

std::vector<double> outcome(const char* engine, const std::string& file, SimSpan span) {
  World world(load_engine(engine, file));
  EXPECT_TRUE(world.command(0, 0.5).ok());
  EXPECT_TRUE(world.advance_to(at(span)).ok());
  (void)world.engine().contacts();
  const auto clone = world.engine().clone();
  EXPECT_TRUE(clone->step(2ms).ok());
  std::vector<double> state(clone->state_size());
  clone->save(state);
  return state;
}

class WorldStress : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Both, WorldStress, testing::Values("mujoco", "ode"), [](const auto& i) { return i.param; });

TEST_P(WorldStress, GivesTheSameBitsWhateverOtherWorldsDo) {
  const ScratchModel file(things(false));
  const auto alone = outcome(GetParam(), file.path(), 600ms);
  std::vector<std::vector<double>> together(6);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < together.size(); ++i) {
    threads.emplace_back([&, i] {
      (void)outcome(i % 2 == 0 ? "ode" : "mujoco", file.path(), SimSpan(50ms) * static_cast<std::int64_t>(i));
      together[i] = outcome(GetParam(), file.path(), 600ms);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : together) EXPECT_EQ(one, alone);
}

TEST(StateBoard, IsNeverSeenHalf) {
  constexpr std::size_t numbers = 300;
  StateBoard board(numbers);
  board.write(std::vector<double>(numbers, 0.0));
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  std::atomic<int> torn{0}, backwards{0};
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      std::vector<double> seen(numbers);
      double last = 0;
      while (!stop.load()) {
        board.read(seen);
        for (const double value : seen) torn += value != seen[0] ? 1 : 0;
        backwards += seen[0] < last ? 1 : 0;
        last = seen[0];
      }
    });
  }
  std::vector<double> state(numbers);
  for (int i = 1; i <= 3000; ++i) {
    std::fill(state.begin(), state.end(), i);
    board.write(state);
    if (i % 64 == 0) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(backwards, 0);
  EXPECT_EQ(board.count(), 3001U);
}

TEST(WorldReaders, SeeWholeStatesWhoseTimeNeverGoesBack) {
  World world(load_engine("mujoco", ISOCHRON_MODELS "/ships.xml"));
  const Motion start{{{0, 0, 0}, {1, 0, 0, 0}}, {1, 2, 3}, {}};
  ASSERT_TRUE(world.place(1, start).ok());
  ASSERT_TRUE(world.advance_to(at(10ms)).ok());
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    State state = world.make_state();
    SimTime last = state.time;
    while (!stop.load()) {
      world.read(state);
      // It flies straight: where it is says when it is.
      const Vec3& x = state.bodies[1].pose.position;
      const double t = state.time.seconds();
      wrong += std::fabs(x[0] - t) + std::fabs(x[1] - 2 * t) + std::fabs(x[2] - 3 * t) > 1e-6 * (1 + t) ? 1 : 0;
      wrong += state.time < last ? 1 : 0;
      last = state.time;
    }
  });
  EXPECT_TRUE(world.advance_to(at(20s)).ok());
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace isochron::world
