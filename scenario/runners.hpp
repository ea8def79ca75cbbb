#pragma once
// One runner for each way of passing time; run_scenario() chooses. Each builds what it needs from the scenario, throws
// InputError before anything starts, and leaves a complete journal.

#include "scenario/run.hpp"

namespace isochron {

/// A report with the scenario's own facts filled in.
RunReport report_of(const Scenario& scenario);

void check_callback(const Scenario& scenario);
RunReport run_callback(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);

void check_coordinator(const Scenario& scenario);
RunReport run_coordinator(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                          RunWatch& watch);

void check_flows(const Scenario& scenario);
RunReport run_flows(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);

/// Nodes of any origin, by the scenario's executor; `names` are those of the nodes.
RunReport run_system(flow::System& system, const std::vector<std::string>& names, const Scenario& scenario,
                     const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);

void check_agents(const Scenario& scenario);
RunReport run_agents(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);
RunReport run_agent_flows(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                          RunWatch& watch);

}  // namespace isochron
