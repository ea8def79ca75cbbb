#pragma once
// What the executors share: inside flow/ only. Each of them runs the nodes of an Assembly to their stop time.

#include <span>

#include "flow/assembly.hpp"
#include "flow/run.hpp"
#include "flow/stall.hpp"
#include "flow/wall_clock.hpp"

namespace isochron::flow {

/// What a run has to tell besides its digests.
struct RunReport {
  std::vector<NodeFailure> failures;
  std::string stall;
  bool complete = false;
};

/// The clock that the options name, or the machine's.
Clock& clock_of(const Options& options);

/// What the options want of a watchdog.
Watchdog::Wishes watchdog_wishes(const Options& options, std::function<void(const WaitForGraph&)> on_stall);

/// All nodes started, their stop time set.
void start_nodes(Assembly& assembly, SimTime until);

RunReport run_serial(Assembly& assembly, const Options& options);
RunReport run_pool(Assembly& assembly, const Options& options);
RunReport run_threads(Assembly& assembly, const Options& options);
RunReport run_processes(Assembly& assembly, const Options& options);
RunReport run_tcp(Assembly& assembly, const Options& options);
FlowOutcome run_free(System& system, const Options& options);

/// Any of them, on the calling thread.
FlowOutcome run_here(System& system, const Options& options);
/// The same on a thread that can be given up when a node in it hangs or crashes.
FlowOutcome run_guarded(System& system, const Options& options);

/// Digests and counts of the channels, and the report, as an FlowOutcome.
FlowOutcome make_outcome(Assembly& assembly, RunReport report);

/// One node's exception, with who waited for the node.
NodeFailure make_failure(const Graph& graph, std::uint32_t node, std::string what,
                         std::span<const NodeStatus> statuses);

}  // namespace isochron::flow
