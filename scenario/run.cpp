#include "scenario/run.hpp"

#include "scenario/expectations.hpp"
#include "scenario/runners.hpp"
#include "scenario/timed_faults.hpp"

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

/// Whether programs are executables; a scenario has one kind of them.
bool has_executables(const Scenario& scenario) {
  std::size_t executables = 0, libraries = 0;
  const Section* first_library = nullptr;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      (program.library.empty() ? executables : libraries) += 1;
      if (!program.library.empty() && first_library == nullptr) first_library = &program;
    }
  }
  if (executables > 0 && libraries > 0) {
    throw InputError(first_library->place, "controllers in libraries and executables do not mix in one scenario",
                     "make this one an executable with `run`");
  }
  return executables > 0;
}

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
      return has_executables(scenario) ? Runner{check_coordinator, run_coordinator}
                                       : Runner{check_callback, run_callback};
    case Mode::consistent:
    case Mode::repeatable:
      if (!has_executables(scenario))
        throw InputError(mode, "this mode is for programs that are executables", "give them with `run`");
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

namespace {

/// Only a stage that is stepped by the run itself obeys marks.
void check_timeline(const Scenario& scenario) {
  if (scenario.faults.timeline.empty() || (!scenario.agents && !runs_as_flows(scenario))) return;
  throw InputError(scenario.faults.place,
                   "a timeline of faults is not obeyed where the world is a node or shared by clients",
                   "use executables in mode repeatable or consistent, or mode callback, realtime or hil");
}

/// Flows check theirs when they are planned; the agents of a world are known when they are there.
void check_expected(const Scenario& scenario) {
  if (!scenario.agents && !runs_as_flows(scenario)) check_stage_expectations(scenario);
}

}  // namespace

void check_scenario(const Scenario& scenario) {
  runner_for(scenario).check(scenario);
  check_timeline(scenario);
  check_expected(scenario);
}

RunReport run_scenario(const Scenario& scenario, const RunOptions& asked, Clock& clock, Disk& disk, RunWatch& watch) {
  RunOptions options = asked;
  if (scenario.on_violation == OnEnd::end) options.on_violation = [&watch] { watch.stop(); };
  options.on_journal_failure = [&watch] { watch.stop(); };  // a run without its record is of no use to anybody
  std::vector<Mark> marks = timed_marks(scenario);
  marks.insert(marks.end(), options.marks.begin(), options.marks.end());
  if (!marks.empty()) watch.control().plan(std::move(marks));
  if (options.instead) return options.instead(scenario, options, clock, disk, watch);
  const Runner runner = runner_for(scenario);
  if (options.node.empty()) {
    check_timeline(scenario);
    check_expected(scenario);
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
