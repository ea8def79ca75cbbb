#include <gtest/gtest.h>

#include "rt/barrier_scheduler.hpp"

namespace isochron::rt {
namespace {

using namespace std::chrono_literals;

const ThreadSettings ordinary{.policy = Policy::other, .lock_memory = false};

struct World {
  std::uint64_t sensor = 0;
  std::uint64_t estimate = 0;
  std::uint64_t command = 0;
};

// Mixes its input into its state, so that any input that came too early or too late shows in all later results.
class Mixer : public Task<World> {
 public:
  Mixer(std::uint64_t World::*from, std::uint64_t World::*to) : from_(from), to_(to) {}
  void initialize() override { state_ = 17; }
  void copy_in(const World& w) override { input_ = w.*from_; }
  void execute() override { state_ = (state_ ^ input_) * 0x9e3779b97f4a7c15ULL + 1; }
  void copy_out(World& w) override { w.*to_ = state_; }

 private:
  std::uint64_t World::*from_;
  std::uint64_t World::*to_;
  std::uint64_t input_ = 0, state_ = 0;
};

template <class Make>
std::vector<std::uint64_t> trace(Make make) {
  World world;
  Mixer estimator(&World::sensor, &World::estimate), controller(&World::estimate, &World::command);
  auto scheduler =
      make(world, std::vector<ScheduledTask<World>>{{&estimator, 1, ordinary}, {&controller, 6, ordinary}});
  std::vector<std::uint64_t> seen;
  for (std::uint64_t tick = 0; tick < 200; ++tick) {
    world.sensor = tick * tick;
    scheduler->tick();
    seen.push_back(world.command ^ world.estimate);
  }
  return seen;
}

TEST(Scheduler, ThreadsAndTheirSingleThreadedTwinGiveTheSameResults) {
  const auto stepped = trace([](World& w, auto tasks) { return std::make_unique<SteppedScheduler<World>>(w, tasks); });
  const auto threaded = trace(
      [](World& w, auto tasks) { return std::make_unique<BarrierScheduler<World>>(w, tasks, OnOverrun::busy_wait); });
  EXPECT_EQ(stepped, threaded);
}

TEST(Scheduler, ResultsAppearOneTaskPeriodLater) {
  World world;
  Mixer slow(&World::sensor, &World::command);
  SteppedScheduler<World> scheduler(world, {{&slow, 3, {}}});
  for (int tick = 0; tick < 3; ++tick) {
    scheduler.tick();
    EXPECT_EQ(world.command, 0U);
  }
  scheduler.tick();
  EXPECT_NE(world.command, 0U);
}

// Executes until the test lets it go.
class Slow : public Task<World> {
 public:
  void copy_in(const World&) override { ++released; }
  void execute() override { wait_while(gate, 0); }
  void copy_out(World& w) override { w.estimate = static_cast<std::uint64_t>(released); }
  void open() {
    gate = 1;
    futex_wake(gate);
  }
  int released = 0;
  FutexWord gate{0};
};

class Quick : public Task<World> {
 public:
  void copy_in(const World&) override { ++released; }
  void execute() override {}
  void copy_out(World&) override {}
  int released = 0;
};

TEST(BarrierScheduler, SkipTaskTickLetsTheOthersGoOn) {
  World world;
  Slow slow;
  BarrierScheduler<World> scheduler(world, {{&slow, 2, ordinary}}, OnOverrun::skip_task_tick);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(scheduler.tick());
  EXPECT_EQ(slow.released, 1);
  EXPECT_EQ(scheduler.overruns(0), 2U);
  EXPECT_EQ(scheduler.ticks(), 6U);
  EXPECT_EQ(world.estimate, 0U);  // nothing half-done comes out
  slow.open();
  while (world.estimate == 0) scheduler.tick();
  EXPECT_EQ(slow.released, 2);
}

TEST(BarrierScheduler, SkipSchedulerTickKeepsAllInPhase) {
  World world;
  Slow slow;
  Quick quick;
  BarrierScheduler<World> scheduler(world, {{&slow, 2, ordinary}, {&quick, 1, ordinary}},
                                    OnOverrun::skip_scheduler_tick);
  EXPECT_TRUE(scheduler.tick());
  while (!scheduler.tick()) sched_yield();  // quick may still be at it
  const std::uint64_t quick_late = scheduler.skipped_ticks();
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(scheduler.tick());
  EXPECT_EQ(scheduler.ticks(), 2U);
  EXPECT_EQ(scheduler.skipped_ticks(), quick_late + 4);
  EXPECT_EQ(scheduler.overruns(0), 4U);
  EXPECT_EQ(quick.released, 2);
  slow.open();
  while (!scheduler.tick()) sched_yield();
  EXPECT_EQ(slow.released, 2);
  EXPECT_EQ(quick.released, 3);
}

TEST(BarrierScheduler, BusyWaitWaitsForTheLateTask) {
  World world;
  Slow slow;
  BarrierScheduler<World> scheduler(world, {{&slow, 1, ordinary}}, OnOverrun::busy_wait);
  scheduler.tick();
  Thread opener({.policy = Policy::other, .lock_memory = false, .start = MonotonicClock::now() + 20ms},
                [&] { slow.open(); });
  scheduler.tick();
  EXPECT_EQ(slow.released, 2);
  EXPECT_EQ(world.estimate, 1U);
  EXPECT_EQ(scheduler.overruns(0), 1U);
}

TEST(BarrierScheduler, GoesAwayWhileATaskStillExecutes) {
  World world;
  Slow slow;
  Thread opener;
  {
    BarrierScheduler<World> scheduler(world, {{&slow, 1, ordinary}}, OnOverrun::skip_task_tick);
    scheduler.tick();
    opener = Thread({.policy = Policy::other, .lock_memory = false, .start = MonotonicClock::now() + 10ms},
                    [&] { slow.open(); });
  }
  EXPECT_EQ(slow.released, 1);
}

TEST(BarrierScheduler, AnInsistingTaskThatCannotHaveItsSettingsStopsTheSetUp) {
  World world;
  Quick first, second;
  ThreadSettings impossible = ordinary;
  impossible.cpus = {-1};
  impossible.insist = true;
  EXPECT_THROW(BarrierScheduler<World>(world, {{&first, 1, ordinary}, {&second, 1, impossible}}, OnOverrun::busy_wait),
               Insisted);
}

}  // namespace
}  // namespace isochron::rt
