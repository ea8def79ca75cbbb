// The production engine, every executor of it, against an oracle that shares no code with it: random systems with
// varying periods, lookaheads and capacities.

#include "spec/oracle.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "flow/check.hpp"
#include "flow/run.hpp"
#include "spec/explorer.hpp"
#include "spec/spec_node.hpp"

namespace isochron::spec {
namespace {

/// The hash of what each flow carried.
struct Heard : flow::SentObserver {
  explicit Heard(std::size_t flows) : hashes(flows, 0) {}
  void sent(const flow::Sent& message) override {
    hashes[message.flow] = SpecNode::add(hashes[message.flow], message.time, *static_cast<const Token*>(message.value));
  }
  std::vector<std::uint64_t> hashes;
};

flow::System system_of(const flow::Graph& graph) {
  flow::System system;
  system.set_start(graph.start);
  for (const flow::NodeInfo& info : graph.nodes) system.add<SpecNode>(info.name, info);
  for (const flow::Connection& connection : graph.connections) system.connect(connection.output, connection.input);
  return system;
}

/// What the executor made of it, or why it could not.
void expect_as_foretold(const flow::Graph& graph, SimTime until, flow::How how, const Foretold& foretold) {
  flow::System system = system_of(graph);
  Heard heard(foretold.flows.size());
  flow::Options options{.until = until, .how = how};
  options.observer = &heard;
  options.workers = 2;
  options.grain = WallSpan::zero();
  const flow::FlowOutcome outcome = flow::run(system, options);
  ASSERT_TRUE(outcome.complete) << flow::to_string(how);
  ASSERT_EQ(heard.hashes, foretold.flows) << flow::to_string(how);
}

std::uint64_t how_many(std::uint64_t usual) {
  const char* more = std::getenv("ISOCHRON_SYSTEMS");
  return more == nullptr ? usual : std::strtoull(more, nullptr, 10);
}

TEST(Oracle, TenThousandRandomSystemsDoWhatWasForetoldOnEveryExecutor) {
  using flow::How;
  const std::uint64_t systems = how_many(10'000);
  const SimTime until = SimTime::from_ns(24);
  std::uint64_t ran = 0, stood = 0, messages = 0;
  for (std::uint64_t seed = 1; seed <= systems; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n");
    const flow::Graph graph = random_graph(seed, 7);
    const Foretold foretold = foretell(graph, until);
    const auto deadlock = flow::find_deadlock(graph, until);
    if (!foretold.complete) {
      ASSERT_TRUE(deadlock) << "it stands still, and the check has not found it\n" << to_string(graph);
      ++stood;
      continue;
    }
    if (deadlock) {
      ASSERT_NE(deadlock->why, flow::Deadlock::Why::certain) << "it does not stand still\n" << to_string(graph);
      continue;
    }
    ++ran;
    messages += foretold.messages;
    expect_as_foretold(graph, until, How::thread, foretold);
    if (seed % 10 == 0) expect_as_foretold(graph, until, How::pool, foretold);
    if (seed % 10 == 5) expect_as_foretold(graph, until, How::threads, foretold);
    if (seed % 50 == 1) expect_as_foretold(graph, until, How::processes, foretold);
    if (seed % 50 == 2) expect_as_foretold(graph, until, How::tcp, foretold);
    if (HasFatalFailure()) FAIL() << to_string(graph);
  }
  EXPECT_GT(ran, systems / 2);
  EXPECT_GT(stood, systems / 100);
  EXPECT_GT(messages, systems * 10);
  std::printf("%llu systems ran as foretold (%llu messages), %llu stood still as foretold\n",
              static_cast<unsigned long long>(ran), static_cast<unsigned long long>(messages),
              static_cast<unsigned long long>(stood));
}

}  // namespace
}  // namespace isochron::spec
