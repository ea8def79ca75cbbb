#pragma once
// One runner for each way of passing time; run_scenario() chooses. Each builds what it needs from the scenario, throws
// InputError before anything starts, and leaves a complete journal.

#include "run/flow_plan.hpp"
#include "run/run.hpp"

namespace isochron {

/// A report with the scenario's own facts filled in.
RunReport report_of(const Scenario& scenario);

void check_coordinator(const Scenario& scenario);
RunReport run_coordinator(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                          RunWatch& watch);

void check_realtime(const Scenario& scenario);
RunReport run_realtime(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);

void check_flows(const Scenario& scenario);
RunReport run_flows(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);
/// One node of it, options.node; the others run elsewhere.
RunReport run_flow_node(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);

/// A system of any origin, by the scenario's executor.
RunReport run_plan(FlowPlan plan, const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                   RunWatch& watch);

void check_agents(const Scenario& scenario);
RunReport run_agents(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);
/// The same with the nodes beside them.
void check_agent_flows(const Scenario& scenario);
RunReport run_agent_flows(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                          RunWatch& watch);

}  // namespace isochron
