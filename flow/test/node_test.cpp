// The order of things at one node, and what the original got wrong about it.

#include "flow/node.hpp"

#include <gtest/gtest.h>

#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {
namespace {

FlowOutcome run_until(System& system, SimTime until) { return run(system, {.until = until}); }

/// Emits a prediction and an observation at each tick and says in which order things happened.
class Both : public UserNode {
 public:
  explicit Both(Trace& trace) : trace_(trace) {}

 private:
  void predict(std::int64_t& value, SimTime t) { say(t, "predict"), value = 0; }
  void observe(std::int64_t& value, SimTime t) { say(t, "observe"), value = 0; }
  void got(const std::int64_t&, SimTime t, InputId id) { say(t, "consume" + std::to_string(id.index)); }
  void say(SimTime t, const std::string& what) { trace_.push_back(std::to_string(t.ns()) + ":" + what); }
  Trace& trace_;
  Input<std::int64_t> a_ = input<&Both::got>("a");
  Input<std::int64_t> b_ = input<&Both::got>("b");
  Output<std::int64_t> observed_ = output<&Both::observe>("observed", observes(2ns));
  Output<std::int64_t> predicted_ = output<&Both::predict>("predicted", every(2ns));
};

TEST(Node, EmitsPredictionsThenConsumesThenObservesAtEqualTimes) {
  Trace trace;
  System system;
  system.add<Both>("both", trace);
  system.add<Source>("late", every(2ns));
  system.add<Source>("early", every(2ns));
  system.connect("early.out", "both.a");
  system.connect("late.out", "both.b");
  ASSERT_TRUE(run_until(system, at(3ns)).complete);
  EXPECT_EQ(trace, (Trace{"0:predict", "0:consume0", "0:consume1", "0:observe", "2:predict", "2:consume0", "2:consume1",
                          "2:observe"}));
}

TEST(Node, BreaksTiesByTheDeclaredInputWhateverRunsFirst) {
  for (const bool swapped : {false, true}) {  // the order of nodes decides who runs first
    Trace trace;
    System system;
    system.add<Source>(swapped ? "b" : "a", every(1ns));
    system.add<Source>(swapped ? "a" : "b", every(1ns));
    system.add<Sink>("sink", 2, &trace);
    system.connect("a.out", "sink.in0");
    system.connect("b.out", "sink.in1");
    ASSERT_TRUE(run_until(system, at(2ns)).complete);
    EXPECT_EQ(trace, (Trace{"0:0=1", "0:1=1", "1:0=2", "1:1=2"}));
  }
}

class Changing : public UserNode {
  void fill(std::int64_t& value, SimTime t) {
    value = ++count_;
    if (count_ == 2) out_.set_period(3ns);
    out_.next_at(t + (count_ == 4 ? SimSpan(10ns) : count_ == 1 ? SimSpan(1ns) : SimSpan(3ns)));
  }
  std::int64_t count_ = 0;
  Output<std::int64_t> out_ = output<&Changing::fill>("out", every(1ns));
};

TEST(Node, FollowsAPeriodThatChangesWithEachMessage) {
  Trace trace;
  System system;
  system.add<Changing>("source");
  system.add<Sink>("sink", 1, &trace);
  system.connect("source.out", "sink.in0");
  ASSERT_TRUE(run_until(system, at(20ns)).complete);
  EXPECT_EQ(trace, (Trace{"0:0=1", "1:0=2", "4:0=3", "7:0=4", "17:0=5"}));
}

class Backwards : public UserNode {
  void fill(std::int64_t&, SimTime t) { out_.next_at(t); }
  Output<std::int64_t> out_ = output<&Backwards::fill>("out", every(1ns));
};

TEST(Node, RefusesAPeriodOfZeroAndNamesTheFlow) {
  System system;
  system.add<Backwards>("bad");
  const FlowOutcome outcome = run_until(system, at(5ns));
  ASSERT_FALSE(outcome.complete);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_NE(to_string(outcome.failures[0]).find("flow bad.out: the message at 0s"), std::string::npos)
      << to_string(outcome.failures[0]);
}

TEST(Node, RunsWithNegativeTimesAndAcrossWholeSeconds) {
  Trace trace;
  System system;
  system.set_start(SimTime::from_ns(-1'500'000'000));
  system.add<Source>("source", every(700ms, SimTime::from_ns(-1'400'000'000)));
  system.add<Sink>("sink", 1, &trace);
  system.connect("source.out", "sink.in0");
  ASSERT_TRUE(run_until(system, at(1s)).complete);
  EXPECT_EQ(trace, (Trace{"-1400000000:0=1", "-700000000:0=2", "0:0=3", "700000000:0=4"}));
}

/// Sends events as a table says, in answer to messages.
class Events : public UserNode {
 public:
  struct Send {
    std::int64_t when, at, value;
  };
  Events(SimSpan lookahead, std::vector<Send> table, std::uint32_t capacity = 1)
      : event_(event<std::int64_t>("event", lookahead, capacity)), table_(std::move(table)) {}

 private:
  void got(const std::int64_t&, SimTime t) {
    for (const Send& send : table_) {
      if (send.when == t.ns()) event_.send(SimTime::from_ns(send.at), send.value);
    }
  }
  Input<std::int64_t> in_ = input<&Events::got>("in");
  Event<std::int64_t> event_;
  std::vector<Send> table_;
};

TEST(Node, DeliversEventsInOrderOfTimeAndOfSendingAmongEquals) {
  Trace trace;
  System system;
  system.add<Source>("clock", every(5ns));
  system.add<Events>("events", 1ns, std::vector<Events::Send>{{0, 9, 1}, {0, 3, 2}, {0, 3, 3}, {5, 6, 4}, {5, 9, 5}});
  system.add<Sink>("sink", 1, &trace);
  system.connect("clock.out", "events.in");
  system.connect("events.event", "sink.in0");
  ASSERT_TRUE(run_until(system, at(20ns)).complete);
  EXPECT_EQ(trace, (Trace{"3:0=2", "3:0=3", "6:0=4", "9:0=1", "9:0=5"}));
}

TEST(Node, LetsEventsWaitForRoomWithoutWaitingItself) {
  // Two hundred events in one go through a buffer of one.
  std::vector<Events::Send> burst;
  for (std::int64_t i = 0; i < 200; ++i) burst.push_back({0, 3, i});
  Trace trace;
  System system;
  system.add<Source>("clock", every(1ns));
  system.add<Events>("events", 2ns, burst);
  system.add<Sink>("a", 1, &trace);
  system.add<Sink>("b");
  system.connect("clock.out", "events.in");
  system.connect("events.event", "a.in0");
  system.connect("events.event", "b.in0");
  ASSERT_TRUE(run_until(system, at(10ns)).complete);
  EXPECT_EQ(trace.size(), 200U);
  EXPECT_EQ(trace.back(), "3:0=199");
}

TEST(Node, RefusesAnEventEarlierThanItsLookahead) {
  System system;
  system.add<Source>("clock", every(5ns));
  system.add<Events>("events", 4ns, std::vector<Events::Send>{{5, 8, 1}});
  system.connect("clock.out", "events.in");
  const FlowOutcome outcome = run_until(system, at(20ns));
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].node, "events");
  EXPECT_NE(outcome.failures[0].what.find("lookahead"), std::string::npos);
}

TEST(Node, RefusesMoreEventsThanItMayHold) {
  std::vector<Events::Send> burst;
  for (std::int64_t i = 0; i < 20; ++i) burst.push_back({0, 3, i});
  System system;
  system.add<Source>("clock", every(1ns));
  system.add<Events>("events", 2ns, burst);
  system.connect("clock.out", "events.in");
  const FlowOutcome outcome = run(system, {.until = at(10ns), .hold_limit = 10});
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_NE(outcome.failures[0].what.find("flow events.event: 10 events wait"), std::string::npos);
}

class Keeper : public UserNode {
 public:
  std::vector<std::int64_t> values;

 private:
  void step(std::int64_t& value, SimTime) {
    values.push_back(in_.latest_or(-1));
    value = 0;
  }
  Input<std::int64_t> in_ = input<std::int64_t>("in");
  Output<std::int64_t> out_ = output<&Keeper::step>("out", every(3ns));
};

TEST(Node, KeepsTheLatestValueInPlaceWithABufferOfOne) {
  System system;
  system.add<Source>("source", every(1ns), 1U);
  auto& keeper = system.add<Keeper>("keeper");
  system.connect("source.out", "keeper.in");
  ASSERT_TRUE(run_until(system, at(10ns)).complete);
  // A prediction for t knows what came before t: at 3 the messages of 0, 1 and 2.
  EXPECT_EQ(keeper.values, (std::vector<std::int64_t>{-1, 3, 6, 9}));
}

struct Large {
  std::array<std::byte, 1 << 20> bytes;
};
class LargeSource : public UserNode {
 public:
  std::vector<const void*> filled;

 private:
  void fill(Large& large) {
    large.bytes[0] = std::byte{1};
    filled.push_back(&large);
  }
  Output<Large> out_ = output<&LargeSource::fill>("out", every(1ns), 1);
};
class LargeSink : public UserNode {
 public:
  std::vector<const void*> seen;

 private:
  void got(const Large& large) { seen.push_back(&large); }
  Input<Large> in_ = input<&LargeSink::got>("in");
};

TEST(Node, HandsAMegabyteOverWithoutCopyingIt) {
  System system;
  auto& source = system.add<LargeSource>("source");
  auto& a = system.add<LargeSink>("a");
  auto& b = system.add<LargeSink>("b");
  system.connect("source.out", "a.in");
  system.connect("source.out", "b.in");
  ASSERT_TRUE(run_until(system, at(6ns)).complete);
  EXPECT_EQ(a.seen.size(), 6U);
  EXPECT_EQ(source.filled, a.seen);
  EXPECT_EQ(source.filled, b.seen);
}

TEST(KeyTree, FindsTheLeastOfAnyNumberOfKeys) {
  for (const std::uint32_t n : {1U, 2U, 3U, 7U, 64U, 1000U}) {
    const std::uint32_t width = KeyTree::width(n);
    std::vector<Key> keys(width);
    std::vector<std::uint32_t> winners(width);
    KeyTree tree;
    tree.lay_out(width, keys.data(), winners.data());
    for (std::uint32_t i = 0; i < n; ++i) tree.set(i, pack({at(1ns * (1 + (i * 7919) % n)), Phase::consume, i}));
    for (std::uint32_t round = 0; round < 3 * n; ++round) {
      const std::uint32_t least = tree.least();
      for (std::uint32_t i = 0; i < n; ++i) ASSERT_LE(tree.key(least), tree.key(i));
      tree.set(least, pack({key_time(tree.key(least)) + SimSpan::from_ns(round % 5), Phase::consume, least}));
    }
  }
}

struct Pair {
  double a = 0, b = 0;
  std::int32_t c = 0;
};

/// Sets a only, or all.
class Forgetful : public UserNode {
 public:
  explicit Forgetful(bool forgets) : forgets_(forgets) {}

 private:
  void fill(Pair& out, SimTime t) {
    out.a = t.seconds();
    if (!forgets_) out.b = 2, out.c = 3;
  }
  bool forgets_;
  Output<Pair> out_ = output<&Forgetful::fill>("out", every(1ms));
};

TEST(Node, ThatForgetsAFieldShowsWhereMemoryIsPoisoned) {
  const auto digest = [](bool forgets, unsigned char poison) {
    System system;
    system.add<Forgetful>("node", forgets);
    return run(system, {.until = at(5ms), .poison = poison}).digest;
  };
  EXPECT_EQ(digest(false, 0xA5), digest(false, 0x5B));
  EXPECT_NE(digest(true, 0xA5), digest(true, 0x5B));
}

/// Answers each event a second later; the first one is sent at the start.
class Answering : public UserNode {
 public:
  explicit Answering(bool begins) : begins_(begins) {}
  void start(SimTime now) override {
    if (begins_) out_.send(now + SimSpan(1s), 1);
  }
  std::int64_t heard = 0;

 private:
  void got(const std::int64_t& value, SimTime t) { ++heard, out_.send(t + SimSpan(1s), value + 1); }
  bool begins_;
  Input<std::int64_t> in_ = input<&Answering::got>("in");
  Event<std::int64_t> out_ = event<std::int64_t>("out", 1ns);
};

TEST(Node, DoesNotCreepThroughSilenceByItsLookahead) {
  System system;
  Answering& a = system.add<Answering>("a", true);
  Answering& b = system.add<Answering>("b", false);
  system.connect("a.out", "b.in");
  system.connect("b.out", "a.in");
  const auto before = std::chrono::steady_clock::now();
  ASSERT_TRUE(run_until(system, at(1000s)).complete);  // 10^12 promises by turns
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
  EXPECT_EQ(a.heard + b.heard, 999);
}

}  // namespace
}  // namespace isochron::flow::test
