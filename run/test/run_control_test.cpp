#include "run/run_control.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "run/injected_faults.hpp"
#include "run/wall_clock.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

class RunControlTest : public testing::Test {
 protected:
  WallClock clock_;
  std::atomic<bool> stopping_{false};
  RunControl control_;
};

TEST_F(RunControlTest, WithoutAWishNothingIsHeld) {
  control_.hold(SimTime::zero() + SimSpan(10s), clock_, stopping_);
  EXPECT_TRUE(control_.take(SimTime::zero()).empty());
}

TEST_F(RunControlTest, APausedRunGoesOnStepByStepAndThenFreely) {
  control_.pause();
  std::atomic<int> steps{0};
  std::thread run([&] {
    for (int i = 0; i < 5; ++i) {
      control_.hold(SimTime::zero() + SimSpan(1ms) * i, clock_, stopping_);
      ++steps;
    }
  });
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(steps, 0);
  control_.step(2);
  while (steps < 2) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(steps, 2);
  control_.resume();
  run.join();
  EXPECT_EQ(steps, 5);
}

TEST_F(RunControlTest, WhatHappensAtOneTimeIsOneStep) {
  control_.pause();
  control_.step(1);
  for (int i = 0; i < 3; ++i) control_.hold(SimTime::zero() + SimSpan(1ms), clock_, stopping_);  // returns
  std::atomic<bool> passed{false};
  std::thread later([&] {
    control_.hold(SimTime::zero() + SimSpan(2ms), clock_, stopping_);
    passed = true;
  });
  std::this_thread::sleep_for(30ms);
  EXPECT_FALSE(passed);
  control_.resume();
  later.join();
}

