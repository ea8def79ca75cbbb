#include "run/board_host.hpp"

#include <algorithm>
#include <cmath>

#include "core/time_text.hpp"
#include "link/resolve.hpp"
#include "scenario/find_file.hpp"

namespace isochron {

using namespace std::chrono_literals;

namespace {

constexpr WallSpan look = 20ms;
constexpr WallSpan time_to_end = 500ms;  // at least, for who hears of the end to end

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

std::vector<link::SerialAddress> serial_lines(const Scenario& scenario) {
  std::vector<link::SerialAddress> lines;
  for (const std::string& text : scenario.hil.serial) {
    auto line = link::parse_serial(text);
    if (!line.ok()) {
      throw InputError(scenario.hil.place_of("serial"), line.error(),
                       "write the device and its speed: /dev/ttyACM0:921600");
    }
    lines.push_back(std::move(*line));
  }
  return lines;
}

programs::BoardOptions board_options(const Scenario& scenario, const Address& at) {
  programs::BoardOptions options;
  options.held = scenario.hil.sync;
  options.link_cost = scenario.hil.link;
  options.wrong_clock = scenario.hil.wrong_clock;
  options.clock_tolerance = scenario.hil.clock_tolerance.value();
  options.key = key_of(scenario, at);
  options.limits.handshake = scenario.hil.patience;
  options.limits.requests_per_s = scenario.hil.requests_per_s;
  options.wait_for_targets = scenario.hil.wait_for_targets;
  options.wait_for_return = scenario.hil.wait_for_return;
  options.end_with_targets = scenario.hil.end_with_targets;
  return options;
}

programs::LocalTargetSpec local_spec(const Scenario& scenario, const std::string& name, const ProgramSection& program,
                                     Address at) {
  programs::LocalTargetSpec spec;
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

HilTargetReport target_report(const programs::TargetOutcome& o) {
  HilTargetReport r;
  r.name = o.name;
  r.held = o.runs == programs::Runs::held;
  r.executed_s = o.executed.seconds();
  r.free_s = o.free_for.seconds();
  r.holds = o.holds;
  r.held_s = o.held.seconds();
  r.held_most_s = o.held_most.seconds();
  r.held_by_world_s = o.held_by_world.seconds();
  r.held_by_targets_s = o.held_by_targets.seconds();
  r.held_by_programs_s = o.held_by_programs.seconds();
  r.held_by_pace_s = o.held_by_pace.seconds();
  r.world_waited_s = o.world_waited.seconds();
  r.losses = o.losses;
  r.links = static_cast<std::uint32_t>(o.links.size());
  for (const programs::LinkOutcome& link : o.links) {
    r.clock_jumps += link.offset.jumps();
    r.clock_faults += link.clock_faults;
    if (std::abs(link.clock_rate - 1) > std::abs(r.clock_rate - 1)) r.clock_rate = link.clock_rate;
    r.late += link.late;
    r.late_s += link.late_by.seconds();
    r.beyond += link.beyond;
    r.beyond_s += link.beyond_by.seconds();
    r.apart_mean_s = std::max(r.apart_mean_s, link.apart.mean_s());
    r.apart_most_s = std::max(r.apart_most_s, link.apart.most_s());
    r.latency_most_s = std::max(r.latency_most_s, link.way.most().seconds());
  }
  if (!o.links.empty()) {
    const programs::LinkOutcome& first = o.links.front();
    r.ping_s = first.ping.mean().seconds();
    r.latency_s = first.way.mean().seconds();
    r.jitter_s = first.way.jitter().seconds();
    r.clock_offset_s = first.offset.first_s();
    r.clock_offset_end_s = first.offset.now_s();
  }
  return r;
}

/// If the world is quick it waits for the targets, if it is slow they wait for it: which, and by how much.
std::string verdict(const programs::BoardsOutcome& outcome, bool synced) {
  if (!synced) return "not synchronised: answers were not held back, so a slow target looks faster than it is";
  std::string text = "the world waited " + format_ns_short(outcome.waited.ns()) + " for targets";
  for (const programs::TargetOutcome& target : outcome.targets) {
    text += "; " + target.name + " waited " + format_ns_short(target.held_by_world.ns()) + " for the world";
    if (target.held_by_targets > WallSpan(1ms)) {
      text += " and " + format_ns_short(target.held_by_targets.ns()) + " for other targets";
    }
    if (target.held_by_programs > WallSpan(1ms)) {
      text += " and " + format_ns_short(target.held_by_programs.ns()) + " for programs here";
    }
    if (target.held_by_pace > WallSpan(1ms)) {
      text += " and " + format_ns_short(target.held_by_pace.ns()) + " for the pace";
    }
  }
  return text;
}

void warn_of_links(const HilTargetReport& target, double tolerance, RunReport& report) {
  const std::uint64_t times = std::max(target.clock_faults, target.clock_jumps);
  if (times > 0) {
    std::string note =
        target.name + ": its clock was wrong at " + std::to_string(times) + " requests; the host's was used instead";
    if (std::abs(target.clock_rate - 1) > tolerance) {
      note += ". It runs at " + std::to_string(target.clock_rate).substr(0, 6) + " of the true rate";
    }
    report.notes.push_back(std::move(note));
  }
  if (target.beyond_s > 0.001) {
    report.notes.push_back(target.name + ": " + std::to_string(target.beyond) +
                           " requests were longer on the way than its pings; " +
                           format_ns_short(static_cast<std::int64_t>(target.beyond_s * 1e9)) + " of that was charged");
  }
  if (!target.held) {
    const auto text = [](double s) { return format_ns_short(static_cast<std::int64_t>(s * 1e9)); };
    report.notes.push_back(target.name + " runs free: its clock and simulated time were " + text(target.apart_mean_s) +
                           " apart in the mean, " + text(target.apart_most_s) + " at most");
  }
  if (target.late_s > 0.001) {
    report.notes.push_back(target.name + ": " + std::to_string(target.late) +
                           " requests were longer on the way than its link usually takes; " +
                           format_ns_short(static_cast<std::int64_t>(target.late_s * 1e9)) + " of that was charged");
  }
}

const char* to_string(programs::Hold::Cause cause) {
  using Cause = programs::Hold::Cause;
  switch (cause) {
    case Cause::world:
      return "world";
    case Cause::target:
      return "target";
    case Cause::programs:
      return "programs";
    case Cause::pace:
      return "pace";
    case Cause::host:
      break;
  }
  return "host";
}

}  // namespace

std::vector<programs::TargetSpec> target_specs(const Scenario& scenario) {
  std::vector<programs::TargetSpec> all;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (!runs_on_target(scenario, program)) continue;
      const ReleaseTerms times{program.every.value_or(SimSpan::zero()), program.offset,
                               program.deadline.value_or(SimSpan::zero()), program.best_effort};
      all.push_back({robot + "/" + name, robot, times, program.to, static_cast<std::uint32_t>(program.target.links),
                     program.target.on_loss, program.target.runs});
    }
  }
  return all;
}

