#include "flow/check.hpp"

#include <gtest/gtest.h>

#include "core/input_error.hpp"
#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {
namespace {

OutputInfo periodic(FlowKind kind, std::int64_t period, std::int64_t first = 0) {
  return {"out", kind, SimSpan::from_ns(period), SimTime::from_ns(first), {}, 1, nullptr};
}
OutputInfo event(std::int64_t lookahead) {
  return {"out", FlowKind::event, {}, {}, SimSpan::from_ns(lookahead), 1, nullptr};
}

/// A ring of nodes, each with one output that feeds the next.
Graph ring(std::vector<OutputInfo> outputs) {
  Graph graph;
  const auto n = static_cast<std::uint32_t>(outputs.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    graph.nodes.push_back({std::string(1, static_cast<char>('a' + i)), {{"in", nullptr}}, {outputs[i]}});
    graph.connections.push_back({{i, 0}, {(i + 1) % n, 0}});
  }
  return graph;
}

std::string only_problem(const Graph& graph) {
  const auto problems = check(graph);
  return problems.size() == 1 ? problems[0].what : std::to_string(problems.size()) + " problems";
}

TEST(Check, FindsNothingWrongWithARing) {
  EXPECT_TRUE(check(ring({periodic(FlowKind::predictive, 2), periodic(FlowKind::observation, 3)})).empty());
}

TEST(Check, NamesAnInputThatIsNotConnected) {
  Graph graph = ring({periodic(FlowKind::predictive, 2), periodic(FlowKind::predictive, 3)});
  graph.connections.pop_back();
  EXPECT_EQ(only_problem(graph), "input a.in is not connected");
}

TEST(Check, NamesAnInputThatIsDrivenTwice) {
  Graph graph =
      ring({periodic(FlowKind::predictive, 2), periodic(FlowKind::predictive, 3), periodic(FlowKind::predictive, 3)});
  graph.connections.push_back({{1, 0}, {1 - 1, 0}});
  EXPECT_EQ(only_problem(graph), "input a.in is driven twice: by c.out and by b.out");
}

TEST(Check, NamesANodeThatSendsToItself) {
  EXPECT_EQ(only_problem(ring({periodic(FlowKind::predictive, 2)})), "node a sends to itself by a.out");
}

TEST(Check, RefusesPeriodsCapacitiesAndTimesThatMakeNoSense) {
  EXPECT_EQ(only_problem(ring({periodic(FlowKind::predictive, 0), event(1)})), "flow a.out has a period of 0s");
  EXPECT_EQ(only_problem(ring({periodic(FlowKind::predictive, -5), event(1)})), "flow a.out has a period of -5ns");
  EXPECT_EQ(only_problem(ring({event(-1), event(1)})), "flow a.out has a negative lookahead");
  EXPECT_EQ(only_problem(ring({periodic(FlowKind::predictive, 1, -1), event(1)})),
            "flow a.out begins at -1ns, before the start at 0s");
  Graph graph = ring({event(1), event(1)});
  graph.nodes[0].outputs[0].capacity = 0;
  EXPECT_EQ(only_problem(graph), "flow a.out has a buffer for no message");
}

TEST(Check, RefusesTwoNodesOfOneName) {
  Graph graph = ring({event(1), event(1)});
  graph.nodes[1].name = "a";
  EXPECT_EQ(only_problem(graph), "two nodes are called a");
}

TEST(Check, RefusesAFlowOfAnotherType) {
  Graph graph = ring({event(1), event(1)});
  graph.nodes[0].outputs[0].type = &payload_type<double>();
  graph.nodes[1].inputs[0].type = &payload_type<float>();
  EXPECT_EQ(only_problem(graph), "flow a.out carries d, but input b.in takes f");
}

TEST(Check, AllowsNodesWithoutInputsWithoutSinksAndAlone) {
  Graph graph;
  graph.nodes.push_back({"source", {}, {periodic(FlowKind::predictive, 1)}});
  graph.nodes.push_back({"sink", {{"in", nullptr}}, {}});
  graph.nodes.push_back({"alone", {}, {periodic(FlowKind::observation, 1)}});
  graph.nodes.push_back({"idle", {}, {}});
  graph.connections.push_back({{0, 0}, {1, 0}});
  EXPECT_TRUE(check(graph).empty());
}

TEST(Deadlock, IsFoundAtTheFirstStampThatAllObservationsShare) {
  // a observes at 0, 6, 12, …; b at 4, 8, 12, …: both need the other's message of 12 first.
  const auto found = find_deadlock(ring({periodic(FlowKind::observation, 6), periodic(FlowKind::observation, 4, 4)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at.ns(), 12);
  EXPECT_EQ(found->flows.size(), 2U);
}

TEST(Deadlock, IsNoneWhenObservationsNeverMeet) {
  EXPECT_FALSE(find_deadlock(ring({periodic(FlowKind::observation, 6), periodic(FlowKind::observation, 4, 1)})));
}

TEST(Deadlock, IsNoneBeforeTheEndOfTheRun) {
  const Graph graph = ring({periodic(FlowKind::observation, 6), periodic(FlowKind::observation, 4, 4)});
  EXPECT_FALSE(find_deadlock(graph, SimTime::from_ns(12)));
  EXPECT_TRUE(find_deadlock(graph, SimTime::from_ns(13)));
}

TEST(Deadlock, IsAtTheStartForEventsWithoutLookahead) {
  const auto found = find_deadlock(ring({event(0), event(0), event(0)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at.ns(), 0);
  EXPECT_FALSE(find_deadlock(ring({event(0), event(1), event(0)})));
}

TEST(Deadlock, CountsOneObservationAmongZeroEvents) {
  const auto found = find_deadlock(ring({event(0), periodic(FlowKind::observation, 7, 3)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at.ns(), 3);
}

TEST(Deadlock, SaysWhichRingStandsStill) {
  const std::string what = only_problem(ring({periodic(FlowKind::observation, 5), periodic(FlowKind::observation, 3)}));
  EXPECT_EQ(what, "deadlock at 0s: each of these waits for the one before it: a -(out)-> b -(out)-> a");
}

TEST(Deadlock, CopesWithPeriodsWhoseProductIsHuge) {
  const std::int64_t p = 999'999'999'989, q = 999'999'999'961;  // primes
  const auto found = find_deadlock(ring({periodic(FlowKind::observation, p), periodic(FlowKind::observation, q, 1)}));
  EXPECT_FALSE(found) << "their first common stamp is beyond all time";
}

TEST(System, RefusesNamesThatDoNotExist) {
  System system;
  system.add<Source>("source", every(1ns));
  system.add<Sink>("sink");
  const auto why = [&](const char* output, const char* input) -> std::string {
    try {
      system.connect(output, input);
    } catch (const InputError& error) {
      return to_string(error.mistakes()[0]);
    }
    return "";
  };
  EXPECT_EQ(why("sorce.out", "sink.in0"), "there is no node for output `sorce.out`; write node.output");
  EXPECT_EQ(why("source.ot", "sink.in0"), "node source has no output `ot`; it has out");
  EXPECT_EQ(why("source.out", "sink.in7"), "node sink has no input `in7`; it has in0");
  EXPECT_THROW(system.add<Sink>("sink"), InputError);
}

TEST(System, IsCheckedBeforeItRuns) {
  System system;
  system.add<Sink>("sink");
  EXPECT_THROW(run(system, {.until = at(1s)}), InputError);
}

}  // namespace
}  // namespace isochron::flow::test
