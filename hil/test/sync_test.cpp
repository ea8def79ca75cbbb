#include "hil/sync.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace isochron::hil {
namespace {

using namespace std::chrono_literals;
using Kind = Sync::Event::Kind;

WallTime wall(std::int64_t us) { return WallTime::from_ns(us * 1000); }
SimTime sim(std::int64_t us) { return SimTime::from_ns(us * 1000); }

Sync::Options charged(SimSpan step = 10ms) {
  Sync::Options options;
  options.step = step;
  options.link_cost = LinkCost::charged;
  options.least = SimSpan::zero();
  return options;
}

/// A sync whose links all run from wall zero on.
struct Bench {
  explicit Bench(const Sync::Options& options, int links = 1) : sync(options) {
    for (int i = 0; i < links; ++i) sync.join(static_cast<std::uint32_t>(i), SimTime::zero());
    sync.start(wall(0));
    for (int i = 0; i < links; ++i) {
      const auto event = sync.next(wall(0));
      EXPECT_EQ(event.kind, Kind::wake);
      sync.answered(event.link, wall(0));
    }
  }
  /// Steps the world as far as it may go now.
  int step_all(WallTime now) {
    int steps = 0;
    for (auto event = sync.next(now); event.kind == Kind::step; event = sync.next(now), ++steps) sync.stepped();
    return steps;
  }
  Sync sync;
};

TEST(Sync, TheWorldWaitsForATargetThatComputes) {
  Bench bench(charged());
  EXPECT_EQ(bench.step_all(wall(25'000)), 2) << "ET is 25 ms: two steps of 10 ms lie before it";
  const auto event = bench.sync.next(wall(25'000));
  EXPECT_EQ(event.kind, Kind::wait);
  EXPECT_EQ(event.link, 0U) << "it says for whom";
  EXPECT_EQ(event.until, wall(30'000)) << "and until when";
}

TEST(Sync, AnAnswerLeavesOnlyWhenTheWorldHasComeToItsStamp) {
  Bench bench(charged());
  EXPECT_EQ(bench.sync.asked(0, wall(25'000), {}), sim(25'000));
  EXPECT_EQ(bench.sync.next(wall(25'000)).kind, Kind::step) << "the world is at 0";
  bench.sync.stepped();
  EXPECT_EQ(bench.sync.next(wall(25'000)).kind, Kind::step);
  bench.sync.stepped();
  const auto event = bench.sync.next(wall(90'000));
  EXPECT_EQ(event.kind, Kind::operation);
  EXPECT_EQ(event.at, sim(25'000));
}

TEST(Sync, ATargetThatIsDelayedAsksLater) {
  Bench bench(charged());
  bench.sync.asked(0, wall(5'000), {});
  bench.sync.delay(0, 20ms);
  EXPECT_EQ(bench.step_all(wall(90'000)), 2) << "what it asks for happens at 25 ms";
  const auto event = bench.sync.next(wall(90'000));
  EXPECT_EQ(event.kind, Kind::operation);
  EXPECT_EQ(event.at, sim(25'000));
  EXPECT_EQ(bench.sync.ran(0), SimSpan(25ms));
}

TEST(Sync, ExecutedTimeStandsStillWhileATargetIsHeld) {
  Bench bench(charged());
  bench.sync.asked(0, wall(5'000), {});
  EXPECT_EQ(bench.sync.executed(0, wall(500'000)), sim(5'000)) << "held for half a second";
  ASSERT_EQ(bench.sync.next(wall(500'000)).kind, Kind::operation);
  bench.sync.answered(0, wall(500'000));
  EXPECT_EQ(bench.sync.asked(0, wall(501'000), {}), sim(6'000)) << "it ran for 1 ms more";
}

TEST(Sync, AStepComesBeforeWhatHappensAtItsEnd) {
  Bench bench(charged());
  bench.sync.asked(0, wall(10'000), {});
  EXPECT_EQ(bench.sync.next(wall(10'000)).kind, Kind::step);
}

TEST(Sync, AmongTargetsTheEarlierStampGoesFirstWhoeverAskedFirst) {
  Bench bench(charged(), 2);
  bench.sync.asked(1, wall(8'000), {});
  EXPECT_EQ(bench.sync.next(wall(8'000)).kind, Kind::wait) << "link 0 is at 8 ms too, and of lower order";
  // Link 0 was let go at 0 and asks at 7 ms; its bytes are seen later.
  bench.sync.asked(0, wall(7'000), {});
  auto event = bench.sync.next(wall(9'000));
  EXPECT_EQ(event.kind, Kind::operation);
  EXPECT_EQ(event.link, 0U);
  EXPECT_EQ(event.at, sim(7'000));
  bench.sync.answered(0, wall(9'000));
  EXPECT_EQ(bench.sync.next(wall(9'500)).kind, Kind::wait) << "link 0 is at 7.5 ms and may still ask before 8 ms";
  event = bench.sync.next(wall(10'001));
  EXPECT_EQ(event.link, 1U);
  EXPECT_EQ(event.at, sim(8'000));
}

TEST(Sync, EqualStampsGoInTheDeclaredOrder) {
  Bench bench(charged(), 3);
  for (const LinkId link : {2U, 0U, 1U}) bench.sync.asked(link, wall(3'000), {});
  for (const LinkId link : {0U, 1U, 2U}) {
    const auto event = bench.sync.next(wall(20'000));
    ASSERT_EQ(event.kind, Kind::operation);
    EXPECT_EQ(event.link, link);
    bench.sync.suspend(link, sim(50'000));
  }
}

TEST(Sync, WhenAllWaitTheWorldIsNotHeldByTheWallClock) {
  Bench bench(charged(), 2);
  for (const LinkId link : {0U, 1U}) {
    bench.sync.asked(link, wall(0), {});
    ASSERT_EQ(bench.sync.next(wall(0)).kind, Kind::operation);
    bench.sync.suspend(link, sim(1'000'000));
  }
  EXPECT_EQ(bench.step_all(wall(0)), 100);
  const auto event = bench.sync.next(wall(0));
  EXPECT_EQ(event.kind, Kind::wake);
  EXPECT_EQ(event.at, sim(1'000'000));
}

TEST(Sync, TargetsThatWakeTogetherAreAllLetGoAtOnce) {
  Bench bench(charged(), 64);
  for (LinkId link = 0; link < 64; ++link) bench.sync.asked(link, wall(0), {});
  for (LinkId link = 0; link < 64; ++link) bench.sync.suspend(bench.sync.next(wall(0)).link, sim(10'000));
  bench.step_all(wall(0));
  for (LinkId link = 0; link < 64; ++link) {
    const auto event = bench.sync.next(wall(1));
    ASSERT_EQ(event.kind, Kind::wake) << link;
    bench.sync.answered(event.link, wall(1));
  }
}

TEST(Sync, WhoAsksAndAsksCannotStopTime) {
  Sync::Options options = charged();
  options.least = 1us;
  Bench bench(options);
  for (int i = 1; i <= 1000; ++i) {
    ASSERT_EQ(bench.sync.asked(0, wall(0), WallSpan::zero()), sim(i));
    bench.sync.next(wall(0));
    bench.sync.answered(0, wall(0));
  }
}

TEST(Sync, TimeOnTheLinkIsTakenOutOfExecutedTime) {
  Sync::Options options;
  options.link_cost = LinkCost::removed;
  Bench bench(options);
  EXPECT_EQ(bench.sync.asked(0, wall(9'000), WallSpan(8ms)), sim(8'000)) << "1 ms was on the way";
  EXPECT_EQ(bench.sync.latency(0).mean(), WallSpan(1ms));
}

TEST(Sync, ChargedTimeOnTheLinkIsPartOfExecutedTime) {
  Bench bench(charged());
  EXPECT_EQ(bench.sync.asked(0, wall(9'000), WallSpan(8ms)), sim(9'000));
  EXPECT_EQ(bench.sync.latency(0).mean(), WallSpan(1ms)) << "it is measured nevertheless";
}

TEST(Sync, AClockThatJumpsOrRunsBackwardsIsNotBelieved) {
  Sync::Options options;
  options.link_cost = LinkCost::removed;
  Bench bench(options);
  EXPECT_EQ(bench.sync.asked(0, wall(9'000), WallSpan(3600s)), sim(9'000)) << "it ran for 9 ms by our clock";
  bench.sync.next(wall(9'000));
  bench.sync.answered(0, wall(9'000));
  EXPECT_EQ(bench.sync.asked(0, wall(10'000), WallSpan(-5ms)), sim(10'000));
  EXPECT_EQ(bench.sync.clock_faults(0), 2U);
}

TEST(Sync, ARequestThatWasLongOnTheWayIsNotStampedBeforeWhatHappened) {
  Sync::Options options;
  options.link_cost = LinkCost::removed;
  Bench bench(options);
  for (int i = 0; i < 100; ++i) bench.sync.latency(0).add(WallSpan(100us));
  EXPECT_EQ(bench.step_all(wall(40'500)), 4);
  EXPECT_EQ(bench.sync.asked(0, wall(60'000), WallSpan(5ms)), sim(40'000)) << "55 ms on the way; the world is at 40";
  EXPECT_EQ(bench.sync.late(0), 1U);
  EXPECT_EQ(bench.sync.late_by(0), SimSpan(35ms));
}

TEST(Sync, APausedTargetStopsTheWorldUntilItIsBack) {
  Bench bench(charged(), 2);
  bench.sync.pause(0, wall(4'000));
  EXPECT_EQ(bench.step_all(wall(900'000)), 0);
  const auto event = bench.sync.next(wall(900'000));
  EXPECT_EQ(event.kind, Kind::wait);
  EXPECT_EQ(event.link, 0U);
  bench.sync.resume(0);
  const auto back = bench.sync.next(wall(900'000));
  EXPECT_EQ(back.kind, Kind::wake);
  EXPECT_EQ(back.at, sim(4'000));
}

TEST(Sync, ATargetThatLeftHoldsNobody) {
  Bench bench(charged(), 2);
  bench.sync.leave(0);
  bench.sync.asked(1, wall(35'000), {});
  EXPECT_EQ(bench.step_all(wall(35'000)), 3);
}

TEST(Sync, AMessageEndsAWaitEarly) {
  Bench bench(charged(), 2);
  bench.sync.asked(0, wall(1'000), {});
  bench.sync.asked(1, wall(2'000), {});
  bench.sync.next(wall(2'000));
  bench.sync.suspend(0, sim(100'000), true);
  EXPECT_EQ(bench.sync.next(wall(2'000)).link, 1U);
  bench.sync.message(0, sim(2'000) + SimSpan::from_ns(1));
  bench.sync.suspend(1, sim(100'000));
  const auto event = bench.sync.next(wall(2'000));
  EXPECT_EQ(event.kind, Kind::wake);
  EXPECT_EQ(event.link, 0U);
}

TEST(Sync, APaceHoldsTheWorldBack) {
  Sync::Options options = charged();
  options.pace = PaceRate(2, 1);  // two wall seconds for a simulated one
  Bench bench(options);
  EXPECT_EQ(bench.step_all(wall(40'000)), 2);
  EXPECT_EQ(bench.sync.next(wall(40'000)).until, wall(60'000));
}

TEST(Sync, WithoutHoldingAnswersLeaveAtOnceAtTheWorldsTime) {
  Sync::Options options = charged();
  options.held = false;
  options.pace = PaceRate(4, 1);  // the world is four times slower than real time
  Bench bench(options);
  bench.step_all(wall(40'000));
  EXPECT_EQ(bench.sync.world(), sim(10'000));
  EXPECT_EQ(bench.sync.asked(0, wall(39'000), {}), sim(10'000)) << "39 ms of computing look like 10";
  EXPECT_EQ(bench.sync.next(wall(40'000)).kind, Kind::operation);
}

TEST(Sync, TheRunEndsAtItsEnd) {
  Sync::Options options = charged();
  options.until = sim(30'000);
  Bench bench(options);
  bench.step_all(wall(50'000));
  EXPECT_EQ(bench.sync.next(wall(50'000)).kind, Kind::finished);
  EXPECT_EQ(bench.sync.world(), sim(30'000));
}

/// Random targets that compute, ask and wait, against the promises of the header.
TEST(Sync, KeepsItsPromisesForRandomTargets) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "sync");
    const int links = 1 + static_cast<int>(random.below(5));
    Sync::Options options;
    options.step = SimSpan(1ms) * static_cast<std::int64_t>(1 + random.below(10));
    options.link_cost = random.chance(0.5) ? LinkCost::charged : LinkCost::removed;
    Bench bench(options, links);
    Sync& sync = bench.sync;
    struct Target {
      WallTime asks;
      WallSpan told;
      SimTime last;
    };
    std::vector<Target> targets(static_cast<std::size_t>(links));
    std::int64_t now = 0;
    const auto run = [&](LinkId link) {
      const auto computes = static_cast<std::int64_t>(random.below(20'000)),
                 on_link = static_cast<std::int64_t>(random.below(300));
      targets[link].asks = wall(now + computes + on_link);
      targets[link].told = WallSpan(std::chrono::microseconds(computes));
    };
    for (LinkId link = 0; link < targets.size(); ++link) run(link);
    SimTime latest;
    for (int events = 0; events < 2000; ++events) {
      for (LinkId link = 0; link < targets.size(); ++link) {
        if (sync.state(link) != Sync::State::free || targets[link].asks > wall(now)) continue;
        const SimTime stamp = sync.asked(link, targets[link].asks, targets[link].told);
        ASSERT_GE(stamp, targets[link].last) << "seed " << seed << ": ET went back";
        targets[link].last = stamp;
      }
      const auto event = sync.next(wall(now));
      if (event.kind == Kind::step) {
        for (LinkId link = 0; link < targets.size(); ++link) {
          if (sync.state(link) != Sync::State::free) continue;
          ASSERT_GE(sync.executed(link, wall(now)) + SimSpan(1ms), event.at)
              << "seed " << seed << ": ST ran ahead of ET";
        }
        sync.stepped();
      } else if (event.kind == Kind::operation || event.kind == Kind::wake) {
        ASSERT_GE(event.at, latest) << "seed " << seed << ": operations out of order";
        ASSERT_LT(event.at, sync.world() + options.step) << "seed " << seed << ": answered before ST was there";
        latest = event.at;
        targets[event.link].last = event.at;
        if (event.kind == Kind::operation && random.chance(0.3)) {
          sync.suspend(event.link, event.at + SimSpan::from_ns(static_cast<std::int64_t>(random.below(30'000'000))));
        } else {
          sync.answered(event.link, wall(now));
          run(event.link);
        }
      } else {
        now += 50;
      }
    }
    EXPECT_GT(sync.world(), sim(1'000)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace isochron::hil
