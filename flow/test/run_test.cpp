// Executors in one process: the same results, everybody joins, failures and stalls are told.

#include "flow/run.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "core/input_error.hpp"
#include "flow/serial.hpp"
#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {
namespace {

const How in_process[] = {How::thread, How::pool, How::threads};

Options options_for(How how, SimTime until) {
  Options options{.until = until, .how = how};
  options.workers = 2;
  options.grain = WallSpan::zero();  // of the pool: helpers from the start
  return options;
}

class EachWay : public testing::TestWithParam<How> {};
INSTANTIATE_TEST_SUITE_P(Run, EachWay, testing::ValuesIn(in_process),
                         [](const auto& way) { return std::string(to_string(way.param)); });

TEST_P(EachWay, HasTheSameDigest) {
  System one = mixed_system();
  System other = mixed_system();
  const FlowOutcome expected = run(one, {.until = at(200ms)});
  const FlowOutcome outcome = run(other, options_for(GetParam(), at(200ms)));
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.flow_digests, expected.flow_digests);
  EXPECT_EQ(outcome.messages, expected.messages);
}

TEST_P(EachWay, JoinsWhenTheStopTimeIsNoMultipleOfAnyPeriod) {
  for (const SimSpan until : {SimSpan(7ms), SimSpan(7'000'001ns), SimSpan(6'999'999ns), SimSpan(1ns)}) {
    System system = mixed_system();
    EXPECT_TRUE(run(system, options_for(GetParam(), at(until))).complete) << until.ns();
  }
}

TEST_P(EachWay, StopsAtOnceWhenTheStopTimeIsTheStart) {
  System system = mixed_system();
  const FlowOutcome outcome = run(system, options_for(GetParam(), SimTime::zero()));
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.messages, 0U);
}

TEST_P(EachWay, RunsNodesWithoutInputsAndFlowsWithoutSinks) {
  System system;
  system.add<Source>("unheard", every(1ms));
  system.add<Source>("heard", every(2ms), 1U);
  auto& sink = system.add<Sink>("sink");
  system.connect("heard.out", "sink.in0");
  EXPECT_TRUE(run(system, options_for(GetParam(), at(10ms))).complete);
  EXPECT_EQ(sink.count, 5U);
}

TEST_P(EachWay, LosesNothingThroughABufferOfOne) {
  System system;
  system.add<Source>("fast", every(1us), 1U);
  system.add<Source>("slow", every(1ms), 1U);
  auto& sink = system.add<Sink>("sink", 2U);
  system.connect("fast.out", "sink.in0");
  system.connect("slow.out", "sink.in1");
  EXPECT_TRUE(run(system, options_for(GetParam(), at(5ms))).complete);
  EXPECT_EQ(sink.count, 5005U);
}

TEST_P(EachWay, TellsWhichNodeThrewAndWhoWaitedForIt) {
  System system;
  system.add<Source>("source", every(1ms), 1U);
  system.add<Hook>("bad", [](SimTime t) {
    if (t >= at(5ms)) throw std::runtime_error("it hurts");
  });
  system.connect("source.out", "bad.in");
  const FlowOutcome outcome = run(system, options_for(GetParam(), at(1s)));
  EXPECT_FALSE(outcome.complete);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].node, "bad");
  EXPECT_EQ(outcome.failures[0].what, "it hurts (at 5ms)");
}

TEST_P(EachWay, ReportsEveryMessageToTheObserver) {
  struct Counting : SentObserver {
    void sent(const Sent& message) override {
      const std::lock_guard lock(mutex);
      times[message.flow].push_back(message.time);
    }
    std::mutex mutex;
    std::map<std::uint32_t, std::vector<SimTime>> times;
  } observer;
  System system = mixed_system(3);
  Options options = options_for(GetParam(), at(60ms));
  options.observer = &observer;
  const FlowOutcome outcome = run(system, options);
  std::size_t total = 0;
  for (const auto& [flow, times] : observer.times) {
    total += times.size();
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  }
  EXPECT_EQ(total, outcome.messages);
  EXPECT_EQ(observer.times[0].size(), 60U);
}

TEST_P(EachWay, EndsSoonWhenCancelled) {
  System system;
  std::atomic<bool> cancel{false};
  std::atomic<int> heard{0};
  system.add<Source>("source", every(1ns), 1U);
  system.add<Hook>("hook", [&](SimTime) {
    if (++heard == 100) cancel = true;
  });
  system.connect("source.out", "hook.in");
  Options options = options_for(GetParam(), SimTime::never() - 1s);
  options.cancel = &cancel;
  const FlowOutcome outcome = run(system, options);
  EXPECT_FALSE(outcome.complete);
  EXPECT_TRUE(outcome.failures.empty());
  EXPECT_GE(heard.load(), 100);
}