Scenario without_targets(const Scenario& scenario) {
  Scenario here = scenario;
  std::erase_if(here.robots, [&](auto& robot) {
    auto& programs = robot.second.programs;
    const auto boards = std::erase_if(programs, [&](const auto& program) {
      return runs_on_target(scenario, program.second) || flies_from_outside(program.second);
    });
    return boards > 0 && programs.empty();
  });
  return here;
}

void check_boards(const Scenario& scenario) {
  const bool flown = std::any_of(scenario.robots.begin(), scenario.robots.end(), [](const auto& robot) {
    return std::any_of(robot.second.programs.begin(), robot.second.programs.end(),
                       [](const auto& program) { return program.second.link.has_value(); });
  });
  if (target_specs(scenario).empty() && !flown && scenario.time.mode == Mode::hil) {
    throw InputError(scenario.time.place_of("mode"), "no program of this scenario runs on a target",
                     "leave `library`, `clock` and `compute` of one out, or use mode consistent");
  }
  if (target_specs(scenario).empty()) return;
  (void)key_of(scenario, listen_address(scenario));
  (void)serial_lines(scenario);
}

BoardHost::BoardHost(const Scenario& scenario, RunRecord* record, Producer* producer, programs::Trouble* trouble)
    : scenario_(scenario),
      producer_(producer),
      at_(listen_address(scenario)),
      network_(reactor_, to_faults(scenario.faults, scenario.seed), "hil") {
  programs::BoardOptions options = board_options(scenario, at_);
  options.trouble = trouble;
  if (record != nullptr) {
    holds_ = record->journal().channel<HoldRecord>("/hil/holds", {.in_digest = false});
    options.on_hold = [this](const programs::Hold& hold) { this->record(hold); };
  }
  boards_ = std::make_unique<programs::Boards>(network_, target_specs(scenario), std::move(options));
}

BoardHost::~BoardHost() { reactor_.cancel(timer_); }

