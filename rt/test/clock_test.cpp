#include "rt/clock.hpp"

#include <gtest/gtest.h>

#include "rt/test/manual_clock.hpp"

namespace isochron::rt {
namespace {

using namespace std::chrono_literals;

TEST(Clock, NeverWakesEarly) {
  const MonotonicTime until = MonotonicClock::now() + 2ms;
  const nanoseconds slack = wait_until(until);
  EXPECT_GE(MonotonicClock::now(), until);
  EXPECT_GT(slack, 0ns);
  EXPECT_LE(slack, 2ms);
}

TEST(Clock, DoesNotSleepForAPastTime) {
  ManualClock::State state;
  EXPECT_EQ(wait_until<ManualClock>(state.now - 3ms, ManualClock(state)), -3ms);
  EXPECT_EQ(state.sleeps, 0);
}

TEST(Clock, SpinsOnlyTheLastStretch) {
  const MonotonicTime until = MonotonicClock::now() + 2ms;
  EXPECT_GT(wait_until_spinning(until, 200us), 0ns);
  EXPECT_GE(MonotonicClock::now(), until);
}

TEST(Clock, SharesItsTimePointsWithSteadyClock) {
  const auto a = std::chrono::steady_clock::now();
  const MonotonicTime b = MonotonicClock::now();
  EXPECT_LE(a, b);
  EXPECT_LT(b - a, 10s);
}

TEST(Clock, TimespecsKeepNegativeTimes) {
  for (const nanoseconds t : {0ns, 1ns, -1ns, 999'999'999ns, 1'000'000'000ns, -1'500'000'000ns}) {
    const timespec spec = to_timespec(t);
    EXPECT_GE(spec.tv_nsec, 0);
    EXPECT_LT(spec.tv_nsec, 1'000'000'000);
    EXPECT_EQ(from_timespec(spec), t);
  }
}

TEST(Clock, NextMultipleIsStrictlyAfterAndOnTheGrid) {
  const MonotonicTime t0{};
  EXPECT_EQ(next_multiple(t0 + 3ms, 1ms), t0 + 4ms);
  EXPECT_EQ(next_multiple(t0 + 3500us, 1ms), t0 + 4ms);
  EXPECT_EQ(next_multiple(t0 + 3500us, 1ms, 250us), t0 + 4250us);
  EXPECT_EQ(next_multiple(t0 - 1500us, 1ms), t0 - 1ms);
}

}  // namespace
}  // namespace isochron::rt
