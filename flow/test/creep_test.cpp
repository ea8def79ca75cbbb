// Nodes that have only promises for each other do not go on by turns of their lookahead, however they are run.

#include <gtest/gtest.h>

#include "flow/floor.hpp"
#include "flow/statement_board.hpp"
#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {
namespace {

class EachWay : public testing::TestWithParam<How> {
 protected:
  static Outcome run_it(System system, How how, SimSpan until) {
    Options options;
    options.how = how;
    options.until = at(until);
    options.grain = WallSpan::zero();  // a pool with helpers from the beginning
    options.workers = 2;
    return run(system, options);
  }
  static void expect_quick(const std::function<System()>& make, SimSpan until) {
    const Outcome expected = run_it(make(), How::thread, until);
    ASSERT_TRUE(expected.complete);
    const auto begin = std::chrono::steady_clock::now();
    const Outcome found = run_it(make(), GetParam(), until);
    EXPECT_TRUE(found.complete) << found.stall;
    EXPECT_EQ(found.digest, expected.digest);
    EXPECT_EQ(found.messages, expected.messages);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  }
};
INSTANTIATE_TEST_SUITE_P(Creep, EachWay, testing::Values(How::pool, How::threads, How::processes, How::tcp),
                         [](const auto& how) { return to_string(how.param); });

TEST_P(EachWay, TwoDoNotCreepThroughSilence) {
  expect_quick([] { return quiet_ring(2); }, 20s);
}

TEST_P(EachWay, ARingDoesNotCreepThroughSilence) {
  expect_quick([] { return quiet_ring(5); }, 20s);
}

TEST_P(EachWay, SilenceEndsWithWhateverComesFirst) {
  expect_quick([] { return quiet_ring_with_a_clock(4); }, 5s);
}

TEST_P(EachWay, LongLookaheadsGiveTheSame) {
  expect_quick([] { return quiet_ring_with_a_clock(3, 30ms); }, 20s);
}

TEST_P(EachWay, ASecondOfSilenceBeyondTheEndTakesNoTime) {
  expect_quick([] { return quiet_ring(3); }, 900ms);
}

// ---- the rule itself, on a → b ⇄ c ----

class FloorTest : public testing::Test {
 protected:
  FloorTest() {
    system_.add<Source>("a", every(10ms));
    system_.add<Quiet>("b", true, 2U, shortest);
    system_.add<Quiet>("c", false, 1U, shortest);
    system_.connect("a.out", "b.in1");
    system_.connect("c.out", "b.in0");
    system_.connect("b.out", "c.in0");
    assembly_ = std::make_unique<Assembly>(system_, AssemblyPlan{});
    links_ = std::make_unique<Links>(*assembly_);
    gathered_ = std::make_unique<Gathered>(*links_);
  }
  /// Links by input: 0 is c → b, 1 is a → b, 2 is b → c.
  void a(SimTime first, std::uint64_t sent) { gathered_->add({0, first, {}, {{1, sent}}}); }
  void b(SimTime first, std::uint64_t from_c, std::uint64_t from_a, std::uint64_t sent) {
    gathered_->add({1, first, {{0, from_c}, {1, from_a}}, {{2, sent}}});
  }
  void c(SimTime first, std::uint64_t known, std::uint64_t sent) {
    gathered_->add({2, first, {{2, known}}, {{0, sent}}});
  }
  System system_;
  std::unique_ptr<Assembly> assembly_;
  std::unique_ptr<Links> links_;
  std::unique_ptr<Gathered> gathered_;
};

TEST_F(FloorTest, IsTheLeastOfAllThatCanReachANode) {
  a(at(30ms), 3), b(at(50ms), 1, 3, 2), c(at(40ms), 2, 1);
  EXPECT_EQ(gathered_->floor_of(1).floor, at(30ms));
  EXPECT_EQ(gathered_->floor_of(2).floor, at(30ms));
  EXPECT_EQ(gathered_->floor_of(0).floor, at(30ms)) << "nobody reaches a";
}

TEST_F(FloorTest, IsNotKnownWhileAMessageIsUnderWay) {
  a(at(30ms), 4), b(at(50ms), 1, 3, 2), c(at(40ms), 2, 1);
  const auto verdict = gathered_->floor_of(2);
  EXPECT_EQ(verdict.floor, std::nullopt) << "b does not know a's fourth message, which may be of any time";
  EXPECT_EQ(verdict.outdated, std::vector<std::uint32_t>{1});
}

TEST_F(FloorTest, TakesAnOldStatementOfASource) {
  a(at(30ms), 2), b(at(50ms), 1, 3, 2), c(at(40ms), 2, 1);
  EXPECT_EQ(gathered_->floor_of(1).floor, at(30ms)) << "what a sent since then was not earlier";
}

TEST_F(FloorTest, NeedsEverybodyWhoCanReachTheNode) {
  a(at(30ms), 3), b(at(50ms), 1, 3, 2);
  EXPECT_EQ(gathered_->floor_of(1).outdated, std::vector<std::uint32_t>{2});
}

TEST_F(FloorTest, DoesNotMindWhoIsBehindALinkOnWhichNothingMoreComes) {
  b(at(50ms), 1, nothing_more, 2), c(at(40ms), 2, 1);
  EXPECT_EQ(gathered_->floor_of(2).floor, at(40ms));
}

TEST_F(FloorTest, AStatementOnTheBoardIsReadAsItWasPosted) {
  StatementBoard board(*assembly_);
  Statement read;
  EXPECT_FALSE(board.read(1, read));
  const Statement said{1, at(50ms), {{0, 1}, {1, 3}}, {{2, 2}}};
  board.post(said);
  ASSERT_TRUE(board.read(1, read));
  EXPECT_EQ(read, said);
}

}  // namespace
}  // namespace isochron::flow::test
