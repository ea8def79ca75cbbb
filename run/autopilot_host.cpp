#include "run/autopilot_host.hpp"

#include <algorithm>
#include <fstream>
#include <map>

#include "core/time_text.hpp"
#include "scenario/find_file.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

template <class F>
void for_each_link(const Scenario& scenario, F&& f) {
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (program.link) f(robot, name, program);
    }
  }
}

SimSpan usual_period(const LinkSection& link) {
  return link.ardupilot ? SimSpan(2500us) : link.px4 ? SimSpan(4ms) : SimSpan(1ms);
}

SimSpan period_of(const LinkSection& link, SimSpan step) {
  if (link.every && *link.every % step != SimSpan::zero()) {
    throw InputError(link.place_of("every"), "`every` must be a multiple of the world's step of " + to_string(step),
                     "");
  }
  return link.every ? *link.every : step * ((usual_period(link).ns() + step.ns() - 1) / step.ns());
}

autopilot::Px4Setup px4_setup(const Px4Section& section) {
  autopilot::Px4Setup setup{section.truth, {}};
  if (section.key.empty()) return setup;
  std::ifstream file(section.key.path, std::ios::binary);
  std::array<char, 33> bytes{};
  file.read(bytes.data(), bytes.size());
  if (file.gcount() != 32) {
    throw InputError(section.place_of("key"), "`key` names a file that has not exactly 32 bytes",
                     "make one with: head -c 32 /dev/urandom > key");
  }
  setup.key.emplace();
  std::transform(bytes.begin(), bytes.begin() + 32, setup.key->begin(), [](char c) { return std::byte(c); });
  return setup;
}

std::unique_ptr<autopilot::Dialect> dialect_of(const LinkSection& link) {
  if (link.ardupilot) return make_dialect(autopilot::ArdupilotSetup{link.ardupilot->no_time_sync});
  if (link.px4) return make_dialect(px4_setup(*link.px4));
  autopilot::BetaflightSetup setup;
  if (!link.betaflight->sticks.empty()) {
    setup.sticks.emplace();
    std::copy(link.betaflight->sticks.begin(), link.betaflight->sticks.end(), setup.sticks->channels.begin());
  }
  return make_dialect(setup);
}

const Section& protocol_section(const LinkSection& link) {
  if (link.ardupilot) return *link.ardupilot;
  if (link.px4) return *link.px4;
  return *link.betaflight;
}

std::optional<std::uint32_t> writable(const WorldPlant& plant, const std::string& robot, const std::string& name) {
  const auto& all = plant.variables();
  for (const std::string& full : {robot + "/" + name, name}) {
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].name == full && all[i].writable) return i;
    }
  }
  return std::nullopt;
}

std::vector<std::string> writable_names(const WorldPlant& plant) {
  std::vector<std::string> names;
  for (const auto& variable : plant.variables()) {
    if (variable.writable && variable.type.starts_with("float64")) names.push_back(variable.name);
  }
  return names;
}

AutopilotMotors motors_of(const LinkSection& link, const std::string& robot, Stage& stage, const WorldPlant& plant) {
  AutopilotMotors motors;
  const std::vector<std::string> names = link.motors.empty() ? std::vector<std::string>{"motors"} : link.motors;
  if (names.size() > autopilot::channels_most) throw InputError(link.place_of("motors"), "`motors` are 32 at most", "");
  for (const std::string& name : names) {
    const auto found = writable(plant, robot, name);
    if (!found) {
      const std::string what = link.motors.empty() ? "robot `" + robot + "` has no `motors`"
                                                   : "`motors` names `" + name + "`, which is no actuator";
      std::string known;
      for (const std::string& one : writable_names(plant)) known += (known.empty() ? "" : ", ") + one;
      throw InputError(link.place_of("motors"), what, "name those of channel 1, 2, …, of: " + known);
    }
    const auto& variable = plant.variables()[*found];
    if (variable.type != "float64") {
      if (names.size() > 1 || !variable.type.starts_with("float64[")) {
        throw InputError(
            link.place_of("motors"),
            "`motors` are several actuators, or one variable of several numbers; `" + name + "` is " + variable.type,
            "");
      }
      motors.together = *found;
      motors.count = std::min(variable.size / sizeof(double), autopilot::channels_most);
      return motors;
    }
    AutopilotMotors::One one{*found, 0, 1};
    const auto& actuators = stage.world().actuators();
    for (std::uint32_t i = 0; i < actuators.size(); ++i) {
      if (plant.variable_of_actuator(i) != *found || actuators[i].low == actuators[i].high) continue;
      one.low = actuators[i].low;
      one.high = actuators[i].high;
    }
    motors.each.push_back(one);
  }
  motors.count = motors.each.size();
  return motors;
}

