#include "scenario/run.hpp"

#include "scenario/expectations.hpp"
#include "scenario/runners.hpp"
#include "scenario/timed_faults.hpp"
#include "scenario/unused_keys.hpp"

namespace isochron {
bool runs_as_flows(const Scenario& scenario) {
  const Mode mode = scenario.time.mode;
  const bool exact = mode == Mode::callback || mode == Mode::consistent || mode == Mode::repeatable;
  if (exact && (!scenario.nodes.empty() || scenario.ros)) return true;
  if (mode != Mode::repeatable) return false;
  if (!scenario.flows.key_places.empty()) return true;
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
  if (!scenario.nodes.empty() || scenario.ros) {
    throw InputError(mode,
                     std::string(scenario.nodes.empty() ? "ROS nodes" : "`nodes`") +
                         " take part in modes callback, consistent and repeatable",
                     "as in `time: {mode: consistent}`");
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
  report.not_repeatable = not_repeatable(scenario);
  for (const Mistake& unused : unused_keys(scenario)) report.notes.push_back(to_text(unused));
  return report;
}

std::vector<std::string> not_repeatable(const Scenario& scenario) {
  if (scenario.time.mode == Mode::realtime) return {"mode realtime: the wall clock decides"};
  std::vector<std::string> spoilers;
  if (scenario.time.mode == Mode::heartbeat) {
    spoilers.emplace_back("mode heartbeat: a client goes by what it last heard of the others");
  }
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (scenario.time.mode == Mode::callback) continue;
      const ComputeSection& compute = program.compute ? *program.compute : scenario.time.compute;
      if (scenario.time.mode == Mode::hil && runs_on_target(program)) {
        spoilers.push_back(robot + "/" + name + ": it runs on a target");
      } else if (compute.contract == Contract::measured && scenario.time.mode != Mode::repeatable) {
        spoilers.push_back(robot + "/" + name + ": its computing is measured");
      }
    }
  }
  if (runs_as_flows(scenario) && scenario.flows.executor == flow::How::free) {
    spoilers.emplace_back("executor free: it has no time management");
  }
  return spoilers;
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