TEST_F(RunControlTest, ItStandsWhenItsStepsAreDone) {
  control_.pause();
  EXPECT_FALSE(control_.standing());
  std::atomic<int> steps{0};
  std::thread run([&] {
    for (; !stopping_.load(); ++steps)
      control_.hold(SimTime::zero() + SimSpan(1ms) * (1 + steps.load()), clock_, stopping_);
  });
  control_.step(3);
  while (!control_.standing()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(steps, 3);
  stopping_ = true;
  run.join();
}

TEST_F(RunControlTest, StoppingLetsAPausedRunEnd) {
  control_.pause();
  std::thread run([&] { control_.hold(SimTime::zero(), clock_, stopping_); });
  stopping_ = true;
  run.join();
}

TEST_F(RunControlTest, ASpeedHoldsSimulatedTimeBack) {
  control_.set_speed(2);
  const WallTime start = clock_.now();
  control_.hold(SimTime::zero(), clock_, stopping_);
  control_.hold(SimTime::zero() + SimSpan(100ms), clock_, stopping_);
  EXPECT_GE(clock_.now() - start, WallSpan(50ms));
}

TEST_F(RunControlTest, PlannedMarksComeAtTheirTimeAndAskedOnesAtOnce) {
  const SimTime later = SimTime::zero() + SimSpan(1s);
  control_.plan({Mark{.at = later, .what = "push"}, Mark{.at = SimTime::zero(), .what = "marker"}});
  control_.ask({.what = "asked"});
  const auto now = control_.take(SimTime::zero());
  ASSERT_EQ(now.size(), 2U);
  EXPECT_EQ(now[0].what, "asked");
  EXPECT_EQ(now[1].what, "marker");
  EXPECT_TRUE(control_.take(later - SimSpan(1ns)).empty());
  ASSERT_EQ(control_.take(later).size(), 1U);
  EXPECT_TRUE(control_.take(later).empty());
}

SimTime at_ms(int ms) { return SimTime::zero() + SimSpan(std::chrono::milliseconds(ms)); }

TEST(InjectedFaults, ASensorIsBlindFromItsFaultUntilItsEnd) {
  InjectedFaults faults;
  faults.add({.at = at_ms(100), .what = "blind", .about = "prey/imu", .seconds = 0.05});
  EXPECT_FALSE(faults.blind_since("prey/imu", at_ms(99)));
  EXPECT_EQ(faults.blind_since("prey/imu", at_ms(149)), at_ms(100));
  EXPECT_FALSE(faults.blind_since("prey/imu", at_ms(150)));
  EXPECT_FALSE(faults.blind_since("prey/gps", at_ms(120)));
}

TEST(InjectedFaults, ARobotThatIsCutOffLosesAllItsCommandsAndNobodyElseDoes) {
  InjectedFaults faults;
  faults.add({.at = at_ms(0), .what = "cut", .about = "prey", .seconds = 1});
  EXPECT_TRUE(faults.cut_off("prey", at_ms(10)));
  EXPECT_TRUE(faults.cut_off("prey/fx", at_ms(10)));
  EXPECT_FALSE(faults.cut_off("prey2/fx", at_ms(10)));
  EXPECT_FALSE(faults.cut_off("prey/fx", at_ms(1000)));
}

TEST(InjectedFaults, ADelayIsOwedOnce) {
  InjectedFaults faults;
  faults.add({.at = at_ms(0), .what = "delay", .about = "predator/planner", .seconds = 0.25});
  EXPECT_EQ(faults.take_delay("predator/controller", at_ms(1)), SimSpan());
  EXPECT_EQ(faults.take_delay("predator/planner", at_ms(1)), SimSpan(250ms));
  EXPECT_EQ(faults.take_delay("predator/planner", at_ms(1)), SimSpan());
}

TEST(InjectedFaults, AStopLastsUntilItsEndWhereverTheProgramAsks) {
  InjectedFaults faults;
  faults.add({.at = at_ms(100), .what = "stop", .about = "prey/pilot", .seconds = 0.2});
  EXPECT_EQ(faults.stopped_until("prey/pilot", at_ms(99)), at_ms(99));
  EXPECT_EQ(faults.stopped_until("prey/pilot", at_ms(150)), at_ms(300));
  EXPECT_EQ(faults.stopped_until("prey/pilot", at_ms(300)), at_ms(300));
  EXPECT_EQ(faults.stopped_until("prey/other", at_ms(150)), at_ms(150));
  faults.set_ahead(SimSpan(1s));
  EXPECT_EQ(faults.stopped_until("prey/pilot", at_ms(1150)), at_ms(1300)) << "the programs' time is ahead";
}

TEST(InjectedFaults, ALinkIsBetweenItsEndsAndNobodyElse) {
  InjectedFaults faults;
  faults.add({.at = at_ms(0), .what = "link", .about = "prey, predator/planner", .force = {1, 0, 0}, .seconds = 1});
  EXPECT_FALSE(faults.carry("prey/pilot", "predator/planner", at_ms(10), 0));
  EXPECT_FALSE(faults.carry("predator/planner", "prey/pilot", at_ms(10), 0));
  EXPECT_TRUE(faults.carry("predator/controller", "prey/pilot", at_ms(10), 0));
  EXPECT_TRUE(faults.carry("prey/pilot", "predator/planner", at_ms(1000), 0)) << "it is over";
}

TEST(InjectedFaults, ARobotsLinkIsToTheOutsideAndMayBeLate) {
  InjectedFaults faults;
  faults.add({.at = at_ms(0), .what = "link", .about = "prey", .force = {0, 0.05, 0}, .seconds = 1});
  EXPECT_EQ(faults.carry("prey/pilot", "predator/planner", at_ms(10), 0), SimSpan(50ms));
  EXPECT_EQ(faults.carry("prey/pilot", "prey/planner", at_ms(10), 0), SimSpan());
}

TEST(InjectedFaults, AShareOfMessagesIsLostByTheSeedAndTheirNumber) {
  InjectedFaults faults(7), again(7);
  for (InjectedFaults* each : {&faults, &again}) {
    each->add({.at = at_ms(0), .what = "link", .about = "prey", .force = {0.3, 0, 0}, .seconds = 1});
  }
  int lost = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const bool first = !faults.carry("prey/a", "predator/b", at_ms(1), i);
    lost += first ? 1 : 0;
    EXPECT_EQ(first, !again.carry("prey/a", "predator/b", at_ms(1), i));
  }
  EXPECT_GT(lost, 240);
  EXPECT_LT(lost, 360);
}

}  // namespace
}  // namespace isochron
