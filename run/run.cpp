#include "run/run.hpp"

#include "core/build_parts.hpp"
#include "core/log.hpp"
#include "core/time_text.hpp"
#include "run/expectations.hpp"
#include "run/ros_wire.hpp"
#include "run/runners.hpp"
#include "run/unused_keys.hpp"
#include "scenario/timed_faults.hpp"

namespace isochron {
namespace {

struct Runner {
  void (*check)(const Scenario&);
  RunReport (*run)(const Scenario&, const RunOptions&, Clock&, Disk&, RunWatch&);
};

Runner runner_for(const Scenario& scenario) {
  const Place& mode = scenario.time.place_of("mode");
  if (scenario.agents) {
    if (!scenario.nodes.empty() && scenario.time.mode != Mode::repeatable) {
      throw InputError(mode, "`nodes` beside `agents` take part in mode repeatable", "add `time: {mode: repeatable}`");
    }
    if (scenario.time.mode == Mode::heartbeat) return {check_agents, run_agents};
    if (scenario.time.mode == Mode::repeatable) return {check_agent_flows, run_agent_flows};
    throw InputError(mode, "`agents` run in mode heartbeat, or exactly in mode repeatable",
                     "add `time: {mode: heartbeat}`");
  }
  if (runs_as_flows(scenario)) return {check_flows, run_flows};
  if (!scenario.nodes.empty() || !scenario.world) {
    throw InputError(mode,
                     std::string(scenario.nodes.empty() ? "ROS nodes without a `world`" : "`nodes`") +
                         " take part in modes callback, consistent and repeatable",
                     "as in `time: {mode: consistent}`");
  }
  switch (scenario.time.mode) {
    case Mode::callback:
    case Mode::consistent:
    case Mode::repeatable:
    case Mode::hil:
      return {check_coordinator, run_coordinator};
    case Mode::realtime:
      return {check_realtime, run_realtime};
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
  for (std::string& note : ros_notes(scenario)) report.notes.push_back(std::move(note));
  return report;
}

std::vector<std::string> not_repeatable(const Scenario& scenario) {
  std::vector<std::string> spoilers = ros_spoilers(scenario);
  if (scenario.time.mode == Mode::realtime) {
    spoilers.insert(spoilers.begin(), "mode realtime: the wall clock decides");
    return spoilers;
  }
  if (scenario.time.mode == Mode::heartbeat) {
    spoilers.emplace_back("mode heartbeat: a client goes by what it last heard of the others");
  }
  if (scenario.time.mode != Mode::repeatable) {
    for (const std::string& address : scenario.outside) {
      spoilers.push_back("outside: what comes from " + address + " comes when it comes");
    }
  }
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      const ComputeSection& compute = program.compute ? *program.compute : scenario.time.compute;
      if (runs_on_target(scenario, program)) {
        spoilers.push_back(robot + "/" + name + ": it runs on a target");
      } else if (flies_from_outside(program)) {
        spoilers.push_back(robot + "/" + name +
                           ": it flies from outside, in lock-step; the run repeats if it says the same again");
      } else if (scenario.time.mode != Mode::callback && compute.contract == Contract::measured &&
                 scenario.time.mode != Mode::repeatable) {
        spoilers.push_back(robot + "/" + name + ": its computing is measured");
      }
      if (program.clock == ClockKind::virtual_ && program.system == SystemKind::host) {
        spoilers.push_back(robot + "/" + name + ": its children, pipes and sockets are the host's (`system: host`)");
      }
      if (program.ros2) spoilers.push_back(robot + "/" + name + ": messages over DDS arrive at no fixed time");
    }
  }
  for (const auto& [name, node] : scenario.nodes) {
    if (node.compute && node.compute->contract == Contract::measured) {
      spoilers.push_back(name + ": its computing is measured");
    }
  }
  if (runs_as_flows(scenario) && scenario.flows.executor == flow::How::free) {
    spoilers.emplace_back("executor free: it has no time management");
  }
  return spoilers;
}

void check_carrier(const Scenario& scenario) {
  const Place& place = scenario.network.place_of("carrier");
  const std::string other = "set `network: {carrier: tcp}`";
  if (scenario.network.carrier == CarrierKind::dds) need_part("DDS", place, other);
  if (scenario.network.carrier == CarrierKind::ros) need_part("ROS 1", place, other);
}

void check_restarts(const Scenario& scenario) {
  if (scenario.network.restarts == 0) return;
  const Place& place = scenario.network.place_of("restarts");
  const std::string cannot = "a node that is lost cannot be started again here: ";
  const std::string otherwise = "set it to 0: a node that is lost then ends the run";
  if (const auto spoilers = not_repeatable(scenario); !spoilers.empty()) {
    throw InputError(place, cannot + "the run does not repeat (" + spoilers.front() + ")", otherwise);
  }
  if (scenario.ros || scenario.ros2)
    throw InputError(place, cannot + "ROS nodes outside of it cannot be asked again", otherwise);
  if (scenario.network.carrier == CarrierKind::ros) {
    throw InputError(place, cannot + "carrier ros does not let another process take a node's place",
                     "set `network: {carrier: tcp}` or dds");
  }
  constexpr std::uint32_t most = 10'000;
  if (scenario.network.restarts > most) {
    throw InputError(place, "restarts must be " + std::to_string(most) + " at most");
  }
}

namespace {

/// Flows check theirs when they are planned; the agents of a world are known when they are there.
void check_expected(const Scenario& scenario) {
  if (!scenario.agents && !runs_as_flows(scenario)) check_stage_expectations(scenario);
}

}  // namespace

void check_scenario(const Scenario& scenario) {
  runner_for(scenario).check(scenario);
  check_expected(scenario);
}

namespace {
RunReport run_planned(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);
}

RunReport run_scenario(const Scenario& scenario, const RunOptions& asked, Clock& clock, Disk& disk, RunWatch& watch) {
  RunOptions options = asked;
  if (scenario.on_violation == OnEnd::end) options.on_violation = [&watch] { watch.stop(); };
  options.on_journal_failure = [&watch] { watch.stop(); };  // a run without its record is of no use to anybody
  std::vector<Mark> marks = timed_marks(scenario);
  marks.insert(marks.end(), options.marks.begin(), options.marks.end());
  if ((runs_as_flows(scenario) || scenario.agents) && !marks.empty()) {
    Scenario marked = scenario;  // a world that is a node, or that clients share, knows beforehand what is done to it
    marked.faults.marks = std::move(marks);
    return run_planned(marked, options, clock, disk, watch);
  }
  if (!marks.empty()) watch.control().plan(std::move(marks));
  return run_planned(scenario, options, clock, disk, watch);
}

namespace {

RunReport run_planned(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  if (options.instead) return options.instead(scenario, options, clock, disk, watch);
  const Runner runner = runner_for(scenario);
  if (options.node.empty()) {
    check_expected(scenario);
    inform("run",
           scenario.name + " begins, for " + to_string(scenario.duration) + ", seed " + std::to_string(scenario.seed));
    RunReport report = runner.run(scenario, options, clock, disk, watch);
    inform("run", scenario.name + ": " + to_string(report.end) + (report.why.empty() ? "" : ", " + report.why) +
                      ", after " + to_string(report.simulated));
    const bool has_links = scenario.time.mode == Mode::heartbeat || report.hil;
    if (!has_links && to_faults(scenario.faults, 1).any()) {
      report.notes.push_back("faults: this run has no network link, so none was disturbed");
    }
    return report;
  }
  if (!runs_as_flows(scenario)) {
    throw InputError({"--node " + options.node, 0, 0}, "this scenario does not run as flows", "run it without --node");
  }
  return run_flow_node(scenario, options, clock, disk, watch);
}

}  // namespace
}  // namespace isochron
