// The production node in all interleavings of small systems, and in one of many larger ones. ISOCHRON_SPEC_SYSTEMS in
// the environment sets how many random systems are tried.

#include "spec/explorer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace isochron::spec {
namespace {

std::uint64_t how_many(std::uint64_t otherwise) {
  const char* wanted = std::getenv("ISOCHRON_SPEC_SYSTEMS");
  return wanted == nullptr ? otherwise : std::strtoull(wanted, nullptr, 10);
}

flow::OutputInfo flow_of(const char* name, flow::FlowKind kind, std::int64_t period, std::int64_t first = 0,
                         std::int64_t lookahead = 0) {
  return {name, kind, SimSpan::from_ns(period), SimTime::from_ns(first), SimSpan::from_ns(lookahead), 1, nullptr};
}

constexpr auto predictive = flow::FlowKind::predictive;
constexpr auto observation = flow::FlowKind::observation;
constexpr auto event = flow::FlowKind::event;

/// The example of paper 001, section III: three nodes, four flows.
flow::Graph example_of_the_paper() {
  flow::Graph graph;
  graph.nodes = {{"n1", {{"i1", nullptr}}, {flow_of("o1", predictive, 2), flow_of("o2", predictive, 3, 1)}},
                 {"n2", {{"i1", nullptr}}, {flow_of("o1", predictive, 1)}},
                 {"n3", {{"i1", nullptr}, {"i2", nullptr}, {"i3", nullptr}}, {flow_of("o1", predictive, 2, 1)}}};
  graph.connections = {{{0, 0}, {1, 0}}, {{0, 0}, {2, 0}}, {{0, 1}, {2, 2}}, {{1, 0}, {2, 1}}, {{2, 0}, {0, 0}}};
  return graph;
}

/// Two nodes that feed each other.
flow::Graph pair(flow::OutputInfo a, flow::OutputInfo b) {
  flow::Graph graph;
  graph.nodes = {{"a", {{"i", nullptr}}, {std::move(a)}}, {"b", {{"i", nullptr}}, {std::move(b)}}};
  graph.connections = {{{0, 0}, {1, 0}}, {{1, 0}, {0, 0}}};
  return graph;
}

TEST(Explorer, ThePapersExampleKeepsAllRulesInAllInterleavings) {
  const Findings findings = explore(example_of_the_paper(), SimTime::from_ns(12));
  EXPECT_EQ(findings.broken, "");
  EXPECT_TRUE(findings.whole);
  EXPECT_FALSE(findings.deadlock);
  EXPECT_GT(findings.states, 100U);
}

TEST(Explorer, DeadlocksHappenExactlyWhereTheyArePredicted) {
  const struct {
    flow::Graph graph;
    std::int64_t until;
    bool deadlock;
  } cases[] = {
      {pair(flow_of("o", observation, 3), flow_of("o", observation, 2, 2)), 7, true},   // both at 6
      {pair(flow_of("o", observation, 3), flow_of("o", observation, 2, 2)), 6, false},  // the end comes first
      {pair(flow_of("o", observation, 2), flow_of("o", observation, 2, 1)), 9, false},  // never at the same time
      {pair(flow_of("o", observation, 2), flow_of("o", predictive, 2)), 9, false},      // a prediction breaks the ring
      {pair(flow_of("o", event, 0), flow_of("o", event, 0)), 5, true},                  // at the start
      {pair(flow_of("o", event, 0, 0, 0), flow_of("o", event, 0, 0, 1)), 5, false},     // one lookahead is enough
      {pair(flow_of("o", observation, 2, 1), flow_of("o", event, 0)), 5, true},         // at 1
  };
  for (const auto& one : cases) {
    const Findings findings = explore(one.graph, SimTime::from_ns(one.until));
    EXPECT_EQ(findings.broken, "") << to_string(one.graph);
    EXPECT_EQ(findings.deadlock, one.deadlock) << to_string(one.graph);
    EXPECT_EQ(findings.predicted, one.deadlock) << to_string(one.graph);
  }
}

TEST(Explorer, RandomSmallSystemsKeepAllRulesInAllInterleavings) {
  std::uint64_t states = 0, deadlocks = 0;
  const std::uint64_t systems = how_many(200);
  for (std::uint64_t seed = 1; seed <= systems; ++seed) {
    const flow::Graph graph = random_graph(seed, 3);
    const Findings findings = explore(graph, SimTime::from_ns(5), 20'000);
    ASSERT_EQ(findings.broken, "") << "seed " << seed << "\n" << to_string(graph);
    states += findings.states;
    deadlocks += findings.deadlock ? 1 : 0;
  }
  EXPECT_GT(states, systems * 10);
  EXPECT_GT(deadlocks, 0U);
  EXPECT_LT(deadlocks, systems);
}

TEST(Explorer, TenThousandRandomSystemsKeepAllRules) {
  const std::uint64_t systems = how_many(10'000);
  std::uint64_t deadlocks = 0, possible = 0;
  for (std::uint64_t seed = 1; seed <= systems; ++seed) {
    const flow::Graph graph = random_graph(seed, 7);
    const Findings findings = run_once(graph, SimTime::from_ns(12), seed);
    ASSERT_EQ(findings.broken, "") << "seed " << seed << "\n" << to_string(graph);
    deadlocks += findings.deadlock ? 1 : 0;
    possible += findings.possible ? 1 : 0;
  }
  EXPECT_GT(deadlocks, 0U);
  EXPECT_GT(possible, 0U);
}

TEST(Explorer, AVaryingPeriodIsRefusedWhereItMayMeetAndOnlyThere) {
  flow::OutputInfo varying = flow_of("o", observation, 2);
  varying.varies = true;
  const flow::OutputInfo fixed = flow_of("o", observation, 4, 1);
  EXPECT_FALSE(explore(pair(flow_of("o", observation, 2), fixed), SimTime::from_ns(20)).deadlock) << "they never meet";
  const Findings may = explore(pair(varying, fixed), SimTime::from_ns(20));
  EXPECT_EQ(may.broken, "");
  EXPECT_TRUE(may.possible);
  const Findings fine = explore(pair(varying, flow_of("o", predictive, 1)), SimTime::from_ns(9));
  EXPECT_EQ(fine.broken, "");
  EXPECT_FALSE(fine.possible || fine.deadlock);
  const Findings first = explore(pair(varying, flow_of("o", observation, 5)), SimTime::from_ns(9));
  EXPECT_EQ(first.broken, "");
  EXPECT_TRUE(first.predicted && first.deadlock) << "its first time is certain";
}

TEST(Explorer, TheScheduleDoesNotChangeTheOutcome) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const flow::Graph graph = random_graph(seed, 6);
    const std::uint64_t outcome = run_once(graph, SimTime::from_ns(15), 1).outcome;
    for (std::uint64_t schedule = 2; schedule <= 5; ++schedule) {
      ASSERT_EQ(run_once(graph, SimTime::from_ns(15), schedule).outcome, outcome) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace isochron::spec
