#include "core/releases.hpp"

#include <gtest/gtest.h>

namespace isochron {
namespace {

using namespace std::chrono_literals;

SimTime at(SimSpan span) { return SimTime::zero() + span; }

TEST(Releases, StandAtTheOffsetAndMultiplesOfThePeriod) {
  Releases r;
  const ReleaseTerms terms{20ms, 7ms, {}, false};
  EXPECT_EQ(r.wait(terms, 20ms, at(0ms), at(0ms)).goes_on, at(7ms));
  EXPECT_EQ(r.wait(terms, 20ms, at(8ms), at(8ms)).goes_on, at(27ms));
  EXPECT_EQ(r.release(), at(27ms));
}

TEST(Releases, AFirstWaitGoesOnAtOnceForTheOneThatHoldsNow) {
  Releases r;
  const auto next = r.wait({10ms, {}, {}, false}, 10ms, at(24ms), at(24ms));
  EXPECT_EQ(next.goes_on, at(24ms));
  EXPECT_EQ(r.release(), at(20ms));
  EXPECT_EQ(next.missed(), 0u);
}

TEST(Releases, WhoIsLateGoesOnAtOnceAndMissesThoseThatPassed) {
  Releases r;
  const ReleaseTerms terms{10ms, {}, {}, false};
  r.wait(terms, 10ms, at(0ms), at(0ms));
  const auto next = r.wait(terms, 10ms, at(34ms), at(34ms));
  EXPECT_EQ(next.goes_on, at(34ms));
  EXPECT_TRUE(next.overrun);
  EXPECT_EQ(next.missed(), 3u) << "its own deadline, and the releases at 10 and 20 ms";
  EXPECT_EQ(r.release(), at(30ms));
}

TEST(Releases, ADeadlineMayBeShorterThanThePeriod) {
  Releases r;
  const ReleaseTerms terms{10ms, {}, 1us, false};
  r.wait(terms, 10ms, at(0ms), at(0ms));
  const auto next = r.wait(terms, 10ms, at(2ms), at(2ms));
  EXPECT_EQ(next.missed(), 1u);
  EXPECT_FALSE(next.overrun);
  EXPECT_EQ(next.goes_on, at(10ms));
}

TEST(Releases, BestEffortHasNoDeadline) {
  Releases r;
  const ReleaseTerms terms{10ms, {}, 1us, true};
  r.wait(terms, 10ms, at(0ms), at(0ms));
  const auto next = r.wait(terms, 10ms, at(34ms), at(34ms));
  EXPECT_EQ(next.missed(), 0u);
  EXPECT_FALSE(next.overrun);
}

TEST(Releases, WhatWasDoneInTimeIsNotLateForBeingSeenLate) {
  Releases r;
  const ReleaseTerms terms{10ms, {}, {}, false};
  r.wait(terms, 10ms, at(0ms), at(0ms));
  const auto next = r.wait(terms, 10ms, at(11ms), at(9ms));
  EXPECT_EQ(next.goes_on, at(11ms));
  EXPECT_EQ(r.release(), at(10ms));
  EXPECT_EQ(next.missed(), 0u);
  EXPECT_FALSE(next.overrun);
}

}  // namespace
}  // namespace isochron
