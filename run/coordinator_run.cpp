// Programs, executables, libraries and boards alike, run against the world by the coordinator: callback (computing is
// free), consistent (measured), repeatable (recorded or modelled) and hil (boards) are the same wiring with other
// compute contracts.

#include <algorithm>

#include "core/time_text.hpp"
#include "link/dds/dds_options.hpp"
#include "link/resolve.hpp"
#include "programs/coordinator.hpp"
#include "programs/executable.hpp"
#include "programs/policy_library.hpp"
#include "programs/policy_tree.hpp"
#include "programs/system/address.hpp"
#include "run/autopilot_host.hpp"
#include "run/board_host.hpp"
#include "run/coordinator_specs.hpp"
#include "run/library_program.hpp"
#include "run/program_record.hpp"
#include "run/robot_radios.hpp"
#include "run/robot_wires.hpp"
#include "run/ros_post.hpp"
#include "run/runners.hpp"
#include "run/world_plant.hpp"
#include "scenario/find_file.hpp"
#include "traffic/v2x_unit.hpp"

namespace isochron {

using namespace programs;

namespace {

/// What the program starts has tapes of its own.
RecordedCompute recorded_compute(const ComputeSection& section, const std::string& full_name, bool load) {
  if (!load) return {};
  const auto of_child = [section](const std::string& name) -> std::shared_ptr<const ComputeTape> {
    try {
      return load_tape(section.recorded.path, name, section.place);
    } catch (const InputError&) {
      return nullptr;
    }
  };
  return {load_tape(section.recorded.path, full_name, section.place), of_child};
}

/// Networks as the simulated system takes them; every mistake with its place.
std::vector<NetworkSpec> network_specs(const Scenario& scenario) {
  std::vector<NetworkSpec> networks;
  std::vector<Mistake> mistakes;
  const auto check_robot = [&](const Section& at, const std::string& robot) {
    for (const auto& [name, section] : scenario.robots) {
      if (name == robot) return;
    }
    mistakes.push_back({at.place, "there is no robot `" + robot + "`", "name robots of this scenario"});
  };
  for (const auto& [name, section] : scenario.networks) {
    NetworkSpec& network = networks.emplace_back();
    network.name = name;
    for (const auto& [key, span] : {std::pair("latency", section.latency), std::pair("jitter", section.jitter)}) {
      if (span < SimSpan::zero()) {
        mistakes.push_back({section.place_of(key), "`" + std::string(key) + "` must not be negative", ""});
      }
    }
    network.latency = section.latency;
    network.jitter = section.jitter;
    network.bits_per_s = section.rate.bits_per_s;
    network.loss = section.loss.value;
    for (const auto& [robot, address] : section.hosts) {
      check_robot(section, robot);
      const auto ip = ip_of(address);
      if (!ip)
        mistakes.push_back({section.place_of("hosts"), "`" + address + "` is no IPv4 address", "as in 10.0.0.1"});
      network.hosts.emplace_back(robot, ip.value_or(0));
    }
    for (const CutSection& cut : section.cuts) {
      for (const std::string& robot : cut.robots) check_robot(cut, robot);
      if (cut.until && *cut.until <= cut.from) {
        mistakes.push_back({cut.place, "a cut must end after it begins", "set `until` later than `from`"});
      }
      network.cuts.push_back(
          {cut.robots, SimTime::zero() + cut.from, cut.until ? SimTime::zero() + *cut.until : SimTime::never()});
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return networks;
}

}  // namespace

Compute compute_of(const Scenario& scenario, const ProgramSection& program, const std::string& full_name, bool load) {
  if (scenario.time.mode == Mode::callback || scenario.time.mode == Mode::realtime) return ZeroCompute{};
  const ComputeSection& section = program.compute ? *program.compute : scenario.time.compute;
  switch (section.contract) {
    case Contract::zero:
      return ZeroCompute{};
    case Contract::measured:
      return MeasuredCompute{};
    case Contract::recorded:
      return recorded_compute(section, full_name, load);
    case Contract::modelled: {
      const ModelledSection& m = *section.modelled;
      using Shape = ModelledCompute::Shape;
      return ModelledCompute{m.deviation > SimSpan::zero() ? Shape::normal : Shape::fixed,
                             m.fixed,
                             m.deviation,
                             m.per_clock_read,
                             scenario.seed,
                             m.per_call,
                             m.per_kilobyte};
    }
    case Contract::hardware:
      break;
  }
  throw InputError(section.place, "compute `hardware` is for programs that run on a board",
                   "give the program this contract by itself, or use mode hil");
}

namespace {

/// Where a node of ROS 2 finds the others: Cyclone's way, and Fast DDS's.
void add_ros2(const Scenario& scenario, ProgramSpec& spec) {
  link::DdsOptions options;
  if (scenario.ros2) options = {scenario.ros2->domain, scenario.ros2->interface, scenario.ros2->hosts};
  if (scenario.ros2) spec.environment.emplace_back("ROS_DOMAIN_ID", std::to_string(options.domain));
  if (options.interface == "lo") spec.environment.emplace_back("ROS_LOCALHOST_ONLY", "1");
  const std::string xml = link::cyclone_configuration(options);
  if (!xml.empty()) spec.environment.emplace_back("CYCLONEDDS_URI", xml);
}

// While computing is measured, a counter that is trapped would make each look at the clock and each change of programs
// cost microseconds, which the program would be charged with.
CounterUse counter_of(const Scenario& scenario, const ProgramSection& program, const Compute& compute) {
  if (program.rdtsc) return static_cast<CounterUse>(*program.rdtsc);
  const bool metered = std::holds_alternative<MeasuredCompute>(compute) ||
                       (std::holds_alternative<RecordedCompute>(compute) && scenario.time.mode != Mode::repeatable);
  return metered ? CounterUse::host : CounterUse::simulated;
}

ProgramSpec program_spec(const Scenario& scenario, const std::string& robot, const std::string& name,
                         const ProgramSection& program) {
  ProgramSpec spec;
  spec.name = name;
  spec.run = found_command(program.run, scenario.folder);
  for (const auto& [key, value] : program.with) spec.environment.emplace_back("ISOCHRON_WITH_" + key, value);
  spec.environment.emplace_back("ISOCHRON_SEED", std::to_string(scenario.seed));
  if (program.ros2) add_ros2(scenario, spec);
  spec.every = program.every.value_or(SimSpan::zero());
  spec.best_effort = program.best_effort;
  spec.offset = program.offset;
  spec.deadline = program.deadline.value_or(SimSpan::zero());
  spec.priority = program.priority;
  spec.core = program.core;
  spec.to = program.to;
  spec.virtual_clock = program.clock == ClockKind::virtual_;
  // A node of ROS 2 talks to the bridge, which is outside of the simulated system.
  const bool outside = program.ros2 && !program.key_places.contains("system");
  spec.stack =
      spec.virtual_clock && !outside && program.system == SystemKind::simulated && scenario.time.mode != Mode::realtime;
  spec.seed = scenario.seed;
  spec.compute = compute_of(scenario, program, robot + "/" + name, true);
  spec.counter = counter_of(scenario, program, spec.compute);
  spec.cpu_speed = program.cpu_speed.value_or(scenario.time.cpu_speed);
  spec.blocking =
      program.blocking == isochron::Blocking::wall ? programs::Blocking::charge_wall : programs::Blocking::free;
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

void tie_to_faults(RobotSpec& robot, InjectedFaults& faults) {
  for (ProgramSpec& program : robot.programs) program.slowness = faults.slowness(robot.name + "/" + program.name);
}

void check_repeatable(const Scenario& scenario) {
  if (scenario.time.mode != Mode::repeatable) return;
  std::vector<Mistake> mistakes;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      const ComputeSection& compute = program.compute ? *program.compute : scenario.time.compute;
      if (compute.contract == Contract::hardware) {
        mistakes.push_back({program.place, "program `" + name + "` runs on a board, and no board runs the same twice",
                            "use mode hil or consistent"});
      }
      if (compute.contract != Contract::measured) continue;
      mistakes.push_back(
          {program.place, "program `" + name + "` is measured, and a measured run is not the same twice",
           "record it with mode: consistent, then use compute: {recorded: RUN.mcap}, or compute: {modelled: …}"});
    }
  }
  for (const auto& [name, node] : scenario.nodes) {
    if (!node.compute || node.compute->contract != Contract::measured) continue;
    mistakes.push_back({node.compute->place,
                        "node `" + name + "` is measured, and a measured run is not the same twice",
                        "record it with mode: consistent, then use compute: {recorded: RUN.mcap}, or compute: "
                        "{modelled: …}"});
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

namespace {

std::vector<OutsideSpec> outside_specs(const Scenario& scenario) {
  std::vector<OutsideSpec> specs;
  const bool allowed = scenario.time.mode != Mode::repeatable;
  for (const std::string& text : scenario.outside) {
    const auto addresses = link::resolve(text);
    if (!addresses) throw InputError(scenario.place_of("outside"), "outside: " + addresses.error().what);
    for (const Address& address : *addresses) {
      if (!std::equal(address.ip.begin(), address.ip.begin() + 12, Address::loopback(0).ip.begin())) continue;  // IPv6
      std::uint32_t ip = 0;
      for (std::size_t i = 12; i < 16; ++i) ip = ip << 8 | address.ip[i];
      specs.push_back({text, ip, address.port, allowed});
    }
    if (specs.empty() || specs.back().name != text) {
      throw InputError(scenario.place_of("outside"), "outside: `" + text + "` has no IPv4 address",
                       "the simulated network has IPv4 addresses only");
    }
  }
  return specs;
}

}  // namespace

CoordinatorOptions coordinator_options(const Scenario& scenario, SimSpan step, bool show_output) {
  CoordinatorOptions options;
  options.step = step;
  options.show_output = show_output;
  options.quantum = scenario.time.quantum;
  options.hang_after = scenario.time.hang;
  options.stall_after = scenario.time.stall;
  options.epoch = scenario.time.epoch.epoch;
  options.networks = network_specs(scenario);
  options.outside = outside_specs(scenario);
  options.seed = scenario.seed;
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
SimSpan drift_of_free_computing(const RunOutcome& outcome, RunReport& report) {
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

void take_programs(const RunOutcome& outcome, RunReport& report) {
  std::erase_if(report.programs, [&](const ProgramReport& known) {
    return std::any_of(outcome.programs.begin(), outcome.programs.end(),
                       [&](const ProgramOutcome& program) { return program.name == known.name; });
  });
  fill_programs(outcome, report);
}

void fill_programs(const RunOutcome& outcome, RunReport& report) {
  if (!outcome.control.empty()) report.control = outcome.control;
  if (outcome.lanes > 1) {
    report.notes.push_back("on " + std::to_string(outcome.lanes) + " cores at once programs executed " +
                           format_ns_short(outcome.executed.ns()) + " in " +
                           format_ns_short(outcome.accounting.executed.ns()) + " of wall time");
  }
  if (outcome.latest_preemption) {
    report.late_preemption = to_string(*outcome.latest_preemption);
    report.late_beyond = outcome.latest_preemption->beyond;
    report.notes.push_back(to_string(*outcome.latest_preemption) + ", and the program executed " +
                           format_ns_short(outcome.latest_preemption->beyond.ns()) + " beyond its turn");
  }
  for (const ProgramOutcome& program : outcome.programs) {
    report.programs.push_back(report_of(program, outcome.reached));
    for (const std::string& fault : program.faults) report.notes.push_back(fault);
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

void fill(const RunOutcome& outcome, RunReport& report) {
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
  check_boards(scenario);
  const Scenario here = without_targets(scenario);
  check_executables(here);
  Stage stage(scenario);
  WorldPlant plant(stage, scenario);
  (void)robot_specs(here, libraries_of(here, stage, plant));
  (void)network_specs(scenario);
  if (has_autopilots(scenario)) AutopilotHost(scenario, stage, plant, {}, false);
  if (has_wires(scenario)) RobotWires(scenario, stage, plant);
  check_v2x(scenario);
  std::optional<RobotRadios> radios;
  if (has_robot_radios(scenario)) radios.emplace(scenario, stage);
  (void)ros_posts(scenario, stage, plant, radios ? radios->names() : std::vector<std::string>());
}

namespace {

/// Simulated time ends with a whole step, and boards that are not held see real time pass.
CoordinatorOptions beside_boards(CoordinatorOptions how, const Scenario& scenario, BoardHost& host) {
  how.boards = &host.boards();
  const auto free = [](const TargetSpec& target) { return target.runs == programs::Runs::free; };
  const auto targets = target_specs(scenario);
  const bool by_the_wall = !scenario.hil.sync || std::any_of(targets.begin(), targets.end(), free);
  if (by_the_wall && !how.pace) how.pace = PaceRate(1, 1);
  return how;
}

}  // namespace

RunReport run_coordinator(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                          RunWatch& watch) {
  check_repeatable(scenario);
  check_boards(scenario);
  const Scenario here = without_targets(scenario);
  check_executables(here);
  check_v2x(scenario);
  Stage stage(scenario);
  WorldPlant plant(stage, scenario);
  CoordinatorOptions how = coordinator_options(scenario, stage.step(), options.show_output);
  how.trouble = &stage.faults();
  how.stopping = [&watch] { return watch.stopping(); };
  std::vector<RobotSpec> robots = robot_specs(here, libraries_of(here, stage, plant));
  for (RobotSpec& robot : robots) tie_to_faults(robot, stage.faults());
  auto [names, speeds] = programs::numbered(robots);
  std::optional<AutopilotHost> autopilots;
  if (has_autopilots(scenario)) autopilots.emplace(scenario, stage, plant, how.stopping);
  std::optional<RobotWires> wires;
  if (has_wires(scenario)) wires.emplace(scenario, stage, plant);
  std::optional<RobotRadios> radios;
  if (has_robot_radios(scenario)) radios.emplace(scenario, stage);
  const std::vector<std::unique_ptr<RosPost>> ros =
      ros_posts(scenario, stage, plant, radios ? radios->names() : std::vector<std::string>());
  if (radios) {
    radios->tell_frames([&](const std::string& name, SimTime arrives, std::span<const std::uint8_t> octets) {
      for (const auto& post : ros) post->frame(name, arrives, octets);
      if (wires) wires->frame(name.substr(0, name.find('/')), arrives, octets);
    });
    if (wires)
      wires->set_radio([&](const auto& robot, SimTime at, auto octets) { return radios->say(robot, at, octets); });
  }
  RunRecord record(scenario, options, clock, disk, {});
  stage.begin(record, watch);
  std::optional<BoardHost> host;
  for (const TargetSpec& target : target_specs(scenario)) {
    if (!host) host.emplace(scenario, &record, &record.producer(), how.trouble);
    names.push_back(target.name);
    speeds.emplace_back();
  }
  if (radios) {
    radios->record(record);
    how.correspondents.push_back(&*radios);
  }
  if (autopilots) how.correspondents.push_back(&*autopilots);
  if (wires) how.correspondents.push_back(&*wires);
  for (const auto& post : ros) {
    post->record(record.journal(), record.producer());
    how.correspondents.push_back(post.get());
  }
  for (const programs::Correspondent* one : how.correspondents) {
    names.insert(names.end(), one->names().begin(), one->names().end());  // which have no speed
  }
  ProgramRecorder recorder(record, names, speeds, plant.variables(), outputs_of(here));
  RunReport report = isochron::report_of(scenario);
  report.promised = std::max(scenario.time.quantum, stage.step());
  StallRecord stalls(record, watch, report.notes);
  how.on_stall = [&](const auto& all) { stalls.tell(wait_records(all, scenario.time.stall)); };
  SimTime until = SimTime::zero() + scenario.duration;
  for (const auto& post : ros) post->open(watch, clock);
  if (autopilots) {
    autopilots->set_on_stall(how.on_stall);
    autopilots->begin();
  }
  if (host) {
    host->begin(options.on_listening);
    how = beside_boards(std::move(how), scenario, *host);
    until = SimTime::zero() + (scenario.duration - scenario.duration % stage.step());
  }
  Coordinator coordinator(plant, std::move(robots), std::move(how), &recorder);
  const RunOutcome outcome = coordinator.run(until, {}, [&](SimTime now, SimSpan drift) {
    watch.at(now);
    watch.drift(drift);
  });

  fill(outcome, report);
  if (host) host->finish(report);
  if (autopilots) autopilots->finish(report);
  if (wires) wires->finish(report);
  if (radios) radios->finish(report);
  if (!outcome.completed) {
    report.end = watch.stopping() ? RunReport::End::interrupted : RunReport::End::failed;
    report.why = outcome.why_ended;
  }
  const bool free = scenario.time.mode == Mode::callback;
  const SimSpan drift_max = free ? drift_of_free_computing(outcome, report) : outcome.drift_max;
  record.set_drift(drift_max, std::min(outcome.drift_p99, drift_max), std::min(outcome.drift_p999, drift_max),
                   outcome.drift_exact, outcome.drift_series);
  report.wall = outcome.accounting.wall;
  record.finish(report);
  return report;
}

}  // namespace isochron
