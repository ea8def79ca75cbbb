// Mode hil: the world here, the programs on targets. The host listens, keeps executed and simulated time together, and
// starts those targets itself that the scenario gives a `run`. Programs with another compute contract than `hardware`,
// unmodified ones and libraries run here beside them, in the same world (scenario/companions.hpp).

#include <algorithm>
#include <list>

#include "core/time_text.hpp"
#include "hil/local_target.hpp"
#include "hil/server.hpp"
#include "link/faults.hpp"
#include "link/reactor.hpp"
#include "link/resolve.hpp"
#include "scenario/companions.hpp"
#include "scenario/coordinator_specs.hpp"
#include "scenario/find_file.hpp"
#include "scenario/hil_record.hpp"
#include "scenario/library_program.hpp"
#include "scenario/runners.hpp"
#include "scenario/world_plant.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

/// The scenario without its targets: what runs here.
Scenario companions_of(const Scenario& scenario) {
  Scenario here = scenario;
  for (auto& [robot, section] : here.robots) {
    std::erase_if(section.programs, [](const auto& program) { return runs_on_target(program.second); });
  }
  std::erase_if(here.robots, [](const auto& robot) { return robot.second.programs.empty(); });
  return here;
}

std::vector<hil::TargetSpec> target_specs(const Scenario& scenario) {
  std::vector<hil::TargetSpec> all;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (!runs_on_target(program)) continue;
      const ReleaseTerms times{program.every.value_or(SimSpan::zero()), program.offset,
                               program.deadline.value_or(SimSpan::zero()), program.best_effort};
      all.push_back({robot + "/" + name, robot, times, program.to, static_cast<std::uint32_t>(program.target.links),
                     program.target.on_loss});
    }
  }
  if (all.empty()) {
    throw InputError(scenario.time.place_of("mode"), "no program of this scenario runs on a target",
                     "leave `library`, `clock` and `compute` of one out, or use mode consistent");
  }
  return all;
}

Address listen_address(const Scenario& scenario) {
  if (scenario.hil.listen.empty()) return Address::loopback(0);
  const auto found = link::resolve(scenario.hil.listen);
  if (!found.ok()) throw InputError(scenario.hil.place_of("listen"), found.error().what, "as in 127.0.0.1:7410");
  return found->front();
}

std::optional<link::Key> key_of(const Scenario& scenario, const Address& at) {
  std::optional<link::Key> key = scenario.hil.key.empty() ? link::Key::from_environment("ISOCHRON_KEY")
                                                          : link::Key::from_file(scenario.hil.key.path);
  if (!key && !at.is_loopback()) {
    throw InputError(scenario.hil.place_of("listen"), "others than this machine can connect to " + to_string(at),
                     "give a key that targets must hold: `hil: {key: FILE}`, --key FILE, or ISOCHRON_KEY");
  }
  return key;
}

hil::ServerOptions server_options(const Scenario& scenario, SimSpan step, const Address& at) {
  hil::ServerOptions options;
  options.sync.step = step;
  options.sync.until = SimTime::zero() + (scenario.duration - scenario.duration % step);
  options.sync.held = scenario.hil.sync;
  options.sync.link_cost = scenario.hil.link;
  const Pace& pace = scenario.time.pace;
  if (pace.factor) options.sync.pace = PaceRate(pace.factor->denominator, pace.factor->numerator);
  // Without holding nothing else keeps the world from running ahead of real time.
  if (!scenario.hil.sync && !pace.factor) options.sync.pace = PaceRate(1, 1);
  options.key = key_of(scenario, at);
  options.limits.handshake = scenario.hil.patience;
  options.limits.requests_per_s = scenario.hil.requests_per_s;
  options.wait_for_targets = scenario.hil.wait_for_targets;
  options.wait_for_return = scenario.hil.wait_for_return;
  options.end_with_targets = scenario.hil.end_with_targets;
  return options;
}

