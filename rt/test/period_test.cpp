#include "rt/period.hpp"

#include <gtest/gtest.h>

#include "rt/test/manual_clock.hpp"

namespace isochron::rt {
namespace {

using namespace std::chrono_literals;

struct PeriodTest : testing::Test {
  ManualClock::State state;
  const MonotonicTime start = state.now;
  void work(nanoseconds d) { state.now += d; }
  BasicPeriod<ManualClock> period(Overrun overrun) {
    return BasicPeriod<ManualClock>(10ms, start, overrun, ManualClock(state));
  }
};

TEST_F(PeriodTest, ReturnsTheTimeThatWasLeft) {
  auto p = period(Overrun::catch_up);
  EXPECT_EQ(p.wait(), 0ns);
  work(3ms);
  EXPECT_EQ(p.wait(), 7ms);
  EXPECT_EQ(p.release(), start + 10ms);
  EXPECT_EQ(p.missed(), 0U);
}

TEST_F(PeriodTest, LateWakeUpsNeverAddUp) {
  state.wakes_late = 50us;
  auto p = period(Overrun::catch_up);
  for (int i = 0; i < 1000; ++i) p.wait();
  EXPECT_EQ(p.release(), start + 999 * 10ms);
  EXPECT_EQ(p.since_release(), 50us);
}

TEST_F(PeriodTest, CatchUpRunsEveryMissedRelease) {
  auto p = period(Overrun::catch_up);
  p.wait();
  work(35ms);
  EXPECT_EQ(p.wait(), -25ms);
  EXPECT_EQ(p.release(), start + 10ms);
  EXPECT_EQ(p.wait(), -15ms);
  EXPECT_EQ(p.wait(), -5ms);
  EXPECT_EQ(p.wait(), 5ms);
  EXPECT_EQ(p.release(), start + 40ms);
  EXPECT_EQ(p.missed(), 3U);
  EXPECT_EQ(p.dropped(), 0U);
}

TEST_F(PeriodTest, SkipDropsMissedReleasesAndKeepsTheGrid) {
  auto p = period(Overrun::skip);
  p.wait();
  work(35ms);
  EXPECT_EQ(p.wait(), -25ms);
  EXPECT_EQ(state.now, start + 40ms);
  EXPECT_EQ(p.release(), start + 40ms);
  EXPECT_EQ(p.missed(), 1U);
  EXPECT_EQ(p.dropped(), 3U);
  EXPECT_EQ(p.wait(), 10ms);
}

TEST_F(PeriodTest, RealignStartsANewGridAtOnce) {
  auto p = period(Overrun::realign);
  p.wait();
  work(35ms);
  EXPECT_EQ(p.wait(), -25ms);
  EXPECT_EQ(state.now, start + 35ms);
  EXPECT_EQ(p.release(), start + 35ms);
  EXPECT_EQ(p.dropped(), 2U);
  EXPECT_EQ(p.wait(), 10ms);
  EXPECT_EQ(p.release(), start + 45ms);
}

TEST_F(PeriodTest, BackExactlyAtTheReleaseIsNotMissed) {
  for (const Overrun overrun : {Overrun::catch_up, Overrun::skip, Overrun::realign}) {
    state.now = start;
    auto p = period(overrun);
    p.wait();
    work(10ms);
    EXPECT_EQ(p.wait(), 0ns);
    EXPECT_EQ(p.missed(), 0U);
  }
}

TEST(Period, KeepsTheRateOnTheRealClock) {
  Period p(1ms);
  const MonotonicTime first = (p.wait(), p.release());
  for (int i = 0; i < 50; ++i) p.wait();
  EXPECT_EQ(p.release(), first + 50ms);
  EXPECT_GE(MonotonicClock::now(), p.release());
}

TEST(PeriodDeath, RefusesAPeriodOfZero) { EXPECT_DEATH(Period(0ms), "above zero"); }

}  // namespace
}  // namespace isochron::rt
