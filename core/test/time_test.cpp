#include "core/time.hpp"

#include <gtest/gtest.h>

#include "core/progress.hpp"
#include "core/rate.hpp"

namespace isochron {
namespace {
using namespace std::chrono_literals;

// Mixing clocks must not compile; compile_fail/ shows the compiler refusing, this shows why it has nothing to offer.
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};
static_assert(Addable<WallTime, WallSpan>);
static_assert(!Addable<WallTime, SimSpan>);
static_assert(!Addable<SimSpan, CpuSpan>);
static_assert(!Addable<SimTime, SimTime>);
static_assert(!Comparable<SimTime, WallTime>);
static_assert(!std::is_convertible_v<SimSpan, WallSpan>);
static_assert(!std::is_convertible_v<std::int64_t, SimSpan>);
static_assert(!std::is_convertible_v<std::chrono::duration<double>, SimSpan>);

TEST(Time, AddsAndSubtractsExactly) {
  const SimTime start = SimTime::from_ns(-5);
  EXPECT_EQ((start + 10ms).ns(), 9'999'995);
  EXPECT_EQ((start + 10ms) - start, SimSpan(10ms));
  EXPECT_EQ(SimSpan(1s) / SimSpan(300ms), 3);
  EXPECT_EQ(SimSpan(1s) % SimSpan(300ms), SimSpan(100ms));
}

TEST(Time, NeverAbsorbsAndIsLaterThanAll) {
  EXPECT_EQ(SimTime::never() + SimSpan(1s), SimTime::never());
  EXPECT_EQ(SimTime::never() - SimSpan(1s), SimTime::never());
  EXPECT_GT(SimTime::never(), SimTime::from_ns(std::numeric_limits<std::int64_t>::max() - 1));
}

TEST(TimeDeathTest, OverflowIsCaughtNotWrapped) {
  const SimTime late = SimTime::from_ns(std::numeric_limits<std::int64_t>::max() - 1);
  EXPECT_DEATH((void)(late + 10ns), "a time span overflowed");
  EXPECT_DEATH((void)(SimSpan::max() * 2), "a time span overflowed");
  EXPECT_DEATH((void)(-SimSpan::from_ns(std::numeric_limits<std::int64_t>::min())), "a time span overflowed");
}

TEST(Time, SecondsRoundToTheNearestNanosecond) {
  EXPECT_EQ(SimSpan::from_seconds(0.1).ns(), 100'000'000);
  EXPECT_EQ(SimSpan::from_seconds(-1e-9).ns(), -1);
}

TEST(Progress, IsWhatWasExecutedPlusWhatWasWaited) {
  Progress progress(SimTime::from_ns(100));
  progress.execute(SimSpan::from_ns(30));
  progress.wait_until(SimTime::from_ns(200));
  progress.wait_until(SimTime::from_ns(150));  // already passed: no wait
  EXPECT_EQ(progress.at(), SimTime::from_ns(200));
  EXPECT_EQ(progress.executed(), SimSpan::from_ns(30));
  EXPECT_EQ(progress.waited(), SimSpan::from_ns(70));
}

TEST(ProgressDeathTest, CannotGoBack) {
  Progress progress;
  EXPECT_DEATH(progress.execute(SimSpan::from_ns(-1)), "progress cannot go back");
}

TEST(EnsureDeathTest, NamesParticipantAndTime) {
  const DoingScope doing("predator/planner", 42);
  EXPECT_DEATH(ENSURE(1 > 2, "arithmetic"), "arithmetic(.|\n)*participant predator/planner at simulated time 42 ns");
}

TEST(Rate, ConvertsOneClockIntoAnotherExactly) {
  const ComputeRate four_times_slower(4, 1);
  EXPECT_EQ(four_times_slower.apply(CpuSpan(3ms)), SimSpan(12ms));
  EXPECT_EQ(four_times_slower.inverse().apply(SimSpan(12ms)), CpuSpan(3ms));
  const ComputeRate third(1, 3);
  EXPECT_EQ(third.apply(CpuSpan::from_ns(10)).ns(), 3);
  EXPECT_EQ(third.apply(CpuSpan::from_ns(std::numeric_limits<std::int64_t>::max())).ns(), 3'074'457'345'618'258'602);
}

TEST(Rate, ReadsFactorsExactly) {
  EXPECT_EQ(*parse_fraction("0.25"), (Fraction{1, 4}));
  EXPECT_EQ(*parse_fraction("1x"), (Fraction{1, 1}));
  EXPECT_EQ(*parse_fraction("0.1x"), (Fraction{1, 10}));
  EXPECT_EQ(*parse_fraction("10/4"), (Fraction{5, 2}));
  for (const char* wrong :
       {"", "x", "0", "-1", "1.2.3", "1e3", "nan", "1/0", ".", "99999999999999999999", "0.0000000001"}) {
    EXPECT_FALSE(parse_fraction(wrong).ok()) << wrong;
  }
  for (const char* text : {"0.25", "4", "1/3", "2.5", "0.125"}) EXPECT_EQ(to_string(*parse_fraction(text)), text);
}

}  // namespace
}  // namespace isochron
