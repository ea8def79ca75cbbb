#include "scenario/run.hpp"

#include "scenario/runners.hpp"

namespace isochron {
bool runs_as_flows(const Scenario& scenario) {
  if (scenario.time.mode != Mode::repeatable) return false;
  if (!scenario.nodes.empty() || scenario.ros || !scenario.flows.key_places.empty()) return true;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (!program.library.empty()) return true;
    }
  }
  return false;
}

namespace {

struct Runner {
  void (*check)(const Scenario&);
  RunReport (*run)(const Scenario&, const RunOptions&, Clock&, Disk&, RunWatch&);
};

Runner runner_for(const Scenario& scenario) {
  const Place& mode = scenario.time.place_of("mode");
  if (scenario.agents) {
    if (scenario.time.mode == Mode::heartbeat) return {check_agents, run_agents};
    if (scenario.time.mode == Mode::repeatable) return {check_agents, run_agent_flows};
    throw InputError(mode, "`agents` run in mode heartbeat, or exactly in mode repeatable",
                     "add `time: {mode: heartbeat}`");
  }
  if (runs_as_flows(scenario)) return {check_flows, run_flows};
  if (!scenario.nodes.empty()) {
    throw InputError(mode, "`nodes` run in mode repeatable", "add `time: {mode: repeatable}`");
  }
  if (scenario.ros) {
    throw InputError(mode, "ROS nodes take part in mode repeatable", "add `time: {mode: repeatable}`");
  }
  switch (scenario.time.mode) {
    case Mode::callback:
    case Mode::consistent:
    case Mode::repeatable:
      return {check_coordinator, run_coordinator};
    case Mode::realtime:
      return {check_realtime, run_realtime};
    case Mode::hil:
      return {check_hil, run_hil};
    case Mode::heartbeat:
      break;
  }
  throw InputError(mode, "this mode is for scenarios with `agents`", "see docs/agents.md");
}

}  // namespace

RunReport report_of(const Scenario& scenario) {
  RunReport report;
  report.scenario = scenario.name;
  report.mode = scenario.time.mode;
  return report;
}

void check_scenario(const Scenario& scenario) { runner_for(scenario).check(scenario); }

RunReport run_scenario(const Scenario& scenario, const RunOptions& asked, Clock& clock, Disk& disk, RunWatch& watch) {
  RunOptions options = asked;
  options.on_journal_failure = [&watch] { watch.stop(); };  // a run without its record is of no use to anybody
  if (!options.marks.empty()) watch.control().plan(options.marks);
  if (options.instead) return options.instead(scenario, options, clock, disk, watch);
  const Runner runner = runner_for(scenario);
  if (options.node.empty()) {
    RunReport report = runner.run(scenario, options, clock, disk, watch);
    const bool has_links = scenario.time.mode == Mode::heartbeat || scenario.time.mode == Mode::hil;
    if (!has_links && to_faults(scenario.faults, 1).any()) {
      report.notes.push_back("faults: this run has no link over a network, so that none was bad");
    }
    return report;
  }
  if (!runs_as_flows(scenario)) {
    throw InputError({"--node " + options.node, 0, 0}, "this scenario does not run as flows", "run it without --node");
  }
  return run_flow_node(scenario, options, clock, disk, watch);
}

}  // namespace isochron
