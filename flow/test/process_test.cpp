// Nodes as processes: the same results, and deaths are told.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {

struct Words {
  std::string text;
  std::vector<double> numbers;
};
ISOCHRON_MESSAGE(Words, "isochron_msgs/msg/Words", text, numbers)

namespace {

class EachWay : public testing::TestWithParam<How> {};
INSTANTIATE_TEST_SUITE_P(Processes, EachWay, testing::Values(How::processes, How::tcp),
                         [](const auto& way) { return std::string(to_string(way.param)); });

TEST_P(EachWay, HaveTheSameDigestAsOneThread) {
  System one = mixed_system();
  System other = mixed_system();
  const FlowOutcome expected = run(one, {.until = at(100ms)});
  const FlowOutcome outcome = run(other, {.until = at(100ms), .how = GetParam()});
  EXPECT_TRUE(outcome.complete) << outcome.stall;
  for (const auto& failure : outcome.failures) ADD_FAILURE() << to_string(failure);
  EXPECT_EQ(outcome.flow_digests, expected.flow_digests);
}

TEST_P(EachWay, EndWhateverTheStopTime) {
  for (const SimSpan until : {SimSpan(0ns), SimSpan(1ns), SimSpan(7'000'001ns)}) {
    System system = mixed_system(3);
    EXPECT_TRUE(run(system, {.until = at(until), .how = GetParam()}).complete) << until.ns();
  }
}

class Teller : public UserNode {
  void fill(Words& words, SimTime t) {
    words.text = "at " + std::to_string(t.ns());
    words.numbers.assign(static_cast<std::size_t>(t.ns() % 7), 0.5);
  }
  Output<Words> out_ = output<&Teller::fill>("out", every(1ms));
};
class Listener : public UserNode {
  void got(const Words& words) {
    sum_ += static_cast<double>(words.text.size()) + static_cast<double>(words.numbers.size());
  }
  void fill(double& value) { value = sum_; }
  double sum_ = 0;
  Input<Words> in_ = input<&Listener::got>("in");
  Output<double> out_ = output<&Listener::fill>("out", every(2ms));
};

TEST_P(EachWay, CarryMessagesWithTextAndLists) {
  const auto make = [] {
    System system;
    system.add<Teller>("teller");
    system.add<Listener>("listener");
    system.connect("teller.out", "listener.in");
    return system;
  };
  System one = make();
  System other = make();
  const FlowOutcome expected = run(one, {.until = at(50ms)});
  const FlowOutcome outcome = run(other, {.until = at(50ms), .how = GetParam()});
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.flow_digests, expected.flow_digests);
}

class LongTeller : public UserNode {
  void fill(Words& words, SimTime t) { words.text.assign(3'000'000 + static_cast<std::size_t>(t.ns() / 1000), 'x'); }
  Output<Words> out_ = output<&LongTeller::fill>("out", every(1ms));
};

TEST_P(EachWay, CarryLongMessagesAsOneThreadDoes) {
  const auto make = [] {
    System system;
    system.add<LongTeller>("teller");
    system.add<Listener>("listener");
    system.connect("teller.out", "listener.in");
    return system;
  };
  System one = make();
  System other = make();
  const FlowOutcome expected = run(one, {.until = at(6ms)});
  const FlowOutcome outcome = run(other, {.until = at(6ms), .how = GetParam()});
  EXPECT_TRUE(outcome.complete);
  for (const auto& failure : outcome.failures) ADD_FAILURE() << to_string(failure);
  EXPECT_EQ(outcome.flow_digests, expected.flow_digests);
}

TEST_P(EachWay, RefuseAMessageThatDoesNotFit) {
  System system;
  system.add<Teller>("teller");
  const FlowOutcome outcome = run(system, {.until = at(5ms), .how = GetParam(), .largest_message = 16});
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_NE(outcome.failures[0].what.find("flow teller.out"), std::string::npos);
}

TEST_P(EachWay, TellWhichNodeThrew) {
  System system;
  system.add<Source>("source", every(1ms), 1U);
  system.add<Hook>("bad", [](SimTime t) {
    if (t >= at(5ms)) throw std::runtime_error("it hurts");
  });
  system.connect("source.out", "bad.in");
  const FlowOutcome outcome = run(system, {.until = at(1s), .how = GetParam()});
  EXPECT_FALSE(outcome.complete);
  ASSERT_GE(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].node, "bad");
  EXPECT_EQ(outcome.failures[0].what, "it hurts (at 5ms)");
}

TEST_P(EachWay, TellWhichProcessDiedAndWhoWaitedForIt) {
  System system;
  system.add<Source>("source", every(1ms), 1U);
  system.add<Hook>("bad", [](SimTime t) {
    if (t >= at(5ms)) kill(getpid(), SIGKILL);
  });
  system.connect("source.out", "bad.in");
  const FlowOutcome outcome = run(system, {.until = at(1s), .how = GetParam()});
  EXPECT_FALSE(outcome.complete);
  ASSERT_GE(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].node, "bad");
  EXPECT_TRUE(outcome.failures[0].what.starts_with("its process was killed: Killed (after "))
      << outcome.failures[0].what;
  if (GetParam() == How::processes) {
    ASSERT_EQ(outcome.failures[0].waited_for_by.size(), 1U);
    EXPECT_NE(outcome.failures[0].waited_for_by[0].find("source waits for room on source.out"), std::string::npos);
  }
}

