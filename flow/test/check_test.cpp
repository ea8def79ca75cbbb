#include "flow/check.hpp"

#include <gtest/gtest.h>

#include "core/input_error.hpp"
#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {

namespace one {
struct Reading {
  double watts = 0, kelvin = 0;
};
ISOCHRON_MESSAGE(Reading, "example_msgs/msg/Reading", watts, kelvin)
}  // namespace one
namespace other {
struct Reading {
  double kelvin = 0, watts = 0;
};
ISOCHRON_MESSAGE(Reading, "example_msgs/msg/Reading", kelvin, watts)
}  // namespace other
namespace moved {
struct Reading {
  double kelvin = 0, watts = 0;  // the same message, kept in another order
};
ISOCHRON_MESSAGE(Reading, "example_msgs/msg/Reading", watts, kelvin)
}  // namespace moved

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
  EXPECT_EQ(only_problem(graph), "flow a.out carries float64, but input b.in takes float32");
}

TEST(Check, RefusesAMessageOfTheSameNameWithOtherFields) {
  Graph graph = ring({event(1), event(1)});
  graph.nodes[0].outputs[0].type = &payload_type<one::Reading>();
  graph.nodes[1].inputs[0].type = &payload_type<other::Reading>();
  EXPECT_EQ(only_problem(graph),
            "flow a.out carries example_msgs/msg/Reading with {float64 watts, float64 kelvin}, but input b.in takes "
            "example_msgs/msg/Reading with {float64 kelvin, float64 watts}");
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

/// A chain of zero flows, 0 → 1 → … → n − 1.
Graph chain(std::uint32_t n, const OutputInfo& output) {
  Graph graph;
  for (std::uint32_t i = 0; i < n; ++i) {
    graph.nodes.push_back({"n" + std::to_string(i), {}, {output}});
    if (i == 0) continue;
    graph.nodes[i].inputs.push_back({"in", nullptr});
    graph.connections.push_back({{i - 1, 0}, {i, 0}});
  }
  return graph;
}

TEST(Deadlock, IsFoundBehindManyLayersThatBranch) {
  // 25 layers of two nodes, each heard by both of the next: 2^25 walks lead to the two that wait for each other.
  Graph graph;
  const OutputInfo observation = periodic(FlowKind::observation, 10);
  const std::uint32_t layers = 26;
  for (std::uint32_t i = 0; i < 2 * layers; ++i) {
    graph.nodes.push_back({"n" + std::to_string(i), {}, {observation}});
    if (i < 2) continue;
    for (const std::uint32_t from : {i / 2 * 2 - 2, i / 2 * 2 - 1}) {
      graph.connections.push_back({{from, 0}, {i, static_cast<std::uint32_t>(graph.nodes[i].inputs.size())}});
      graph.nodes[i].inputs.push_back({"in" + std::to_string(graph.nodes[i].inputs.size()), nullptr});
    }
  }
  EXPECT_FALSE(find_deadlock(graph));
  const std::uint32_t a = 2 * layers - 2, b = 2 * layers - 1;
  for (const auto& [from, to] : {std::pair{a, b}, {b, a}}) {
    graph.connections.push_back({{from, 0}, {to, static_cast<std::uint32_t>(graph.nodes[to].inputs.size())}});
    graph.nodes[to].inputs.push_back({"back", nullptr});
  }
  const auto found = find_deadlock(graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at.ns(), 0);
  EXPECT_EQ(found->flows.size(), 2U);
}

TEST(Deadlock, IsLookedForInAChainOfFiftyThousand) {
  Graph graph = chain(50'000, periodic(FlowKind::observation, 10));
  EXPECT_FALSE(find_deadlock(graph));
  graph.nodes[0].inputs.push_back({"in", nullptr});
  graph.connections.push_back({{49'999, 0}, {0, 0}});
  const auto found = find_deadlock(graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->flows.size(), 50'000U);
}

TEST(Deadlock, IsTheEarliestOfManyRingsWithManyPeriods) {
  // Two nodes joined by pairs of flows, each with a period of its own: 12 × 12 rings.
  Graph graph;
  graph.nodes = {{"a", {}, {}}, {"b", {}, {}}};
  std::int64_t earliest = INT64_MAX;
  const std::int64_t periods[] = {6, 10, 14, 15, 21, 22, 26, 33, 34, 35, 38, 39};
  for (std::uint32_t i = 0; i < 12; ++i) {
    for (const std::uint32_t node : {0U, 1U}) {
      const std::uint32_t other = 1 - node;
      graph.nodes[node].outputs.push_back(periodic(FlowKind::observation, periods[i], 1 + node * 3 + i * (1 + node)));
      graph.nodes[node].outputs.back().name += std::to_string(i);
      graph.connections.push_back({{node, i}, {other, static_cast<std::uint32_t>(graph.nodes[other].inputs.size())}});
      graph.nodes[other].inputs.push_back({"in" + std::to_string(i), nullptr});
    }
  }
  for (const OutputInfo& a : graph.nodes[0].outputs) {
    for (const OutputInfo& b : graph.nodes[1].outputs) {
      for (std::int64_t t = a.first.ns(); t < 2000; t += a.period.ns()) {
        if (t >= b.first.ns() && (t - b.first.ns()) % b.period.ns() == 0) earliest = std::min(earliest, t);
      }
    }
  }
  const auto found = find_deadlock(graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at.ns(), earliest);
}

TEST(Deadlock, ThatAVaryingPeriodMayBringIsRefusedAndSaysSo) {
  OutputInfo varying = periodic(FlowKind::observation, 6);
  varying.varies = true;
  const OutputInfo odd = periodic(FlowKind::observation, 4, 1);
  EXPECT_EQ(only_problem(ring({varying, odd})),
            "possible deadlock from 1ns on: a period varies, and as soon as all speak at one time each of these waits "
            "for the one before it: a -(out, varying)-> b -(out)-> a");
  EXPECT_TRUE(check(ring({varying, periodic(FlowKind::predictive, 4)})).empty()) << "a prediction breaks the ring";
}

TEST(Deadlock, OfTenThousandNodesIsLookedForInAFractionOfASecond) {
  Graph graph = chain(10'000, periodic(FlowKind::observation, 10));
  for (std::uint32_t i = 1; i < 10'000; ++i) {  // each answers the one before it, at other times
    graph.nodes[i].outputs.push_back(periodic(FlowKind::observation, 10, 1 + i % 5));
    graph.nodes[i].outputs.back().name = "answer";
    graph.nodes[i - 1].inputs.push_back({"answer", nullptr});
    graph.connections.push_back({{i, 1}, {i - 1, static_cast<std::uint32_t>(graph.nodes[i - 1].inputs.size() - 1)}});
  }
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(check(graph).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - before, 1s);
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

class Speaker : public UserNode {
  void fill(one::Reading& out, SimTime t) { out = {t.seconds(), 273}; }
  Output<one::Reading> out_ = output<&Speaker::fill>("out", every(1ms));
};
class Hearer : public UserNode {
  void got(const moved::Reading& in) { sum += in.watts + in.kelvin * 1000; }
  Input<moved::Reading> in_ = input<&Hearer::got>("in");

 public:
  double sum = 0;
};

TEST(System, TranslatesBetweenNodesThatKeepTheSameMessageInDifferentWays) {
  for (const How how : {How::thread, How::threads}) {
    System system;
    system.add<Speaker>("speaker");
    Hearer& hearer = system.add<Hearer>("hearer");
    system.connect("speaker.out", "hearer.in");
    EXPECT_TRUE(run(system, {.until = at(4ms), .how = how}).complete);
    EXPECT_DOUBLE_EQ(hearer.sum, 0.006 + 4 * 273'000.0);
  }
}

TEST(System, IsCheckedBeforeItRuns) {
  System system;
  system.add<Sink>("sink");
  EXPECT_THROW(run(system, {.until = at(1s)}), InputError);
}

}  // namespace
}  // namespace isochron::flow::test
