#include "testing/scheduler.hpp"

#include <gtest/gtest.h>

#include <set>

namespace isochron {
namespace {

using namespace std::chrono_literals;

WallTime at(WallSpan span) { return WallTime::zero() + span; }

TEST(Scheduler, RunsEventsAtExactlyTheirTimes) {
  Scheduler scheduler(1);
  std::vector<std::int64_t> times;
  for (const int ms : {30, 10, 20}) {
    scheduler.at(at(std::chrono::milliseconds(ms)), [&] { times.push_back(scheduler.now().ns()); });
  }
  scheduler.run_until(at(25ms));
  EXPECT_EQ(times, (std::vector<std::int64_t>{10'000'000, 20'000'000}));
  EXPECT_EQ(scheduler.now(), at(25ms));
  EXPECT_TRUE(scheduler.step());
  EXPECT_FALSE(scheduler.step());
  EXPECT_EQ(scheduler.now(), at(30ms));
}

std::string order_of_equals(std::uint64_t seed) {
  Scheduler scheduler(seed);
  std::string order;
  for (const char c : {'a', 'b', 'c', 'd'}) {
    scheduler.at(at(1ms), [&order, c] { order += c; });
  }
  scheduler.run_until(at(1ms));
  return order;
}

TEST(Scheduler, LetsTheSeedOrderWhatIsDueAtOneTime) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    EXPECT_EQ(order_of_equals(seed), order_of_equals(seed));
    orders.insert(order_of_equals(seed));
  }
  EXPECT_EQ(orders.size(), 24U) << "each of the 4! orders turns up";
}

TEST(Scheduler, ForgetsACancelledEventAndForgivesALateCancel) {
  Scheduler scheduler(1);
  int ran = 0;
  const auto first = scheduler.after(1ms, [&] { ++ran; });
  const auto second = scheduler.after(2ms, [&] { ++ran; });
  scheduler.cancel(second);
  scheduler.run_for(5ms);
  scheduler.cancel(first);
  scheduler.cancel(999);
  EXPECT_EQ(ran, 1);
}

TEST(Scheduler, AnEventForThePastRunsNow) {
  Scheduler scheduler(1);
  scheduler.run_until(at(10ms));
  WallTime ran;
  scheduler.at(at(1ms), [&] { ran = scheduler.now(); });
  scheduler.step();
  EXPECT_EQ(ran, at(10ms));
}

TEST(SimulatedClock, ATaskSleepsInSimulatedTimeOnly) {
  Scheduler scheduler(1);
  std::vector<std::string> log;
  const auto loop = [&](const char* name, WallSpan period) {
    Clock& clock = scheduler.clock();  // all that production code sees
    for (int i = 1; i <= 3; ++i) {
      clock.sleep_until(WallTime::zero() + period * i);
      log.push_back(name + std::to_string(clock.now().ns() / 1'000'000));
    }
  };
  scheduler.spawn("slow", [&] { loop("s", 1h); });
  scheduler.spawn("fast", [&] { loop("f", 25min); });
  scheduler.run_until(at(4h));
  EXPECT_EQ(log, (std::vector<std::string>{"f1500000", "f3000000", "s3600000", "f4500000", "s7200000", "s10800000"}));
}

std::uint64_t race(std::uint64_t seed, int& lost) {
  Scheduler scheduler(seed);
  int shared = 0;
  const auto increment = [&] {
    for (int i = 0; i < 5; ++i) {
      const int read = shared;
      scheduler.clock().sleep_until(scheduler.now());  // a point where another may run
      shared = read + 1;
    }
  };
  scheduler.spawn("a", increment);
  scheduler.spawn("b", increment);
  scheduler.run_until(at(1s));
  lost += 10 - shared;
  return scheduler.history().digest();
}

TEST(SimulatedClock, InterleavesTasksBySeedAndRepeatably) {
  int lost = 0;
  std::set<std::uint64_t> histories;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto digest = race(seed, lost);
    EXPECT_EQ(digest, race(seed, lost));
    histories.insert(digest);
  }
  EXPECT_GT(lost, 0) << "the lost update is found";
  EXPECT_GT(histories.size(), 5U);
}

TEST(SimulatedClock, OutsideOfTasksSleepingRunsTheWorld) {
  Scheduler scheduler(1);
  bool ran = false;
  scheduler.after(3ms, [&] { ran = true; });
  scheduler.clock().sleep_until(at(5ms));
  EXPECT_TRUE(ran);
  EXPECT_EQ(scheduler.clock().now(), at(5ms));
}

TEST(Scheduler, UnwindsTasksThatSleepWhenTheWorldEnds) {
  struct Witness {
    explicit Witness(bool& gone) : gone_(gone) {}
    ~Witness() { gone_ = true; }
    bool& gone_;
  };
  bool gone = false;
  {
    Scheduler scheduler(1);
    scheduler.spawn("sleeper", [&] {
      const Witness witness(gone);
      scheduler.clock().sleep_until(WallTime::never());
    });
    scheduler.run_for(1s);
    EXPECT_FALSE(gone);
  }
  EXPECT_TRUE(gone);
}

TEST(SchedulerDeathTest, ACallbackMustNotSleep) {
  Scheduler scheduler(1);
  scheduler.after(1ms, [&] { scheduler.clock().sleep_until(at(1s)); });
  EXPECT_DEATH(scheduler.run_for(5ms), "a callback must not sleep");
}

}  // namespace
}  // namespace isochron
