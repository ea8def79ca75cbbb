// What repeats: recorded runs, modelled runs, under load and on any number of cores.
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "programs/test/run_support.hpp"

namespace isochron::programs {
namespace {

std::vector<RobotSpec> predator_and_prey() {
  auto planner = program("planner", {"planner", "3"});
  planner.to = "follower";
  planner.best_effort = true;
  auto follower = program("follower", {"follower", "10"});
  follower.priority = 1;
  auto watcher = program("watcher", {"clockwatcher", "2"});
  watcher.priority = 2;
  return {robot("predator", {follower, planner, watcher}),
          robot("prey", {program("controller", {"controller", "5", "1"})})};
}

/// Keeps all cores busy while it lives.
class Load {
 public:
  explicit Load(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!stop_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~Load() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

TEST(CoordinatorReplay, ARecordedRunIsTheMeasuredRunAgain) {
  const auto measured = run(predator_and_prey(), 200ms);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  ASSERT_GT(measured.of("predator/follower").received, 5u);
  ASSERT_GT(measured.of("predator/watcher").clock_reads, 100u);
  const auto again = run(replayed(predator_and_prey(), measured), 200ms);
  ASSERT_TRUE(again.outcome.completed) << again.outcome.why_ended;
  EXPECT_EQ(first_difference(measured, again), "");
  EXPECT_EQ(digest(measured.record.happenings), digest(again.record.happenings));
  EXPECT_EQ(again.outcome.control, "");  // nothing is measured: no privileges are needed
}

TEST(CoordinatorReplay, ARecordedRunRepeatsUnderLoad) {
  const auto measured = run(predator_and_prey(), 100ms);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  const Load load(2);
  const auto again = run(replayed(predator_and_prey(), measured), 100ms);
  EXPECT_EQ(first_difference(measured, again), "");
}

TEST(CoordinatorReplay, AStallIsReplayedAsLongAsItWas) {
  const std::vector<RobotSpec> robots{robot("a", {program("blocks", {"blocks", "3"})})};
  const auto measured = run(robots, 100ms);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  ASSERT_GE(measured.of("a/blocks").stalls, 4u);
  const auto again = run(replayed(robots, measured), 100ms);
  EXPECT_EQ(first_difference(measured, again), "");
}

TEST(CoordinatorReplay, ARunOfThreadsIsReplayedInTheirOrder) {
  const std::vector<RobotSpec> robots{robot("a", {program("threads", {"threads"})})};
  const auto measured = run(robots, 100ms);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  const auto again = run(replayed(robots, measured), 100ms);
  EXPECT_EQ(first_difference(measured, again), "");
}

std::vector<RobotSpec> modelled_robots(int count) {
  std::vector<RobotSpec> robots;
  for (int i = 0; i < count; ++i) {
    ModelledCompute drawn = modelled(3ms);
    drawn.shape = ModelledCompute::Shape::normal;
    drawn.spread = 1ms;
    drawn.seed = 7;
    auto planner = program("planner", {"planner", "0.5"}, drawn);
    planner.to = "follower";
    planner.best_effort = true;
    auto follower = program("follower", {"follower", "10"}, modelled(200us));
    follower.priority = 1;
    robots.push_back(robot("r" + std::to_string(i), {follower, planner}));
  }
  return robots;
}

TEST(CoordinatorReplay, AModelledRunRepeatsUnderLoadAndOnOneCore) {
  const auto first = run(modelled_robots(3), 200ms);
  ASSERT_TRUE(first.outcome.completed) << first.outcome.why_ended;
  ASSERT_GT(first.record.happenings.size(), 200u);
  {
    const Load load(2);
    EXPECT_EQ(first_difference(first, run(modelled_robots(3), 200ms)), "");
  }
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof one, &one);
  const auto narrow = run(modelled_robots(3), 200ms);
  sched_setaffinity(0, sizeof all, &all);
  EXPECT_EQ(first_difference(first, narrow), "");
}

/// Two robots that must execute at the same time to get on.
std::vector<RobotSpec> robots_that_meet(const std::string& file, const Compute& compute) {
  return {robot("a", {program("meets", {"meet", file, "0", "1"}, compute)}),
          robot("b", {program("meets", {"meet", file, "1", "0"}, compute)})};
}

class MeetingPlace {
 public:
  MeetingPlace() : name_("/tmp/isochron_meet_XXXXXX") {
    file_ = mkstemp(name_.data());
    reset();
  }
  ~MeetingPlace() {
    close(file_);
    unlink(name_.c_str());
  }
  const std::string& reset() {
    EXPECT_EQ(ftruncate(file_, 0) + ftruncate(file_, 4096), 0);
    return name_;
  }

 private:
  std::string name_;
  int file_ = -1;
};

TEST(CoordinatorReplay, ModelledProgramsOfDifferentRobotsExecuteAtTheSameTime) {
  MeetingPlace place;
  const auto first = run(robots_that_meet(place.reset(), modelled(2ms)), 100ms);
  ASSERT_TRUE(first.outcome.completed) << first.outcome.why_ended;
  EXPECT_EQ(first.of("a/meets").activations, 10u);
  EXPECT_EQ(first_difference(first, run(robots_that_meet(place.reset(), modelled(2ms)), 100ms)), "");
}

TEST(CoordinatorReplay, RecordedProgramsOfDifferentRobotsExecuteAtTheSameTime) {
  MeetingPlace place;
  auto options = quick();
  options.cores = 1;  // taken in turns, by the quantum
  const auto measured = run(robots_that_meet(place.reset(), MeasuredCompute{}), 50ms, options);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  place.reset();
  const auto again = run(replayed(robots_that_meet(place.reset(), MeasuredCompute{}), measured), 50ms);
  EXPECT_EQ(first_difference(measured, again), "");
}

TEST(CoordinatorReplay, ARunOnSeveralCoresIsReplayedToo) {
  if (!missing_privileges().empty()) GTEST_SKIP() << missing_privileges();
  auto options = quick();
  options.cores = 2;
  const auto measured = run(predator_and_prey(), 100ms, options);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  const auto again = run(replayed(predator_and_prey(), measured), 100ms);
  EXPECT_EQ(first_difference(measured, again), "");
}

TEST(CoordinatorReplay, AnotherSeedIsAnotherRun) {
  auto other = modelled_robots(1);
  std::get<ModelledCompute>(other[0].programs[1].compute).seed = 8;
  EXPECT_NE(first_difference(run(modelled_robots(1), 100ms), run(other, 100ms)), "");
}

TEST(CoordinatorReplay, LookingAtTheClockCostsWhatTheModelSays) {
  ModelledCompute model;
  model.clock_read = 100us;
  const auto r = run({robot("a", {program("watcher", {"clockwatcher", "5"}, model)})}, 100ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  const auto logs = r.logs(0);
  ASSERT_EQ(logs.size(), 11u);  // the first wait comes after the first plan and returns at once
  for (const std::string& log : logs) EXPECT_EQ(log.substr(0, 9), "rounds 49") << log;
}

TEST(CoordinatorReplay, ARecordHoldsForItsOwnSpeed) {
  const std::vector<RobotSpec> robots{robot("a", {program("watcher", {"clockwatcher", "2"})})};
  const auto measured = run(robots, 50ms);
  auto other = replayed(robots, measured);
  other[0].programs[0].cpu_speed = {1, 2};
  EXPECT_THROW(run(other, 50ms), std::runtime_error);
}

}  // namespace
}  // namespace isochron::programs
