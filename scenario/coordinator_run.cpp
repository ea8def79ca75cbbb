// Programs as ordinary executables, run against the world by the coordinator: callback (computing is free), consistent
// (measured), and repeatable (recorded or modelled) are the same wiring with other compute contracts.

#include <algorithm>
#include <stop_token>

#include "coordinator/coordinator.hpp"
#include "core/time_text.hpp"
#include "scenario/coordinator_specs.hpp"
#include "scenario/find_file.hpp"
#include "scenario/program_record.hpp"
#include "scenario/runners.hpp"
#include "scenario/world_plant.hpp"

namespace isochron {

using namespace coordinator;

Compute compute_of(const Scenario& scenario, const ProgramSection& program, const std::string& full_name, bool load) {
  if (scenario.time.mode == Mode::callback || scenario.time.mode == Mode::realtime) return ZeroCompute{};
  const ComputeSection& section = program.compute ? *program.compute : scenario.time.compute;
  switch (section.contract) {
    case Contract::zero:
      return ZeroCompute{};
    case Contract::measured:
      return MeasuredCompute{};
    case Contract::recorded:
      return RecordedCompute{load ? load_tape(section.recorded.path, full_name, section.place) : nullptr};
    case Contract::modelled: {
      const ModelledSection& m = *section.modelled;
      using Shape = ModelledCompute::Shape;
      return ModelledCompute{m.deviation > SimSpan::zero() ? Shape::normal : Shape::fixed, m.fixed, m.deviation,
                             m.per_clock_read, scenario.seed};
    }
    case Contract::hardware:
      break;
  }
  throw InputError(section.place, "compute `hardware` is for targets over a link", "use `isochron serve`");
}

namespace {

ProgramSpec program_spec(const Scenario& scenario, const std::string& robot, const std::string& name,
                         const ProgramSection& program) {
  ProgramSpec spec;
  spec.name = name;
  spec.run = program.run;
  spec.run[0] = find_program(program.run[0], scenario.folder).value_or(program.run[0]);
  for (const auto& [key, value] : program.with) spec.environment.emplace_back("ISOCHRON_WITH_" + key, value);
  spec.environment.emplace_back("ISOCHRON_SEED", std::to_string(scenario.seed));
  spec.every = program.every.value_or(SimSpan::zero());
  spec.best_effort = program.best_effort;
  spec.offset = program.offset;
  spec.deadline = program.deadline.value_or(SimSpan::zero());
  spec.priority = program.priority;
  spec.core = program.core;
  spec.to = program.to;
  spec.virtual_clock = program.clock == ClockKind::virtual_;
  spec.compute = compute_of(scenario, program, robot + "/" + name, true);
  spec.cpu_speed = program.cpu_speed.value_or(scenario.time.cpu_speed);
  spec.blocking =
      program.blocking == isochron::Blocking::wall ? coordinator::Blocking::charge_wall : coordinator::Blocking::free;
  spec.on_failure = program.on_exit == OnEnd::end ? OnFailure::end_run : OnFailure::go_on;
  spec.memory_limit = program.memory.bytes;
  return spec;
}

}  // namespace

std::vector<RobotSpec> robot_specs(const Scenario& scenario) {
  std::vector<RobotSpec> robots;
  for (const auto& [name, section] : scenario.robots) {
    RobotSpec robot;
    robot.name = name;
    std::shared_ptr<const coordinator::Policy> policy = std::make_shared<FixedPriority>();
    if (section.policy == isochron::Policy::least_progress) {
      policy = std::make_shared<LeastProgress>(scenario.time.quantum);
    }
    robot.policies.assign(section.cores, policy);
    for (const auto& [program, spec] : section.programs) {
      if (!spec.run.empty()) robot.programs.push_back(program_spec(scenario, name, program, spec));
    }
    robots.push_back(std::move(robot));
  }
  return robots;
}

void check_repeatable(const Scenario& scenario) {
  if (scenario.time.mode != Mode::repeatable) return;
  std::vector<Mistake> mistakes;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      const ComputeSection& compute = program.compute ? *program.compute : scenario.time.compute;
      if (compute.contract != Contract::measured) continue;
      mistakes.push_back(
          {program.place, "program `" + name + "` is measured, and a measured run is not the same twice",
           "record it with mode: consistent, then use compute: {recorded: RUN.mcap}, or compute: {modelled: …}"});
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

CoordinatorOptions coordinator_options(const Scenario& scenario, SimSpan step, bool show_output) {
  CoordinatorOptions options;
  options.step = step;
  options.show_output = show_output;
  options.quantum = scenario.time.quantum;
  options.hang_after = scenario.time.hang;
  options.cores = scenario.time.cores.value_or(0);
  options.privileges = scenario.time.privileges == Rights::insist    ? Privileges::insist
                       : scenario.time.privileges == Rights::without ? Privileges::do_without
                                                                     : Privileges::use_if_there;
  if (scenario.time.pace.factor) {
    options.pace = PaceRate(scenario.time.pace.factor->denominator, scenario.time.pace.factor->numerator);
  }
  options.interpose_library = find_library("isochron_clock", scenario.folder).value_or("");
  return options;
}

namespace {

ProgramReport report_of(const ProgramOutcome& o, SimTime reached) {
  ProgramReport report;
  report.name = o.name;
  report.activations = o.activations;
  report.overruns = o.overruns;
  report.missed_deadlines = o.missed;
  report.preemptions = o.preemptions;
  report.executed = o.executed;
  report.waited = std::max(SimSpan::zero(), reached.since_zero() - o.executed);
  report.end = o.ended;
  return report;
}

/// In callback mode computing costs no simulated time, but it was done; the drift that this hides is the paper's Δ.
SimSpan drift_of_free_computing(const Outcome& outcome, RunReport& report) {
  SimSpan most = outcome.drift_max;
  for (const ProgramOutcome& program : outcome.programs) {
    const SimSpan ahead = ComputeRate().apply(program.cpu) - outcome.reached.since_zero();
    if (ahead <= most) continue;
    most = ahead;
    report.notes.push_back(program.name + " computed for " + format_ns_short(program.cpu.ns()) + " while " +
                           format_ns_short(outcome.reached.ns()) +
                           " passed in the world: computing is free in callback mode");
  }
  return most;
}

void fill(const Outcome& outcome, RunReport& report) {
  report.simulated = outcome.reached.since_zero();
  report.shares = {outcome.accounting.executed, outcome.accounting.world, outcome.accounting.coordination,
                   outcome.accounting.waited, outcome.accounting.idle};
  report.control = outcome.control;
  if (outcome.lanes > 1) {
    report.notes.push_back("on " + std::to_string(outcome.lanes) + " cores at once programs executed " +
                           format_ns_short(outcome.executed.ns()) + " in " +
                           format_ns_short(outcome.accounting.executed.ns()) + " of wall time");
  }
  for (const ProgramOutcome& program : outcome.programs) {
    report.programs.push_back(report_of(program, outcome.reached));
    for (const std::string& fault : program.faults) report.notes.push_back(program.name + ": " + fault);
    if (program.replay_parted > 0) {
      report.notes.push_back(program.name + ": asked " + std::to_string(program.replay_parted) +
                             " times for something else than in the record");
    }
    if (program.failed) report.notes.push_back(program.name + " " + program.ended + "; " + program.last_state);
    if (program.failed && !program.output.empty()) report.notes.push_back(program.name + " printed: " + program.output);
  }
  if (outcome.degraded) report.notes.push_back("degraded: " + outcome.control);
  if (outcome.strays > 0) {
    report.notes.push_back(outcome.strays == 1
                               ? "a process that a program left behind was ended"
                               : std::to_string(outcome.strays) + " processes that programs left behind were ended");
  }
}

}  // namespace

void check_coordinator(const Scenario& scenario) {
  check_repeatable(scenario);
  Stage stage(scenario);
  const WorldPlant plant(stage, scenario);
  (void)robot_specs(scenario);
}

RunReport run_coordinator(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                          RunWatch& watch) {
  check_repeatable(scenario);
  Stage stage(scenario);
  WorldPlant plant(stage, scenario);
  std::vector<RobotSpec> robots = robot_specs(scenario);
  std::vector<std::string> names;
  std::vector<Fraction> speeds;
  for (const RobotSpec& robot : robots) {
    for (const ProgramSpec& program : robot.programs) {
      names.push_back(robot.name + "/" + program.name);
      speeds.push_back(program.cpu_speed);
    }
  }
  RunRecord record(scenario, options, clock, disk, {});
  stage.begin(record, watch);
  ProgramRecorder recorder(record, names, speeds, plant.variables());

  CoordinatorOptions how = coordinator_options(scenario, stage.step(), options.show_output);
  how.delay = [&stage](const std::string& program) { return stage.faults().take_delay(program); };
  Coordinator coordinator(plant, std::move(robots), std::move(how), &recorder);
  std::stop_source stop;
  const Outcome outcome =
      coordinator.run(SimTime::zero() + scenario.duration, stop.get_token(), [&](SimTime now, SimSpan drift) {
        watch.at(now);
        watch.drift(drift);
        if (watch.stopping()) stop.request_stop();
      });

  RunReport report = isochron::report_of(scenario);
  fill(outcome, report);
  if (!outcome.completed) {
    report.end = watch.stopping() ? RunReport::End::interrupted : RunReport::End::failed;
    report.why = outcome.why_ended;
  }
  const bool free = scenario.time.mode == Mode::callback;
  const SimSpan drift_max = free ? drift_of_free_computing(outcome, report) : outcome.drift_max;
  record.set_drift(drift_max, std::min(outcome.drift_p99, drift_max), outcome.drift_exact, outcome.drift_series);
  report.wall = outcome.accounting.wall;
  record.finish(report);
  return report;
}

}  // namespace isochron
