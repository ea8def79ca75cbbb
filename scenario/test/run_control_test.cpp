#include "scenario/run_control.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "scenario/wall_clock.hpp"

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

}  // namespace
}  // namespace isochron