programs::LocalTargetSpec local_spec(const Scenario& scenario, const std::string& name, const ProgramSection& program) {
  programs::LocalTargetSpec spec;
  spec.name = name;
  spec.run = found_command(program.run, scenario.folder);
  for (const auto& [key, value] : program.with) spec.environment.emplace_back("ISOCHRON_WITH_" + key, value);
  if (program.target.cpu_quota) spec.cpu_quota = program.target.cpu_quota->value();
  return spec;
}

}  // namespace

bool has_autopilots(const Scenario& scenario) {
  bool any = false;
  for_each_link(scenario, [&](const auto&, const auto&, const auto&) { any = true; });
  return any;
}

// Those outside share this machine's ports; those inside have a host for each robot.
std::vector<std::uint16_t> autopilot_ports(const Scenario& scenario) {
  std::map<std::pair<std::string, int>, std::uint32_t> counts;
  std::vector<std::uint16_t> ports;
  for_each_link(scenario, [&](const std::string& robot, const std::string&, const ProgramSection& program) {
    const LinkSection& link = *program.link;
    const int kind = link.ardupilot ? 0 : link.px4 ? 1 : 2;
    const auto given = link.ardupilot ? link.ardupilot->port : link.px4 ? link.px4->port : link.betaflight->port;
    const std::uint32_t nth = counts[{flies_from_outside(program) ? "" : robot, kind}]++;
    const std::uint32_t counted = kind == 1 ? 4560 + nth : 9002 + 10 * nth;
    ports.push_back(static_cast<std::uint16_t>(given.value_or(counted)));
  });
  return ports;
}

AutopilotHost::AutopilotHost(const Scenario& scenario, Stage& stage, WorldPlant& plant, std::function<bool()> stopping,
                             bool open)
    : scenario_(scenario), stopping_(std::move(stopping)) {
  const std::vector<std::uint16_t> ports = autopilot_ports(scenario);
  std::size_t at = 0;
  for_each_link(scenario, [&](const std::string& robot, const std::string& name, const ProgramSection& program) {
    add(robot, name, program, ports[at++], stage, plant, open);
  });
}