TEST_P(EachWay, ReportEveryMessageToTheParentsObserver) {
  struct Hashing : SentObserver {
    void sent(const Sent& message) override {
      std::uint64_t& hash = hashes[message.flow];
      hash = message.type->digest(mix(hash, static_cast<std::uint64_t>(message.time.ns())), message.value);
    }
    std::map<std::uint32_t, std::uint64_t> hashes;
  };
  Hashing expected, seen;
  System one = mixed_system(3);
  System other = mixed_system(3);
  ASSERT_TRUE(run(one, {.until = at(60ms), .observer = &expected}).complete);
  ASSERT_TRUE(run(other, {.until = at(60ms), .how = GetParam(), .observer = &seen}).complete);
  EXPECT_EQ(seen.hashes, expected.hashes);
}

TEST(Processes, AreSharedByNodesWhereThereAreMany) {
  System one = mixed_system(40, 3);
  System other = mixed_system(40, 3);
  const FlowOutcome expected = run(one, {.until = at(50ms)});
  for (const std::uint32_t processes : {1U, 3U, 7U}) {
    System again = mixed_system(40, 3);
    const FlowOutcome outcome = run(again, {.until = at(50ms), .how = How::processes, .processes = processes});
    EXPECT_TRUE(outcome.complete) << outcome.stall;
    EXPECT_EQ(outcome.flow_digests, expected.flow_digests) << processes;
  }
}

TEST(Processes, NameTheNodeOfASharedProcessThatFails) {
  System system;
  for (const char* name : {"a", "b", "c"}) {
    system.add<Source>(std::string("source_") + name, every(1ms));
    system.add<Hook>(name, [bad = *name == 'b'](SimTime t) {
      if (bad && t >= at(5ms)) kill(getpid(), SIGKILL);
    });
    system.connect(std::string("source_") + name + ".out", std::string(name) + ".in");
  }
  const FlowOutcome outcome = run(system, {.until = at(1s), .how = How::processes, .processes = 1});
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].node, "b");
}

TEST_P(EachWay, TellTheObserverOfMessagesLongerThanTheRing) {
  struct Counting : SentObserver {
    void sent(const Sent& message) override { hash = message.type->digest(hash, message.value); }
    std::uint64_t hash = 0;
  };
  Counting expected, seen;
  for (const bool here : {true, false}) {
    System system;
    system.add<LongTeller>("teller");
    Options options{.until = at(9ms), .observer = here ? &expected : &seen};
    if (!here) options.how = GetParam();
    ASSERT_TRUE(run(system, options).complete);
  }
  EXPECT_EQ(seen.hash, expected.hash);
}

TEST_P(EachWay, SayWhoWaitsForWhomWhenNothingMoves) {
  System system;
  system.add<Source>("source", every(1ms), 1U);
  system.add<Hook>("stuck", [](SimTime) { usleep(400'000); });
  system.connect("source.out", "stuck.in");
  std::string told;
  Options options{.until = at(2ms), .how = GetParam(), .stall_after = WallSpan(100ms)};
  options.on_stall = [&](const WaitForGraph& graph) { told += to_string(graph); };
  EXPECT_TRUE(run(system, options).complete);
  EXPECT_NE(told.find("stuck is in its own code"), std::string::npos) << told;
}

/// Source and a node that does something bad at 5 ms.
std::unique_ptr<System> with_bad_node(std::function<void()> bad) {
  auto system = std::make_unique<System>();
  system->add<Source>("source", every(1ms), 1U);
  system->add<Hook>("bad", [bad = std::move(bad)](SimTime t) {
    if (t >= at(5ms)) bad();
  });
  system->connect("source.out", "bad.in");
  return system;
}

TEST_P(EachWay, NameAStoppedProcessAndEndWhereAStallEndsTheRun) {
  const auto system = with_bad_node([] { raise(SIGSTOP); });
  std::string told;
  Options options{.until = at(1s), .how = GetParam(), .stall_after = WallSpan(200ms), .end_on_stall = true};
  options.on_stall = [&](const WaitForGraph& graph) { told = to_string(graph); };
  const FlowOutcome outcome = run(*system, options);
  EXPECT_TRUE(told.starts_with("  bad is stopped by a signal after")) << told;
  EXPECT_FALSE(outcome.complete);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].node, "bad");
  EXPECT_EQ(outcome.failures[0].what, "its process was stopped by a signal");
}

class InOneProcess : public testing::TestWithParam<How> {};
INSTANTIATE_TEST_SUITE_P(Run, InOneProcess, testing::Values(How::thread, How::pool, How::threads),
                         [](const auto& way) { return std::string(to_string(way.param)); });

TEST_P(InOneProcess, EndsThoughANodeHangsWhereAStallEndsTheRun) {
  auto system = with_bad_node([] {
    while (true) pause();
  });
  const FlowOutcome outcome =
      run(*system, {.until = at(1s), .how = GetParam(), .stall_after = WallSpan(200ms), .end_on_stall = true});
  EXPECT_FALSE(outcome.complete);
  EXPECT_TRUE(outcome.given_up);
  EXPECT_NE(outcome.stall.find("bad is in its own code"), std::string::npos) << outcome.stall;
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].node, "bad");
  (void)system.release();  // its thread is still there
}

TEST_P(InOneProcess, NamesANodeThatCrashesAndGoesOnWithoutIt) {
  auto system = with_bad_node([] { std::abort(); });
  const FlowOutcome outcome = run(*system, {.until = at(1s), .how = GetParam(), .catch_crashes = true});
  alarm(0);
  EXPECT_FALSE(outcome.complete);
  EXPECT_TRUE(outcome.given_up);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_TRUE(to_string(outcome.failures[0]).starts_with("node bad failed: it crashed: Aborted (at "));
  (void)system.release();
}

}  // namespace
}  // namespace isochron::flow::test