hil::LocalTargetSpec local_spec(const Scenario& scenario, const std::string& name, const ProgramSection& program,
                                Address at) {
  hil::LocalTargetSpec spec;
  spec.name = name;
  spec.run = found_command(program.run, scenario.folder);
  if (at.is_any()) at = Address::loopback(at.port);
  spec.environment.emplace_back("ISOCHRON", "tcp://" + to_string(at) + "/" + name);
  for (const auto& [key, value] : program.with) spec.environment.emplace_back("ISOCHRON_WITH_" + key, value);
  spec.environment.emplace_back("ISOCHRON_SEED", std::to_string(scenario.seed));
  if (!scenario.hil.key.empty()) spec.environment.emplace_back("ISOCHRON_KEY_FILE", scenario.hil.key.path);
  if (program.target.cpu_quota) spec.cpu_quota = program.target.cpu_quota->value();
  return spec;
}

/// The targets that run on this machine.
class LocalTargets {
 public:
  /// Fails: what could not be started.
  Result<Done, std::string> start(const Scenario& scenario, const Address& at) {
    if (!scenario.hil.start) return done();
    for (const auto& [robot, section] : scenario.robots) {
      for (const auto& [name, program] : section.programs) {
        if (program.run.empty() || !runs_on_target(program)) continue;
        auto started = hil::LocalTarget::start(local_spec(scenario, robot + "/" + name, program, at));
        if (!started.ok()) return fail(started.error());
        all_.push_back(std::move(*started));
      }
    }
    return done();
  }
  /// A target that ended and never came, with how it ended.
  std::optional<std::string> missing(const std::vector<std::string>& awaited) {
    for (hil::LocalTarget& target : all_) {
      const auto how = target.ended();
      if (how && std::find(awaited.begin(), awaited.end(), target.name()) != awaited.end()) {
        return target.name() + " " + *how + " before it attached";
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] bool all_ended() {
    return std::all_of(all_.begin(), all_.end(), [](hil::LocalTarget& t) { return t.ended().has_value(); });
  }
  [[nodiscard]] std::vector<std::string> failures() {
    std::vector<std::string> sentences;
    for (hil::LocalTarget& target : all_) {
      const auto how = target.ended();
      if (how && target.failed()) sentences.push_back(target.name() + " " + *how);
    }
    return sentences;
  }

 private:
  std::list<hil::LocalTarget> all_;
};

/// Calls a function every so often while the reactor runs.
class Ticker {
 public:
  Ticker(Reactor& reactor, WallSpan period, std::function<void()> what)
      : reactor_(reactor), period_(period), what_(std::move(what)) {
    again();
  }
  ~Ticker() { reactor_.cancel(timer_); }

 private:
  void again() {
    timer_ = reactor_.call_at(reactor_.now() + period_, [this] {
      again();
      what_();
    });
  }
  Reactor& reactor_;
  WallSpan period_;
  std::function<void()> what_;
  Reactor::TimerId timer_ = 0;
};

/// The programs that run on this machine under the coordinator, beside the targets.
class ProgramsHere {
 public:
  ProgramsHere(const Scenario& scenario, const RunOptions& options, Stage& stage, WorldPlant& plant, RunRecord& record,
               const RunWatch& watch, SimTime until)
      : record_(record), alone_(plant) {
    const Scenario here = companions_of(scenario);
    if (here.robots.empty()) return;
    check_executables(here);
    std::vector<coordinator::RobotSpec> robots = robot_specs(here, libraries_of(here, stage, plant));
    coordinator::CoordinatorOptions how = coordinator_options(here, stage.step(), options.show_output);
    how.delay = [&stage](const std::string& program) { return stage.faults().take_delay(program); };
    how.stopping = [&watch] { return watch.stopping(); };
    const auto [names, speeds] = coordinator::numbered(robots);
    recorder_.emplace(record, names, speeds, plant.variables(), outputs_of(here));
    companions_.emplace(plant, std::move(robots), std::move(how), *recorder_, until);
    together_.emplace(plant, *companions_);
  }

  [[nodiscard]] Plant& plant() { return together_ ? static_cast<Plant&>(*together_) : alone_; }

  void finish(RunReport& report) {
    if (!companions_) return;
    const coordinator::Outcome& outcome = companions_->finish();
    fill_programs(outcome, report);
    record_.drifted_too(outcome.drift_max, outcome.drift_p99);
    if (!companions_->failure().empty()) report.why = companions_->failure();
  }

 private:
  RunRecord& record_;
  Plant& alone_;
  std::optional<ProgramRecorder> recorder_;
  std::optional<Companions> companions_;
  std::optional<AccompaniedPlant> together_;
};

HilTargetReport target_report(const hil::TargetOutcome& o) {
  HilTargetReport r;
  r.name = o.name;
  r.executed_s = o.executed.seconds();
  r.free_s = o.free_for.seconds();
  r.holds = o.holds;
  r.held_s = o.held.seconds();
  r.held_most_s = o.held_most.seconds();
  r.held_by_world_s = o.held_by_world.seconds();
  r.held_by_targets_s = o.held_by_targets.seconds();
  r.held_by_pace_s = o.held_by_pace.seconds();
  r.world_waited_s = o.world_waited.seconds();
  r.losses = o.losses;
  r.links = static_cast<std::uint32_t>(o.links.size());
  for (const hil::LinkOutcome& link : o.links) {
    r.clock_jumps += link.offset.jumps();
    r.clock_faults += link.clock_faults;
    r.late += link.late;
    r.late_s += link.late_by.seconds();
    r.latency_most_s = std::max(r.latency_most_s, link.way.most().seconds());
  }
  if (!o.links.empty()) {
    const hil::LinkOutcome& first = o.links.front();
    r.ping_s = first.ping.mean().seconds();
    r.latency_s = first.way.mean().seconds();
    r.jitter_s = first.way.jitter().seconds();
    r.clock_offset_s = first.offset.first_s();
    r.clock_offset_end_s = first.offset.now_s();
  }
  return r;
}

/// If the world is quick it waits for the targets, if it is slow they wait for it: which, and by how much.
std::string verdict(const hil::Outcome& outcome, bool synced) {
  if (!synced) return "not synchronised: answers were not held back, so a slow target looks faster than it is";
  std::string text = "the world waited " + format_ns_short(outcome.waited.ns()) + " for targets";
  for (const hil::TargetOutcome& target : outcome.targets) {
    text += "; " + target.name + " waited " + format_ns_short(target.held_by_world.ns()) + " for the world";
    if (target.held_by_targets > WallSpan(1ms)) {
      text += " and " + format_ns_short(target.held_by_targets.ns()) + " for other targets";
    }
  }
  return text;
}

void fill_program(const hil::TargetOutcome& o, SimTime reached, RunReport& report) {
  ProgramReport program;
  program.name = o.name;
  program.activations = o.figures.activations;
  program.overruns = o.figures.overruns;
  program.missed_deadlines = o.figures.missed;
  program.executed = o.executed;
  program.waited = std::max(SimSpan::zero(), reached.since_zero() - o.executed);
  program.end = o.ended;
  report.programs.push_back(std::move(program));
  for (const std::string& fault : o.figures.faults) report.notes.push_back(o.name + " " + fault);
}

void warn_of_links(const HilTargetReport& target, RunReport& report) {
  if (target.clock_faults > 0 || target.clock_jumps > 0) {
    report.notes.push_back(target.name + ": its clock jumped or ran backwards " +
                           std::to_string(std::max(target.clock_faults, target.clock_jumps)) +
                           " times; the host's was used instead");
  }
  if (target.late_s > 0.001) {
    report.notes.push_back(target.name + ": " + std::to_string(target.late) +
                           " requests were longer on the way than its link usually takes; " +
                           format_ns_short(static_cast<std::int64_t>(target.late_s * 1e9)) + " of that was charged");
  }
}

void fill(const hil::Outcome& outcome, const Scenario& scenario, RunReport& report) {
  report.simulated = outcome.reached.since_zero();
  report.shares.world = outcome.in_world;
  report.shares.programs = outcome.waited;
  report.shares.idle = outcome.paced;
  report.shares.coordination =
      std::max(WallSpan::zero(), report.wall - outcome.in_world - outcome.waited - outcome.paced);
  HilReport hil;
  hil.synced = scenario.hil.sync;
  hil.link_cost = Words<hil::LinkCost>::list[static_cast<std::size_t>(scenario.hil.link)];
  hil.requests = outcome.requests;
  hil.refused = outcome.refused;
  hil.verdict = verdict(outcome, hil.synced);
  for (const hil::TargetOutcome& target : outcome.targets) {
    fill_program(target, outcome.reached, report);
    hil.targets.push_back(target_report(target));
    warn_of_links(hil.targets.back(), report);
  }
  for (const std::string& refusal : outcome.refusals) report.notes.push_back("refused " + refusal);
  report.notes.push_back(hil.verdict);
  report.hil = std::move(hil);
}

}  // namespace

bool runs_on_target(const ProgramSection& program) {
  if (!program.library.empty() || program.clock == ClockKind::virtual_) return false;
  return !program.compute || program.compute->contract == Contract::hardware;
}

void check_hil(const Scenario& scenario) {
  Stage stage(scenario);
  const WorldPlant plant(stage, scenario);
  (void)target_specs(scenario);
  (void)key_of(scenario, listen_address(scenario));
  const Scenario here = companions_of(scenario);
  check_executables(here);
  (void)robot_specs(here, libraries_of(here, stage, plant));
}

RunReport run_hil(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  Stage stage(scenario);
  WorldPlant plant(stage, scenario);
  const std::vector<hil::TargetSpec> targets = target_specs(scenario);
  const Address at = listen_address(scenario);
  hil::ServerOptions server_settings = server_options(scenario, stage.step(), at);
  server_settings.delay = [&stage](const std::string& target) { return stage.faults().take_delay(target); };
  std::vector<std::string> names, participants{"world"};
  for (const hil::TargetSpec& target : targets) names.push_back(target.name);
  participants.insert(participants.end(), names.begin(), names.end());

  link::EpollReactor reactor;
  RunRecord record(scenario, options, clock, disk, participants);
  stage.begin(record, watch);
  HilRecorder recorder(record, watch, names, plant.variables());
  link::FaultyReactor network(reactor, to_faults(scenario.faults, scenario.seed), "hil");
  RunReport report = report_of(scenario);
  StallRecord stalls(record, watch, report.notes);
  server_settings.stall_after = scenario.time.stall;
  server_settings.on_stall = [&](const std::string& target, SimTime world) {
    const double since = scenario.time.stall.seconds();
    stalls.tell({{0, target, "computes, or its link is silent", "", world, "", since},
                 {0, "world", "waits at " + to_string(world), "", world, target, since}});
  };
  ProgramsHere beside(scenario, options, stage, plant, record, watch, server_settings.sync.until);
  hil::Server server(network, beside.plant(), targets, server_settings, recorder);
  const auto bound = server.listen(at);
  if (!bound.ok()) throw InputError(scenario.hil.place_of("listen"), bound.error().what, "choose another port");
  if (options.on_listening) options.on_listening(to_string(*bound), names);

  LocalTargets local;
  WallTime over_at = WallTime::never();
  server.on_over = [&] { over_at = reactor.now(); };
  if (const auto started = local.start(scenario, *bound); !started.ok()) server.stop(started.error());
  const WallTime begun = reactor.now();
  const Ticker ticker(reactor, 20ms, [&] {
    if (watch.stopping()) server.stop("");
    if (!server.started()) {
      if (const auto how = local.missing(server.awaited())) server.stop(*how);
    }
    // Those who still compute hear of the end when they ask next.
    if (server.over() && (local.all_ended() || reactor.now() - over_at > WallSpan(500ms))) reactor.stop();
  });
  reactor.run();

  const hil::Outcome outcome = server.outcome();
  // Waiting for boards to be switched on is no part of the run.
  report.wall = std::min(reactor.now(), over_at) - (outcome.began == WallTime::never() ? begun : outcome.began);
  if (watch.stopping()) {
    report.end = RunReport::End::interrupted;
  } else if (!outcome.completed) {
    report.end = RunReport::End::failed;
    report.why = outcome.why;
  }
  fill(outcome, scenario, report);
  beside.finish(report);
  for (std::string& failure : local.failures()) report.notes.push_back(std::move(failure));
  record.finish(report);
  return report;
}

}  // namespace isochron
