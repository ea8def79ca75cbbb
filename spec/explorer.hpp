#pragma once
// Drives the production node (flow/node.hpp) through every interleaving of a small system, and checks what paper 001
// demands and DESIGN adds:
//
//   progress    no state is dead before the end, unless the load-time check predicted a deadlock; and then it happens
//               at that time. Where a period varies the check may predict one that does not happen
//   rule 1      a node consumes by increasing time
//   rule 2      after emitting T it consumes nothing earlier than T
//   rule 3      after consuming T it emits nothing up to T (up to, but not at T, for observations and events)
//   rule 4      every sink consumes exactly what its source sent, in order; its latest() is what it consumed last
//   one outcome all interleavings end with the same messages sent
//
// A step of one node is atomic here; what threads do inside a step is left to ThreadSanitizer and the stress tests.
//
// Cost: memory grows with the number of states; `max_states` ends an exploration early, and Findings says so.

#include <cstdint>
#include <string>

#include "flow/graph.hpp"

namespace isochron::spec {

struct Findings {
  std::uint64_t states = 0;
  std::uint64_t ends = 0;     // states without a successor
  bool whole = true;          // every state was seen
  bool deadlock = false;      // as it happened
  bool predicted = false;     // as flow::find_deadlock said: it happens
  bool possible = false;      // as flow::find_deadlock said: it may happen, because a period varies
  std::uint64_t outcome = 0;  // hash of everything sent
  std::string broken;         // the first rule that did not hold, and where; empty = all held
};

/// All interleavings of the system up to `until`.
Findings explore(const flow::Graph& graph, SimTime until, std::uint64_t max_states = 200'000);
/// One random interleaving, for systems too large for all of them.
Findings run_once(const flow::Graph& graph, SimTime until, std::uint64_t seed);

/// What one random interleaving did, as docs/node_protocol.md has traces; and the system, in JSON.
std::string trace_once(const flow::Graph& graph, SimTime until, std::uint64_t seed);
std::string to_json(const flow::Graph& graph, SimTime until);

/// A random system: topology, kinds, periods (fixed or varying), first times, lookaheads, buffer sizes; a node without
/// inputs, sinks alone, rings. Times are single nanoseconds, so that ties are common.
flow::Graph random_graph(std::uint64_t seed, std::uint32_t max_nodes);
/// In words, to repeat a failure by hand.
std::string to_string(const flow::Graph& graph);

}  // namespace isochron::spec
