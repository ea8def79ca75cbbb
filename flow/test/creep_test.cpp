// Nodes that have only promises for each other do not go on by turns of their lookahead, however they are run.

#include <gtest/gtest.h>

#include <random>

#include "core/input_error.hpp"
#include "flow/floor.hpp"
#include "flow/statement_board.hpp"
#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {
namespace {

class EachWay : public testing::TestWithParam<How> {
 protected:
  static FlowOutcome run_it(System system, How how, SimSpan until) {
    Options options;
    options.how = how;
    options.until = at(until);
    options.grain = WallSpan::zero();  // a pool with helpers from the beginning
    options.workers = 2;
    return run(system, options);
  }
  static void expect_quick(const std::function<System()>& make, SimSpan until) {
    const FlowOutcome expected = run_it(make(), How::thread, until);
    ASSERT_TRUE(expected.complete);
    const auto begin = std::chrono::steady_clock::now();
    const FlowOutcome found = run_it(make(), GetParam(), until);
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

/// Speaks with a period, and sends events when it feels like it: by what it hears, so that any change of order shows.
class Chatter : public UserNode {
 public:
  Chatter(std::uint64_t seed, std::uint32_t inputs, Schedule schedule, SimSpan lookahead, std::uint32_t capacity)
      : state_(seed),
        lookahead_(lookahead),
        out_(output<&Chatter::fill>("out", schedule, capacity)),
        event_(event<std::int64_t>("event", lookahead, capacity)) {
    for (std::uint32_t i = 0; i < inputs; ++i) inputs_.push_back(input<&Chatter::got>("in" + std::to_string(i)));
  }

 private:
  void got(const std::int64_t& value, SimTime t, InputId id) {
    state_ = mix(state_, static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(t.ns()) + id.index);
    if (state_ % 5 == 0) event_.send(t + lookahead_ + SimSpan(1us) * static_cast<std::int64_t>(state_ % 5000), word());
  }
  void fill(std::int64_t& value) { value = word(); }
  [[nodiscard]] std::int64_t word() const { return static_cast<std::int64_t>(state_ >> 1U); }
  std::uint64_t state_;
  SimSpan lookahead_;
  Output<std::int64_t> out_;
  Event<std::int64_t> event_;
  std::vector<Input<std::int64_t>> inputs_;
};

System random_system(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  System system;
  const std::uint32_t nodes = 2 + below(4);
  std::vector<std::uint32_t> inputs(nodes);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    inputs[i] = 1 + below(3);
    const SimSpan period = SimSpan(1ms) * (1 + below(40)), first = SimSpan(1us) * below(3000);
    const Schedule schedule = below(4) == 0 ? observes(period, at(first)) : every(period, at(first));
    const SimSpan lookahead = below(2) == 0 ? SimSpan(20ns) : SimSpan(1us) * (1 + below(5000));
    system.add<Chatter>("n" + std::to_string(i), seed + i, inputs[i], schedule, lookahead, 1 + below(4));
  }
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t j = 0; j < inputs[i]; ++j) {
      const std::uint32_t source = (i + 1 + below(nodes - 1)) % nodes;  // not itself
      system.connect(PortRef{source, below(2)}, {i, j});
    }
  }
  return system;
}

TEST_P(EachWay, RandomSystemsHaveOneDigest) {
  int run_through = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    FlowOutcome expected;
    try {
      expected = run_it(random_system(seed), How::thread, 100ms);
    } catch (const InputError&) {
      continue;  // it would deadlock
    }
    const FlowOutcome found = run_it(random_system(seed), GetParam(), 100ms);
    ASSERT_TRUE(expected.complete && found.complete) << "seed " << seed << "\n" << found.stall;
    ASSERT_EQ(found.flow_digests, expected.flow_digests) << "seed " << seed;
    ++run_through;
  }
  EXPECT_GT(run_through, 30);
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