void AutopilotHost::add(const std::string& robot, const std::string& name, const ProgramSection& program,
                        std::uint16_t port, Stage& stage, WorldPlant& plant, bool open) {
  const LinkSection& link = *program.link;
  AutopilotSetup setup;
  setup.name = robot + "/" + name;
  setup.robot = robot;
  setup.outside = flies_from_outside(program);
  setup.port = port;
  setup.every = period_of(link, stage.step());
  setup.on_loss = program.target.on_loss;
  setup.wait_for_first = scenario_.hil.wait_for_targets;
  setup.silent_after = scenario_.hil.patience;
  setup.wait_for_return = scenario_.hil.wait_for_return;
  setup.stall_after = scenario_.time.stall;
  setup.motors = motors_of(link, robot, stage, plant);
  setup.stopping = stopping_;
  setup.on_stall = [this, who = setup.name](const std::string& what, SimTime at) {
    if (on_stall_) on_stall_({{who, what, "", at}, {"world", "waits at " + to_string(at), who, at}});
  };
  setup.process_ended = [this, who = setup.name]() -> std::optional<std::pair<std::string, bool>> {
    for (programs::LocalTarget& one : local_) {
      if (one.name() != who) continue;
      if (auto how = one.ended()) return std::pair(*how, one.failed());
    }
    return std::nullopt;
  };
  AutopilotSenses senses(scenario_, robot, link, stage, plant);
  auto dialect = dialect_of(link);
  const std::string& ideal = senses.ideal();
  ideal_.push_back(ideal.empty() ? ""
                                 : setup.name + ": its robot has no " + ideal + "; they are told as they truly are");
  names_.push_back(setup.name + ".link");
  waits_ = waits_ || setup.outside;
  std::unique_ptr<AutopilotWire> wire;
  if (setup.outside && open) {
    auto opened = open_socket_wire(dialect->streams(), port);
    if (!opened.ok()) {
      throw InputError(protocol_section(link).place_of("port"), opened.error(),
                       "choose another port, or end who has it");
    }
    wire = std::move(*opened);
  }
  links_.push_back(std::make_unique<AutopilotLink>(static_cast<std::uint32_t>(links_.size()), std::move(setup),
                                                   std::move(dialect), std::move(senses), std::move(wire)));
}

void AutopilotHost::enter(programs::System* system) {
  for (const auto& link : links_) link->enter(system);
}

void AutopilotHost::leave() {
  for (const auto& link : links_) link->leave();
}

void AutopilotHost::exchange(programs::Post& post, SimTime now, SimTime) {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    while (const auto letter = post.take(i, now)) {
      post.complain(*letter, "sent a message to " + names_[i] + ", which takes none");
    }
    links_[i]->begin_frame(post, now);
  }
  for (const auto& link : links_) link->end_frame(post, now);
}

/// With the first failure, or when all of them have ended well.
std::optional<std::string> AutopilotHost::over() const {
  for (const auto& link : links_) {
    if (link->failure()) return link->failure();
  }
  const bool done = std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->gone(); });
  return done && scenario_.hil.end_with_targets ? std::optional<std::string>("") : std::nullopt;
}

void AutopilotHost::begin() {
  for_each_link(scenario_, [&](const std::string& robot, const std::string& name, const ProgramSection& program) {
    if (program.run.empty() || !flies_from_outside(program)) return;
    auto started = programs::LocalTarget::start(local_spec(scenario_, robot + "/" + name, program));
    if (!started.ok()) throw InputError(program.place_of("run"), started.error(), "");
    local_.push_back(std::move(*started));
  });
}

void AutopilotHost::finish(RunReport& report) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const AutopilotReport one = links_[i]->report();
    report.autopilots.push_back(one);
    if (!ideal_[i].empty()) report.notes.push_back(ideal_[i]);
    for (const std::string& note : links_[i]->notes()) report.notes.push_back(note);
    const auto found = std::find_if(report.programs.begin(), report.programs.end(),
                                    [&](const ProgramReport& program) { return program.name == one.name; });
    ProgramReport& program = found == report.programs.end() ? report.programs.emplace_back() : *found;
    program.name = one.name;
    program.activations += one.frames;
    program.overruns += one.overruns;
    program.missed_deadlines += one.missed;
    if (one.time == "lock-step" && one.answers > 0) {
      report.notes.push_back("the world waited " + format_ns_short(static_cast<std::int64_t>(one.waited_s * 1e9)) +
                             " for " + one.name + " in " + std::to_string(one.frames) + " frames of lock-step");
    }
    if (one.overruns > 0) {
      report.notes.push_back(one.name + " had " + std::to_string(one.overruns) + " overruns of its loop in " +
                             std::to_string(one.frames) + " frames: controls came after the next frame was due");
    }
  }
}

}  // namespace isochron