TEST_P(EachWay, SaysWhoWaitsForWhomWhenNothingMoves) {
  System system;
  std::atomic<bool> go_on{false};
  system.add<Source>("source", every(1ms), 1U);
  system.add<Hook>("stuck", [&](SimTime) {
    while (!go_on) std::this_thread::sleep_for(1ms);
  });
  system.connect("source.out", "stuck.in");
  Options options = options_for(GetParam(), at(3ms));
  options.stall_after = WallSpan(50ms);
  std::string told;
  options.on_stall = [&](const WaitForGraph& graph) {
    told += to_string(graph);
    go_on = true;
  };
  EXPECT_TRUE(run(system, options).complete);
  EXPECT_NE(told.find("stuck is in its own code"), std::string::npos) << told;
  if (GetParam() != How::thread) {
    EXPECT_NE(told.find("source waits for room on source.out at 1ms (at stuck)"), std::string::npos) << told;
  }
}

/// An observation whose period shrinks into a deadlock that the check cannot foresee.
class Narrowing : public UserNode {
 public:
  explicit Narrowing(Schedule schedule) : out_(output<&Narrowing::fill>("out", schedule)) {}

 private:
  void fill(std::int64_t& value, SimTime t) {
    value = 0;
    if (t == at(8ns)) out_.next_at(at(15ns));
  }
  Input<std::int64_t> in_ = input<std::int64_t>("in");
  Output<std::int64_t> out_;
};
class Odd : public UserNode {
  void fill(std::int64_t& value) { value = 0; }
  Input<std::int64_t> in_ = input<std::int64_t>("in");
  Output<std::int64_t> out_ = output<&Odd::fill>("out", observes(2ns, at(1ns)));
};

System narrowing_ring(Schedule schedule) {
  System system;
  system.add<Narrowing>("a", schedule);
  system.add<Odd>("b");
  system.connect("a.out", "b.in");
  system.connect("b.out", "a.in");
  return system;
}

TEST_P(EachWay, RefusesAnObservationInARingThatChangesItsPeriodUndeclared) {
  System system = narrowing_ring(observes(4ns));
  const FlowOutcome outcome = run(system, options_for(GetParam(), at(100ns)));
  EXPECT_FALSE(outcome.complete);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].node, "a");
  EXPECT_EQ(outcome.failures[0].what,
            "flow a.out: the message at 8ns says that the next one comes at 15ns; its period is 4ns and the check for "
            "deadlocks counts on it: declare the period as varying (at 8ns)");
}

TEST(Run, RefusesARingInWhichADeclaredVaryingPeriodMayMeet) {
  System system = narrowing_ring(observes(4ns).varying());
  EXPECT_THROW(run(system, {.until = at(100ns)}), InputError);
}

TEST(SerialRun, InPiecesIsTheSameAsInOneGo) {
  System whole = mixed_system();
  const FlowOutcome expected = run(whole, {.until = at(100ms)});
  System system = mixed_system();
  const Options options;
  Assembly assembly(system, {});
  SerialRun serial(assembly, options);
  for (const SimSpan until : {SimSpan(1ms), SimSpan(1'500'001ns), SimSpan(40ms), SimSpan(40ms), SimSpan(100ms)}) {
    EXPECT_TRUE(serial.until(at(until)).complete);
  }
  EXPECT_EQ(make_outcome(assembly, {}).flow_digests, expected.flow_digests);
}

TEST(Run, UsesHelpersOnlyForTurnsThatAreWorthIt) {
  for (const bool heavy : {false, true}) {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    System system;
    for (int i = 0; i < 4; ++i) {
      const std::string name = std::to_string(i);
      system.add<Source>("source" + name, every(1ms));
      system.add<Hook>("hook" + name, [&](SimTime) {
        if (heavy) std::this_thread::sleep_for(20us);
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
      });
      system.connect("source" + name + ".out", "hook" + name + ".in");
    }
    Options options{.until = at(600ms), .how = How::pool, .workers = 2, .grain = 1s};
    if (heavy) options.grain = 4us;
    EXPECT_TRUE(run(system, options).complete);
    EXPECT_EQ(threads.size(), heavy ? 2U : 1U);
  }
}

TEST(Run, KnowsItsWords) {
  for (const How how : {How::thread, How::pool, How::threads, How::processes, How::tcp, How::free}) {
    ASSERT_TRUE(parse_how(to_string(how)).ok());
    EXPECT_EQ(*parse_how(to_string(how)), how);
  }
  EXPECT_EQ(parse_how("proceses").error(),
            "`proceses` is not a way to run flows; write one of thread, pool, threads, processes, tcp, free");
}

}  // namespace
}  // namespace isochron::flow::test
