#pragma once
// The load-time check of a whole system: what would not work is said before anything starts, with the names of the
// nodes and flows concerned. The scenario layer turns a Problem into file:line:column by its node.
//
// Allowed, because they work: a node without inputs, a node without outputs, an output without sinks, an input that
// nobody handles, parts that are not connected with each other.
//
// Deadlock. A *zero* flow is an observation flow, or an event flow with lookahead 0: its message of time t may need
// everything of time t first. Nodes in a ring of zero flows wait for each other at every stamp that all observation
// flows of the ring have in common, and at the very start if the ring has events only. Such a stamp is computed from
// the declared first times and periods (Chinese remainder). No other system deadlocks; spec/ shows both.
//
// An observation whose period varies (Schedule::varying) may speak at any stamp after its first: a ring in which only
// such stamps are missing is refused too, as a possible deadlock. An observation in a ring that is not declared so must
// keep its period; a message that says otherwise ends the run.
//
// Cost: O(nodes + flows) for systems people write: 50,000 nodes take a tenth of a second. A system whose rings have
//       very many different periods is refused as undecided after a bounded amount of work.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/graph.hpp"

namespace isochron::flow {

struct Problem {
  std::string what;               // a sentence that names nodes and flows
  std::string hint;               // what to do about it; may be empty
  std::uint32_t node = 0;         // where it is
  std::optional<PortRef> output;  // of that flow, if it is about one
  std::optional<PortRef> input;
  std::optional<SimTime> deadlock_at;  // for deadlocks
};

/// Everything that is wrong; empty = good. `until` = the end of the run: a deadlock beyond it is none.
std::vector<Problem> check(const Graph& graph, SimTime until = SimTime::never());

/// A ring of zero flows that stands still, and when. Its flows in order: each one's sink is the next one's source.
struct Deadlock {
  enum class Why { certain, varies, undecided };  // it happens at that time; it may, from then on
  SimTime at;
  std::vector<PortRef> flows;
  Why why = Why::certain;
};
/// The earliest, if there is one before `until`.
std::optional<Deadlock> find_deadlock(const Graph& graph, SimTime until = SimTime::never());

/// The observation flows that are part of a ring of zero flows.
std::vector<PortRef> observations_in_rings(const Graph& graph);

/// Throws InputError with every problem.
void require_good(const Graph& graph, SimTime until = SimTime::never());

}  // namespace isochron::flow
