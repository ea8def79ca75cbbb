// Programs, executables and libraries alike, run against the world by the coordinator: callback (computing is free),
// consistent (measured), and repeatable (recorded or modelled) are the same wiring with other compute contracts.

#include <algorithm>

#include "coordinator/coordinator.hpp"
#include "coordinator/executable.hpp"
#include "coordinator/policy_library.hpp"
#include "coordinator/policy_tree.hpp"
#include "core/time_text.hpp"
#include "scenario/coordinator_specs.hpp"
#include "scenario/find_file.hpp"
#include "scenario/library_program.hpp"
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
  spec.run = found_command(program.run, scenario.folder);
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
  spec.seed = scenario.seed;
  spec.compute = compute_of(scenario, program, robot + "/" + name, true);
  spec.cpu_speed = program.cpu_speed.value_or(scenario.time.cpu_speed);
  spec.blocking =
      program.blocking == isochron::Blocking::wall ? coordinator::Blocking::charge_wall : coordinator::Blocking::free;
  spec.on_failure = program.on_exit == OnEnd::end ? OnFailure::end_run : OnFailure::go_on;
  spec.memory_limit = program.memory.bytes;
  spec.startup_free = program.startup.free;
  if (program.stdin_) {
    spec.input.text = program.stdin_->text;
    spec.input.file = program.stdin_->file.path;
    for (const InputLine& line : program.stdin_->lines) {
      spec.input.lines.push_back({SimTime::zero() + line.at, line.line});
    }
  }
  return spec;
}

/// Nothing where it names none of these programs: the others of the robot run elsewhere.
std::optional<PolicyGroup> group_of(const PolicyGroupSection& section, const std::vector<std::string>& programs) {
  PolicyGroup group;
  group.share = section.share;
  if (section.rule == PolicyGroupSection::Rule::none) {
    const auto found = std::find(programs.begin(), programs.end(), section.name);
    if (found == programs.end()) return std::nullopt;
    group.member = static_cast<std::uint32_t>(found - programs.begin());
    return group;
  }
  group.rule = section.rule == PolicyGroupSection::Rule::fixed  ? PolicyGroup::Rule::fixed
               : section.rule == PolicyGroupSection::Rule::fair ? PolicyGroup::Rule::fair
                                                                : PolicyGroup::Rule::least_progress;
  for (const PolicyGroupSection& member : section.members) {
    if (auto found = group_of(member, programs)) group.members.push_back(std::move(*found));
  }
  if (group.members.empty()) return std::nullopt;
  return group;
}

/// `programs`: those that take part, in order.
MakePolicy make_policy(const Scenario& scenario, const std::string& robot, const RobotSection& section,
                       std::vector<std::string> programs) {
  const SimSpan quantum = scenario.time.quantum;
  if (section.policy.tree) {
    const auto group = group_of(*section.policy.tree, programs);
    if (!group) return {};
    return [group = *group, count = programs.size(), quantum] {
      return std::make_unique<PolicyTree>(group, count, quantum);
    };
  }
  if (!section.policy.library.empty()) {
    try {
      return policy_of_library(section.policy.library.path, robot, std::move(programs), quantum);
    } catch (const InputError& error) {
      throw InputError(section.policy.place, error.what(), "");
    }
  }
  if (section.policy.word == PolicyWord::least_progress) {
    return [quantum] { return std::make_unique<LeastProgress>(quantum); };
  }
  return [quantum] { return std::make_unique<FixedPriority>(quantum); };
}

}  // namespace

