#include "scenario/run.hpp"

#include "scenario/runners.hpp"

namespace isochron {
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
  if (!scenario.nodes.empty()) {
    if (scenario.time.mode == Mode::repeatable) return {check_flows, run_flows};
    throw InputError(mode, "`nodes` run in mode repeatable", "add `time: {mode: repeatable}`");
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
    case Mode::hil:
    case Mode::heartbeat:
      break;
  }
  throw InputError(mode, "this version does not run that mode from a scenario",
                   "it has callback, consistent and repeatable");
}

}  // namespace

RunReport report_of(const Scenario& scenario) {
  RunReport report;
  report.scenario = scenario.name;
  report.mode = scenario.time.mode;
  return report;
}

void check_scenario(const Scenario& scenario) { runner_for(scenario).check(scenario); }

RunReport run_scenario(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  return runner_for(scenario).run(scenario, options, clock, disk, watch);
}

}  // namespace isochron
