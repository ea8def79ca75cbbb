#include "rt/lock_step.hpp"

#include <gtest/gtest.h>

#include "rt/test/manual_clock.hpp"
#include "rt/thread.hpp"

namespace isochron::rt {
namespace {

using namespace std::chrono_literals;

// The estimator as the clock sees it: a tick of data at each ms (plus a hiccup), published 0.1 ms later.
class Simulated {
 public:
  ManualClock::State state;
  LockStep<int, ManualClock> step{1ms, 6ms, ManualClock(state)};
  MonotonicTime arrival = state.now;
  nanoseconds device_period = 1ms;

  void estimate_until_now() {
    while (arrival + 100us <= state.now) {
      step.state() = ++made;
      step.publish(arrival);
      arrival += device_period;
    }
  }
  // One activation of the controller that computes for so long.
  nanoseconds activate(nanoseconds computing) {
    estimate_until_now();
    if (const auto* e = step.begin()) used = e->state;
    state.now += computing;
    estimate_until_now();
    return step.wait();
  }
  int made = 0, used = 0;
};

TEST(LockStep, SleepsUntilTheDataPlusBothPeriods) {
  Simulated s;
  s.state.now += 500us;
  const MonotonicTime data = s.arrival;
  const nanoseconds slack = s.activate(2ms);
  EXPECT_EQ(s.state.now, data + 7ms);
  EXPECT_EQ(slack, 4500us);
}

TEST(LockStep, WakesAtItsPhaseBetweenTwoData) {
  ManualClock::State state;
  LockStep<int, ManualClock> step(1ms, 6ms, 500us, ManualClock(state));
  const MonotonicTime data = state.now;
  step.publish(data);
  ASSERT_NE(step.begin(), nullptr);
  step.wait();
  EXPECT_EQ(state.now, data + 6500us);
}

TEST(LockStep, StaysInStep) {
  Simulated s;
  s.state.now += 500us;
  for (int i = 0; i < 1000; ++i) s.activate(1400us);
  EXPECT_EQ(s.step.counts().activations, 1000U);
  EXPECT_EQ(s.step.counts().lags + s.step.counts().leads, 0U);
  EXPECT_EQ(s.used, 1 + 999 * 6);
}

TEST(LockStep, FollowsADeviceWhoseClockDrifts) {
  Simulated s;
  s.device_period = 1'000'200ns;  // 200 ppm: 1.2 ms in 1000 activations, more than an estimator period
  s.state.now += 500us;
  for (int i = 0; i < 1000; ++i) s.activate(1400us);
  EXPECT_EQ(s.step.counts().lags + s.step.counts().leads, 0U);
}

TEST(LockStep, CountsALateControllerAsALead) {
  Simulated s;
  s.state.now += 500us;
  for (int i = 0; i < 20; ++i) s.activate(i == 10 ? 8ms : 1400us);
  EXPECT_EQ(s.step.counts().late, 1U);
  EXPECT_EQ(s.step.counts().leads, 1U);
  EXPECT_GE(s.step.counts().worst_ticks, 1U);
}

TEST(LockStep, CountsMissingDataAsALag) {
  Simulated s;
  s.state.now += 500us;
  for (int i = 0; i < 20; ++i) {
    if (i == 10) s.arrival += 3ms;  // the device falls silent
    s.activate(1400us);
  }
  EXPECT_GE(s.step.counts().lags, 1U);
}

TEST(LockStep, KeepsItsOwnPaceWhileTheDeviceIsSilent) {
  Simulated s;
  s.state.now += 500us;
  s.activate(1ms);
  s.arrival += 10s;
  for (int i = 0; i < 3; ++i) s.activate(1ms);
  const MonotonicTime before = s.state.now;
  for (int i = 0; i < 10; ++i) s.activate(1ms);
  EXPECT_EQ(s.state.now - before, 60ms);
  EXPECT_GE(s.step.counts().lags, 10U);
}

TEST(LockStep, BeforeTheFirstDataItLooksAgainEachEstimatorPeriod) {
  Simulated s;
  s.arrival += 10ms;
  const MonotonicTime start = s.state.now;
  s.activate(0ns);
  EXPECT_EQ(s.state.now, start + 1ms);
  EXPECT_EQ(s.step.counts().activations, 0U);
}

TEST(LockStep, ForgetsTheWarmUp) {
  Simulated s;
  s.state.now += 500us;
  for (int i = 0; i < 5; ++i) s.activate(i == 2 ? 9ms : 1ms);
  s.step.clear_counts();
  EXPECT_EQ(s.step.counts().leads + s.step.counts().lags + s.step.counts().late, 0U);
}

TEST(LockStep, AControllerThatStoodByIsNotOutOfStep) {
  Simulated s;
  s.state.now += 500us;
  for (int i = 0; i < 5; ++i) s.activate(1ms);
  s.activate(3s);
  s.step.stood_by();
  for (int i = 0; i < 5; ++i) s.activate(1ms);
  EXPECT_EQ(s.step.counts().leads + s.step.counts().lags, 0U);
  EXPECT_EQ(s.step.counts().late, 1U) << "late it was";
}

TEST(LockStep, TellsHowLateItWasWoken) {
  Simulated s;
  s.state.now += 500us;
  s.activate(1ms);
  EXPECT_EQ(s.step.woken_late(), 0ns);
  s.state.wakes_late = 300us;
  s.activate(1ms);
  EXPECT_EQ(s.step.woken_late(), 300us);
}

TEST(LockStepDeath, RefusesPeriodsThatDoNotDivide) { EXPECT_DEATH((LockStep<int>(4ms, 6ms)), "multiple"); }

TEST(LockStepDeath, RefusesAPhaseBeyondTheNextData) { EXPECT_DEATH((LockStep<int>(1ms, 6ms, 2ms)), "phase"); }

TEST(LockStepStress, EstimatesArriveWhole) {
  struct State {
    std::uint64_t a[64];
  };
  LockStep<State> step(1ms, 2ms);
  const ThreadSettings ordinary{.policy = Policy::other, .lock_memory = false};
  Thread estimator(ordinary, [&](std::stop_token stop) {
    for (std::uint64_t i = 1; !stop.stop_requested(); ++i) {
      for (auto& a : step.state().a) a = i;
      step.publish(MonotonicClock::now());
    }
  });
  std::uint64_t last = 0;
  for (int i = 0; i < 2000;) {
    const auto* e = step.begin();
    if (e == nullptr) continue;
    ++i;
    ASSERT_GE(e->tick, last);
    last = e->tick;
    for (const auto& a : e->state.a) ASSERT_EQ(a, e->tick);
  }
}

}  // namespace
}  // namespace isochron::rt