std::vector<RobotSpec> robot_specs(const Scenario& scenario, const MakeCalled& make) {
  std::vector<RobotSpec> robots;
  for (const auto& [name, section] : scenario.robots) {
    RobotSpec robot;
    robot.name = name;
    robot.cores = section.cores;
    std::vector<std::string> taking_part;
    for (const auto& [program, spec] : section.programs) {
      if (spec.run.empty() && !make) continue;
      taking_part.push_back(program);
      robot.programs.push_back(program_spec(scenario, name, program, spec));
      if (spec.run.empty()) robot.programs.back().called = make(name, program, spec);
    }
    robot.policy = make_policy(scenario, name, section, std::move(taking_part));
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

// Programs that would run in real time, unseen, are refused before anything starts.
void check_executables(const Scenario& scenario) {
  std::vector<Mistake> mistakes;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (program.clock != ClockKind::virtual_ || program.run.empty()) continue;
      const auto obstacle = obstacle_to_following(found_command(program.run, scenario.folder));
      if (!obstacle) continue;
      mistakes.push_back(
          {program.place_of("run"), "`run` names `" + program.run[0] + "`, which " + obstacle->what, obstacle->hint});
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
  options.stall_after = scenario.time.stall;
  options.epoch = scenario.time.epoch.epoch;
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
  report.blocked = o.stalled;
  report.startup = o.startup;
  report.waited = std::max(SimSpan::zero(), reached.since_zero() - o.executed - o.stalled);
  report.outsiders = o.outsiders;
  report.outsiders_cpu = o.outsiders_cpu;
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

/// Forked work escapes simulated time: that is said of every program that has any.
std::string note_on_outsiders(const ProgramOutcome& program) {
  const bool one = program.outsiders == 1;
  return program.name + " started " + (one ? "a process" : std::to_string(program.outsiders) + " processes") +
         ", which took no part in simulated time: " + (one ? "it" : "they") + " saw the real clock, and " +
         format_ns_short(program.outsiders_cpu.ns()) + " of CPU was charged to nobody; see docs/programs.md";
}

constexpr CpuSpan startup_worth_saying = std::chrono::milliseconds(10);

std::string note_on_startup(const ProgramOutcome& program) {
  return program.name + " started up for " + format_ns_short(program.startup.ns()) +
         " of CPU before it first waited, which was not charged; `startup: charged` changes that";
}

std::string note_on_strays(const ProgramOutcome& program) {
  return program.strays == 1
             ? "a process that " + program.name + " left behind was ended"
             : std::to_string(program.strays) + " processes that " + program.name + " left behind were ended";
}

}  // namespace

std::vector<WaitRecord> wait_records(const std::vector<CoordinatorOptions::Standing>& all, WallSpan since) {
  std::vector<WaitRecord> lines;
  for (const CoordinatorOptions::Standing& one : all) {
    lines.push_back({0, one.who, one.what, "", one.at, one.whom, since.seconds()});
  }
  return lines;
}

void take_programs(const Outcome& outcome, RunReport& report) {
  std::erase_if(report.programs, [&](const ProgramReport& known) {
    return std::any_of(outcome.programs.begin(), outcome.programs.end(),
                       [&](const ProgramOutcome& program) { return program.name == known.name; });
  });
  fill_programs(outcome, report);
}

void fill_programs(const Outcome& outcome, RunReport& report) {
  if (!outcome.control.empty()) report.control = outcome.control;
  if (outcome.lanes > 1) {
    report.notes.push_back("on " + std::to_string(outcome.lanes) + " cores at once programs executed " +
                           format_ns_short(outcome.executed.ns()) + " in " +
                           format_ns_short(outcome.accounting.executed.ns()) + " of wall time");
  }
  if (outcome.latest_preemption) {
    report.notes.push_back(to_string(*outcome.latest_preemption) + ", and the program executed " +
                           format_ns_short(outcome.latest_preemption->beyond.ns()) + " beyond its turn");
  }
  for (const ProgramOutcome& program : outcome.programs) {
    report.programs.push_back(report_of(program, outcome.reached));
    for (const std::string& fault : program.faults) report.notes.push_back(program.name + ": " + fault);
    if (!program.parted.empty()) {
      report.notes.push_back(program.name + " " + program.parted +
                             (program.replay_parted == 1
                                  ? ""
                                  : ", the first of " + std::to_string(program.replay_parted) + " differences"));
    }
    if (program.outsiders > 0) report.notes.push_back(note_on_outsiders(program));
    if (program.startup >= startup_worth_saying) report.notes.push_back(note_on_startup(program));
    if (program.startup_too_long) {
      report.notes.push_back(program.name +
                             " computed for longer than its `startup` allows without waiting, so that all "
                             "of it was charged, from its start");
    }
    if (program.strays > 0) report.notes.push_back(note_on_strays(program));
    if (program.failed) report.notes.push_back(program.name + " " + program.ended + "; " + program.last_state);
    if (program.failed && !program.output.empty()) report.notes.push_back(program.name + " printed: " + program.output);
  }
  if (outcome.degraded) report.notes.push_back("degraded: " + outcome.control);
}

namespace {

void fill(const Outcome& outcome, RunReport& report) {
  report.simulated = outcome.reached.since_zero();
  report.shares = {outcome.accounting.executed, outcome.accounting.world, outcome.accounting.coordination,
                   outcome.accounting.waited, outcome.accounting.idle};
  fill_programs(outcome, report);
  if (std::string late = lateness_text(outcome.times_late, outcome.late_most); !late.empty()) {
    report.notes.push_back(std::move(late));
  }
}

}  // namespace

std::vector<OutputRecord> outputs_of(const Scenario& scenario) {
  std::vector<OutputRecord> outputs;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (!program.run.empty()) outputs.push_back(program.output);
    }
  }
  return outputs;
}

void check_coordinator(const Scenario& scenario) {
  check_repeatable(scenario);
  check_executables(scenario);
  Stage stage(scenario);
  const WorldPlant plant(stage, scenario);
  (void)robot_specs(scenario, libraries_of(scenario, stage, plant));
}

RunReport run_coordinator(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                          RunWatch& watch) {
  check_repeatable(scenario);
  check_executables(scenario);
  Stage stage(scenario);
  WorldPlant plant(stage, scenario);
  CoordinatorOptions how = coordinator_options(scenario, stage.step(), options.show_output);
  how.delay = [&stage](const std::string& program) { return stage.faults().take_delay(program); };
  how.stopping = [&watch] { return watch.stopping(); };
  std::vector<RobotSpec> robots = robot_specs(scenario, libraries_of(scenario, stage, plant));
  const auto [names, speeds] = coordinator::numbered(robots);
  RunRecord record(scenario, options, clock, disk, {});
  stage.begin(record, watch);
  ProgramRecorder recorder(record, names, speeds, plant.variables(), outputs_of(scenario));
  RunReport report = isochron::report_of(scenario);
  StallRecord stalls(record, watch, report.notes);
  how.on_stall = [&](const auto& all) { stalls.tell(wait_records(all, scenario.time.stall)); };
  Coordinator coordinator(plant, std::move(robots), std::move(how), &recorder);
  const Outcome outcome = coordinator.run(SimTime::zero() + scenario.duration, {}, [&](SimTime now, SimSpan drift) {
    watch.at(now);
    watch.drift(drift);
  });

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
