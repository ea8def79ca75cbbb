// When nothing moves: who waits for which flow at which stamp, of whom, and since when, by a clock that is handed in.

#include "flow/stall.hpp"

#include <gtest/gtest.h>

#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {
namespace {

class HandClock final : public Clock {
 public:
  WallTime now() override { return now_; }
  void sleep_until(WallTime t) override { now_ = t; }
  void pass(WallSpan span) { now_ = now_ + span; }

 private:
  WallTime now_;
};

class StallTest : public testing::Test {
 protected:
  StallTest() : statuses_(2) {
    system_.add<Source>("yellow", every(1ms), 1U);
    system_.add<Sink>("red");
    system_.connect("yellow.out", "red.in0");
  }
  void set(std::uint32_t node, Wait::For what, SimTime stamp) {
    statuses_[node].what.store(static_cast<std::uint32_t>(what));
    statuses_[node].at.store(stamp.ns());
  }
  System system_;
  std::vector<NodeStatus> statuses_;
  HandClock clock_;
};

TEST_F(StallTest, IsToldOnceWhenNobodyHasMovedForThatLong) {
  StallWatch watch(statuses_, 1s, clock_);
  clock_.pass(900ms);
  EXPECT_FALSE(watch.look());
  clock_.pass(200ms);
  const auto since = watch.look();
  ASSERT_TRUE(since);
  EXPECT_EQ((*since)[0], WallSpan(1100ms));
  EXPECT_EQ((*since)[1], WallSpan(1100ms));
  clock_.pass(10s);
  EXPECT_FALSE(watch.look()) << "told already";
  statuses_[0].steps.store(1);
  statuses_[1].steps.store(1);
  EXPECT_FALSE(watch.look());
  clock_.pass(1s);
  EXPECT_TRUE(watch.look()) << "another stall";
}

TEST_F(StallTest, OfAPartIsToldWhileOthersMove) {
  StallWatch watch(statuses_, 1s, clock_);
  std::optional<std::vector<WallSpan>> since;
  for (int i = 1; i <= 12 && !since; ++i) {
    statuses_[1].steps.store(static_cast<std::uint64_t>(i));
    clock_.pass(100ms);
    since = watch.look();
  }
  ASSERT_TRUE(since) << "yellow has not moved for a second";
  EXPECT_GE((*since)[0], WallSpan(1s));
  EXPECT_EQ((*since)[1], WallSpan::zero()) << "red moves";
  const WaitForGraph graph = wait_for_graph(system_.graph(), statuses_, *since);
  ASSERT_EQ(graph.size(), 1U);
  EXPECT_EQ(graph[0].node, "yellow");
}

TEST_F(StallTest, IsNotThatAnEventSinkHearsNothingWhileItsTimeGoesOn) {
  StallWatch watch(statuses_, 1s, clock_);
  for (int i = 1; i <= 30; ++i) {
    statuses_[0].steps.store(static_cast<std::uint64_t>(i));
    set(1, Wait::For::message, at(SimSpan(1ms) * i));
    clock_.pass(100ms);
    EXPECT_FALSE(watch.look());
  }
}

TEST_F(StallTest, NamesAStoppedProcessFirst) {
  set(0, Wait::For::room, at(8ms));
  set(1, Wait::For::message, at(8ms));
  statuses_[1].stopped.store(1);
  EXPECT_EQ(to_string(wait_for_graph(system_.graph(), statuses_)),
            "  red is stopped by a signal after 8ms\n  yellow waits for room on yellow.out at 8ms (at red)\n");
}

TEST_F(StallTest, SaysWhoWaitsForWhichFlowAtWhichStampOfWhomAndSinceWhen) {
  set(0, Wait::For::room, at(8ms));
  set(1, Wait::For::message, at(12ms));
  const WaitForGraph graph = wait_for_graph(system_.graph(), statuses_, {WallSpan(2s), WallSpan(1500ms)});
  ASSERT_EQ(graph.size(), 2U);
  EXPECT_EQ(graph[1].node, "red");
  EXPECT_EQ(graph[1].flow, "yellow.out");
  EXPECT_EQ(graph[1].at, at(12ms));
  EXPECT_EQ(graph[1].whom, "yellow");
  EXPECT_EQ(graph[1].since, WallSpan(1500ms));
  EXPECT_EQ(to_string(graph),
            "  yellow waits for room on yellow.out at 8ms (at red), for 2.00s\n"
            "  red waits for a message of yellow.out at 12ms (from yellow), for 1.50s\n");
}

TEST_F(StallTest, ANodeThatMovesWhileItIsLookedAtIsInItsOwnCode) {
  set(1, Wait::For::message, at(12ms));
  statuses_[1].port.store(7);  // what it waited for before was an output
  EXPECT_EQ(to_string(waiting_of(system_.graph(), 1, statuses_[1])), "red is in its own code after 12ms");
  set(0, Wait::For::room, at(8ms));
  statuses_[0].port.store(7);
  EXPECT_EQ(waiting_of(system_.graph(), 0, statuses_[0]).what, Waiting::For::own_code);
}

TEST_F(StallTest, SaysThatANodeCreepsByTheLookaheadOfItsSource) {
  set(1, Wait::For::message, at(12ms));
  statuses_[1].creeps.store(5000);
  EXPECT_EQ(to_string(waiting_of(system_.graph(), 1, statuses_[1])),
            "red waits for a message of yellow.out at 12ms (from yellow); it creeps: 5000 promises and no message (a "
            "longer lookahead helps)");
}

TEST_F(StallTest, WhoeverLooksIsToldAgainAndAgainThoughNothingStalls) {
  std::atomic<int> looks{0};
  const Watchdog watchdog(
      statuses_, clock_,
      [this](const std::vector<WallSpan>& since) { return wait_for_graph(system_.graph(), statuses_, since); },
      {.after = WallSpan::zero(),
       .on_stall = [](const WaitForGraph&) { FAIL() << "zero: stalls are not looked for"; },
       .on_look =
           [&](const WaitForGraph& graph) {
             EXPECT_EQ(graph.size(), 2U);
             ++looks;
           }});
  while (looks.load() < 2) std::this_thread::sleep_for(1ms);
}

}  // namespace
}  // namespace isochron::flow::test