void BoardHost::begin(const Listening& on_listening) {
  const auto bound = boards_->listen(at_);
  if (!bound.ok()) throw InputError(scenario_.hil.place_of("listen"), bound.error().what, "choose another port");
  for (const link::SerialAddress& line : serial_lines(scenario_)) {
    auto listening = link::listen_serial(reactor_, line, [this, where = line.device](std::unique_ptr<Stream> stream) {
      boards_->accept(std::move(stream), where);
    });
    if (!listening.ok()) {
      throw InputError(scenario_.hil.place_of("serial"), listening.error(),
                       "is the board plugged in, and may you use it?");
    }
    lines_.push_back(std::move(*listening));
  }
  std::vector<std::string> names;
  for (const programs::TargetSpec& target : boards_->targets()) names.push_back(target.name);
  if (on_listening) on_listening(to_string(*bound), names);
  if (!scenario_.hil.start) return;
  for (const auto& [robot, section] : scenario_.robots) {
    for (const auto& [name, program] : section.programs) {
      if (program.run.empty() || !runs_on_target(scenario_, program)) continue;
      auto started = programs::LocalTarget::start(local_spec(scenario_, robot + "/" + name, program, *bound));
      if (!started.ok()) return boards_->stop(started.error());
      local_.push_back(std::move(*started));
    }
  }
  look_for_the_missing();
}

/// One that ended before it came will not come.
void BoardHost::look_for_the_missing() {
  if (const auto how = missing(boards_->awaited())) boards_->stop(*how);
  if (boards_->complete()) return;
  timer_ = reactor_.call_at(reactor_.now() + look, [this] { look_for_the_missing(); });
}

std::optional<std::string> BoardHost::missing(const std::vector<std::string>& awaited) {
  for (programs::LocalTarget& target : local_) {
    const auto how = target.ended();
    if (how && std::find(awaited.begin(), awaited.end(), target.name()) != awaited.end()) {
      return target.name() + " " + *how + " before it attached";
    }
  }
  return std::nullopt;
}

bool BoardHost::all_ended() {
  return std::all_of(local_.begin(), local_.end(), [](programs::LocalTarget& t) { return t.ended().has_value(); });
}

void BoardHost::record(const programs::Hold& hold) {
  hold_.target = boards_->targets()[hold.target].name;
  hold_.link = hold.link;
  hold_.cause = to_string(hold.cause);
  hold_.by = hold.by == programs::Hold::nobody ? "" : boards_->targets()[hold.by].name;
  hold_.asked = hold.asked;
  hold_.answered = hold.answered;
  hold_.held_s = hold.held.seconds();
  producer_->write(holds_, hold.answered, hold_);
}

/// Who still computes is told before it asks: over TCP that waits for it, whether we are still here or not. Who was
/// started here ends with us, and a serial line keeps nothing, so they are given time.
void BoardHost::hear_of_the_end(RunReport& report) {
  for (const std::string& name : boards_->computing()) {
    report.notes.push_back(name + " still computed when the run ended; it is told when it asks next");
  }
  const WallTime end = reactor_.now() + std::max(scenario_.hil.wait_for_end, time_to_end);
  while ((!all_ended() || !boards_->told()) && reactor_.now() < end) {
    reactor_.poll(std::min(end, reactor_.now() + look));
  }
  for (programs::LocalTarget& target : local_) {
    if (target.ended()) continue;
    report.notes.push_back(target.name() + " had not ended " + format_ns_short(scenario_.hil.wait_for_end.ns()) +
                           " after the run and was killed; `hil: {wait_for_end: …}` gives it longer");
  }
}

void BoardHost::finish(RunReport& report) {
  hear_of_the_end(report);
  const programs::BoardsOutcome outcome = boards_->outcome();
  if (!report.hil) report.hil.emplace();  // those of other clients may be there
  HilReport& hil = *report.hil;
  hil.synced = scenario_.hil.sync;
  hil.link_cost = Words<programs::LinkCost>::list[static_cast<std::size_t>(scenario_.hil.link)];
  hil.requests += outcome.requests;
  hil.refused += outcome.refused;
  const std::string found = verdict(outcome, hil.synced);
  hil.verdict += (hil.verdict.empty() ? "" : "; ") + found;
  for (const programs::TargetOutcome& target : outcome.targets) {
    hil.targets.push_back(target_report(target));
    warn_of_links(hil.targets.back(), scenario_.hil.clock_tolerance.value(), report);
  }
  for (const std::string& refusal : outcome.refusals) report.notes.push_back("refused " + refusal);
  report.notes.push_back(found);
  for (programs::LocalTarget& target : local_) {
    const auto how = target.ended();
    if (how && target.failed()) report.notes.push_back(target.name() + " " + *how);
  }
}

}  // namespace isochron
