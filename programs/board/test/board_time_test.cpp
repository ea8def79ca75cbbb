// Boards on the timeline: whose time is told by a clock elsewhere.

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "programs/timeline.hpp"

namespace isochron::programs {
namespace {

using namespace std::chrono_literals;
using Kind = Timeline::Event::Kind;

WallTime wall(std::int64_t us) { return WallTime::from_ns(us * 1000); }
SimTime sim(std::int64_t us) { return SimTime::from_ns(us * 1000); }
SimSpan span(std::int64_t us) { return SimSpan::from_ns(us * 1000); }

Timeline::Options options(SimSpan step = 10ms, SimTime until = SimTime::never()) {
  return {SimTime::zero(), until, step, 1ms};
}

/// Boards that all run from wall zero on; what they ask reads.
struct Rig {
  explicit Rig(const Timeline::Options& how = options(), int boards = 1, bool held = true) : timeline({}, {}, how) {
    for (int i = 0; i < boards; ++i) timeline.join(SimTime::zero(), held);
    for (int i = 0; i < boards; ++i) {
      const auto event = timeline.next(wall(0));
      EXPECT_EQ(event.kind, Kind::wake);
      timeline.let_go(event.program, wall(0), {});
    }
  }
  /// Steps the world as far as it may go now.
  int step_all(WallTime now) {
    int steps = 0;
    for (auto event = timeline.next(now); event.kind == Kind::step; event = timeline.next(now), ++steps)
      timeline.stepped();
    return steps;
  }
  void answer(std::uint32_t board, WallTime left, WallSpan on_the_way = {}) {
    timeline.resume(board);
    timeline.let_go(board, left, on_the_way);
  }
  Timeline timeline;
};

TEST(BoardTime, TheWorldWaitsForABoardThatComputes) {
  Rig rig;
  EXPECT_EQ(rig.step_all(wall(25'000)), 2) << "ET is 25 ms: two steps of 10 ms lie before it";
  const auto event = rig.timeline.next(wall(25'000));
  EXPECT_EQ(event.kind, Kind::listen);
  EXPECT_EQ(event.program, 0U) << "it says for whom";
  EXPECT_EQ(event.until, wall(30'000)) << "and until when";
}

TEST(BoardTime, AnAnswerLeavesOnlyWhenTheWorldHasComeToItsStamp) {
  Rig rig;
  EXPECT_EQ(rig.timeline.asked(0, 25ms, true), sim(25'000));
  EXPECT_EQ(rig.step_all(wall(25'000)), 2) << "the world was at 0";
  const auto event = rig.timeline.next(wall(90'000));
  EXPECT_EQ(event.kind, Kind::operation);
  EXPECT_EQ(event.at, sim(25'000));
}

TEST(BoardTime, ABoardThatIsDelayedAsksLater) {
  Rig rig;
  rig.timeline.asked(0, 5ms, true);
  ASSERT_EQ(rig.timeline.next(wall(5'000)).kind, Kind::operation);
  rig.timeline.executed(0, 20ms);
  EXPECT_EQ(rig.step_all(wall(90'000)), 2) << "what it asks for happens at 25 ms";
  EXPECT_EQ(rig.timeline.next(wall(90'000)).at, sim(25'000));
}

TEST(BoardTime, ItsTimeStandsStillWhileItIsHeld) {
  Rig rig;
  rig.timeline.asked(0, 5ms, true);
  ASSERT_EQ(rig.timeline.next(wall(500'000)).kind, Kind::operation) << "held for half a second";
  rig.answer(0, wall(500'000));
  EXPECT_EQ(rig.timeline.asked(0, 1ms, true), sim(6'000)) << "it ran for 1 ms more";
}

TEST(BoardTime, AStepComesBeforeWhatHappensAtItsEnd) {
  Rig rig;
  rig.timeline.asked(0, 10ms, true);
  EXPECT_EQ(rig.timeline.next(wall(10'000)).kind, Kind::step);
}

TEST(BoardTime, AReadWaitsForWhoCouldStillWriteBeforeIt) {
  Rig rig(options(), 2);
  rig.timeline.asked(1, 8ms, true);
  EXPECT_EQ(rig.timeline.next(wall(7'000)).kind, Kind::listen) << "board 0 is at 7 ms and may still write";
  rig.timeline.asked(0, span(7'500), false);
  auto event = rig.timeline.next(wall(9'000));
  EXPECT_EQ(event.kind, Kind::operation);
  EXPECT_EQ(event.program, 0U);
  EXPECT_EQ(event.at, sim(7'500));
  rig.answer(0, wall(9'000));
  event = rig.timeline.next(wall(9'400));
  EXPECT_EQ(event.kind, Kind::listen) << "board 0 is at 7.9 ms";
  EXPECT_EQ(event.until, wall(9'500));
  event = rig.timeline.next(wall(9'500));
  EXPECT_EQ(event.program, 1U);
  EXPECT_EQ(event.at, sim(8'000));
}

TEST(BoardTime, AWriteNeedNotWait) {
  Rig rig(options(), 2);
  rig.timeline.asked(1, 8ms, false);
  EXPECT_EQ(rig.timeline.next(wall(0)).kind, Kind::operation) << "nobody sees it before its time";
}

TEST(BoardTime, WhenAllWaitTheWorldIsNotHeldByTheWallClock) {
  Rig rig(options(), 2);
  for (int i = 0; i < 2; ++i) rig.timeline.asked(static_cast<std::uint32_t>(i), {}, true);
  for (int i = 0; i < 2; ++i) {
    const auto event = rig.timeline.next(wall(0));
    ASSERT_EQ(event.kind, Kind::operation);
    rig.timeline.suspend(event.program, 0, sim(1'000'000), false, false);
  }
  EXPECT_EQ(rig.step_all(wall(0)), 100);
  const auto event = rig.timeline.next(wall(0));
  EXPECT_EQ(event.kind, Kind::wake);
  EXPECT_EQ(event.at, sim(1'000'000));
}

TEST(BoardTime, ARequestThatWasLongOnTheWayIsNotStampedBeforeWhatHappened) {
  Rig rig;
  EXPECT_EQ(rig.step_all(wall(40'500)), 4);
  EXPECT_EQ(rig.timeline.asked(0, 5ms, true), sim(40'000)) << "35 ms later than it said; the world is at 40";
}

TEST(BoardTime, WhatMayBeOnTheWayIsNotCounted) {
  Rig rig;
  rig.timeline.asked(0, 1ms, true);
  ASSERT_EQ(rig.timeline.next(wall(1'000)).kind, Kind::operation);
  rig.answer(0, wall(1'000), 2ms);
  EXPECT_EQ(rig.step_all(wall(11'500)), 0) << "by then it may have asked at 9.5 ms";
  EXPECT_EQ(rig.step_all(wall(12'000)), 1);
}

TEST(BoardTime, ALostBoardStopsTheWorldUntilItIsBack) {
  Rig rig(options(), 2);
  EXPECT_EQ(rig.step_all(wall(4'000)), 0);
  rig.timeline.lose(0);
  EXPECT_EQ(rig.step_all(wall(900'000)), 0);
  const auto event = rig.timeline.next(wall(900'000));
  EXPECT_EQ(event.kind, Kind::stalled);
  EXPECT_EQ(event.program, 0U);
  EXPECT_EQ(rig.timeline.recovered(0, sim(4'000)), sim(4'000));
  const auto back = rig.timeline.next(wall(900'000));
  EXPECT_EQ(back.kind, Kind::wake);
  EXPECT_EQ(back.at, sim(4'000));
}

TEST(BoardTime, ABoardThatLeftHoldsNobody) {
  Rig rig(options(), 2);
  rig.timeline.leave(0);
  rig.timeline.asked(1, 35ms, true);
  EXPECT_EQ(rig.step_all(wall(35'000)), 3);
}

TEST(BoardTime, AMessageEndsAWaitEarly) {
  Rig rig(options(), 2);
  rig.timeline.asked(0, 1ms, true);
  rig.timeline.asked(1, 2ms, false);
  auto event = rig.timeline.next(wall(2'000));
  ASSERT_EQ(event.program, 0U);
  rig.timeline.suspend(0, 0, sim(100'000), true, false);
  event = rig.timeline.next(wall(2'000));
  ASSERT_EQ(event.program, 1U);
  rig.timeline.message(0, 0, sim(2'000) + SimSpan::from_ns(1));
  rig.timeline.suspend(1, 0, sim(100'000), false, false);
  event = rig.timeline.next(wall(2'000));
  EXPECT_EQ(event.kind, Kind::wake);
  EXPECT_EQ(event.program, 0U);
}

TEST(BoardTime, WithoutHoldingAnswersLeaveAtOnceAtTheWorldsTime) {
  Rig rig(options(), 1, false);
  EXPECT_EQ(rig.timeline.next(wall(0)).kind, Kind::step) << "nobody waits for it";
  rig.timeline.stepped();
  EXPECT_EQ(rig.timeline.asked(0, 39ms, true), sim(10'000)) << "39 ms of computing look like 10";
  EXPECT_EQ(rig.timeline.next(wall(40'000)).kind, Kind::operation);
}

TEST(BoardTime, TheRunEndsAtItsEnd) {
  Rig rig(options(10ms, sim(30'000)));
  rig.step_all(wall(50'000));
  EXPECT_EQ(rig.timeline.next(wall(50'000)).kind, Kind::finished);
  EXPECT_EQ(rig.timeline.world(), sim(30'000));
}

TEST(BoardTime, AMeasuredProgramExecutesWhileABoardComputes) {
  std::vector<std::unique_ptr<Policy>> cpus;
  cpus.push_back(std::make_unique<FixedPriority>());
  Timeline timeline(std::move(cpus), {{0, 0, true, 1}}, options());
  const std::uint32_t board = timeline.join(SimTime::zero(), true);
  auto event = timeline.next(wall(0));
  EXPECT_EQ(event.kind, Kind::run);
  EXPECT_EQ(event.budget, SimSpan(1ms)) << "a quantum ahead of the board";
  timeline.executed(0, 1ms);
  ASSERT_EQ(timeline.next(wall(0)).kind, Kind::wake);
  timeline.let_go(board, wall(0), {});
  event = timeline.next(wall(100));
  EXPECT_EQ(event.kind, Kind::run) << "the board is at 0.1 ms";
  EXPECT_EQ(event.budget, span(100));
  timeline.executed(0, span(100));
  event = timeline.next(wall(100));
  EXPECT_EQ(event.kind, Kind::listen);
  EXPECT_EQ(event.until, wall(600)) << "half a quantum more";
}

/// Random boards that compute, ask and wait, against the promises of the header.
TEST(BoardTime, KeepsItsPromisesForRandomBoards) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "boards");
    const int boards = 1 + static_cast<int>(random.below(5));
    const SimSpan step = SimSpan(1ms) * static_cast<std::int64_t>(1 + random.below(10));
    constexpr WallSpan way = 300us;
    Rig rig(options(step), boards);
    Timeline& timeline = rig.timeline;
    struct Board {
      WallTime asks;
      SimSpan told;
      SimTime last;
      bool computes = true;
    };
    std::vector<Board> all(static_cast<std::size_t>(boards));
    std::int64_t now = 0;
    const auto run = [&](std::uint32_t board) {
      const auto computes = static_cast<std::int64_t>(random.below(20'000));
      const auto on_link = static_cast<std::int64_t>(random.below(300));
      all[board].asks = wall(now + computes + on_link);
      all[board].told = span(computes);
      all[board].computes = true;
      timeline.let_go(board, wall(now), way);
    };
    for (std::uint32_t board = 0; board < all.size(); ++board) run(board);
    for (int events = 0; events < 2000; ++events) {
      for (std::uint32_t board = 0; board < all.size(); ++board) {
        if (!all[board].computes || all[board].asks > wall(now)) continue;
        all[board].computes = false;
        const SimTime stamp = timeline.asked(board, all[board].told, random.chance(0.5));
        ASSERT_GE(stamp, all[board].last) << "seed " << seed << ": ET went back";
        all[board].last = stamp;
      }
      const auto event = timeline.next(wall(now));
      if (event.kind == Kind::step) {
        timeline.stepped();
      } else if (event.kind == Kind::operation || event.kind == Kind::wake) {
        ASSERT_GE(event.at, all[event.program].last) << "seed " << seed << ": out of order";
        ASSERT_GE(event.at, timeline.world()) << "seed " << seed << ": in the past";
        ASSERT_LT(event.at, timeline.world() + step) << "seed " << seed << ": answered before ST was there";
        all[event.program].last = event.at;
        if (event.kind == Kind::operation && random.chance(0.3)) {
          const auto pause = static_cast<std::int64_t>(random.below(30'000'000));
          timeline.suspend(event.program, 0, event.at + SimSpan::from_ns(pause), false, false);
        } else {
          if (event.kind == Kind::operation) timeline.resume(event.program);
          run(event.program);
        }
      } else {
        ASSERT_EQ(event.kind, Kind::listen);
        now += 50;
      }
    }
    EXPECT_GT(timeline.world(), sim(1'000)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace isochron::programs
