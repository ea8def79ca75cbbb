#include "scenario/scenario.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "scenario/find_file.hpp"
#include "scenario/timed_faults.hpp"

namespace isochron {

Scenario::Scenario() = default;
Scenario::Scenario(const Scenario&) = default;
Scenario::Scenario(Scenario&&) noexcept = default;
Scenario& Scenario::operator=(const Scenario&) = default;
Scenario& Scenario::operator=(Scenario&&) noexcept = default;
Scenario::~Scenario() = default;

namespace {

constexpr std::size_t largest_file = 4 << 20;

std::string read_text(const std::string& file) {
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored)) {
    throw InputError({file, 0, 0}, "is a folder", "name a scenario file");
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError({file, 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
  std::string text(largest_file + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > largest_file) throw InputError({file, 0, 0}, "is larger than 4 MiB", "is this a scenario?");
  return text;
}

/// What a single section cannot see: sections that need each other, values that do not go together.
class Checker {
 public:
  Checker(const Scenario& scenario, std::string folder, std::vector<Mistake>& mistakes)
      : scenario_(scenario), folder_(std::move(folder)), mistakes_(mistakes) {}

  void check() {
    if (scenario_.duration <= SimSpan::zero()) say(scenario_, "duration", "must be positive", "as in `duration: 20s`");
    if (scenario_.time.hang <= WallSpan::zero()) say(scenario_.time, "hang", "must be positive", "");
    if (scenario_.time.cores == 0u) say(scenario_.time, "cores", "must be one or more", "");
    if (scenario_.time.quantum <= SimSpan::zero()) say(scenario_.time, "quantum", "must be positive", "");
    if (scenario_.flows.workers < 1 || scenario_.flows.workers > 256)
      say(scenario_.flows, "workers", "must be 1 to 256", "");
    if (scenario_.flows.capacity && *scenario_.flows.capacity < 1)
      say(scenario_.flows, "capacity", "must be at least 1", "");
    if (!scenario_.world && scenario_.nodes.empty() && !scenario_.ros2) {
      mistakes_.push_back({scenario_.place, "there is nothing to run", "give a `world` with `robots`, or `nodes`"});
    }
    if (scenario_.world) check_world(*scenario_.world);
    if (!scenario_.robots.empty() && !scenario_.world) {
      say(scenario_, "robots", "`robots` need a `world` to act in", "add `world: {model: …}`");
    }
    if (!scenario_.vehicles.empty() && !scenario_.world) {
      say(scenario_, "vehicles", "need a `world` to drive in", "add `world: {model: …}`");
    }
    if (!scenario_.aircraft.empty() && !scenario_.world) {
      say(scenario_, "aircraft", "need a `world` to fly in", "add `world: {model: …}`");
    }
    for (const auto& [name, vehicle] : scenario_.vehicles) check_driver(vehicle.driver);
    for (const auto& [name, aircraft] : scenario_.aircraft) {
      check_aircraft(aircraft, mistakes_);
      const bool drives = std::ranges::any_of(scenario_.vehicles, [&n = name](const auto& v) { return v.first == n; });
      if (drives) mistakes_.push_back({aircraft.place, "`" + name + "` is a vehicle already", "leave one of them out"});
    }
    for (const auto& [name, robot] : scenario_.robots) check_robot(robot);
    check_wires(scenario_, mistakes_);
    for (const auto& [name, node] : scenario_.nodes) check_node(name, node);
    check_compute(scenario_.time.compute);
    (void)read_expectations(scenario_.expect, mistakes_);
    check_timed_faults(scenario_, mistakes_);
  }

 private:
  void say(const Section& section, std::string_view key, std::string what, std::string hint) {
    mistakes_.push_back({section.place_of(key), "`" + std::string(key) + "` " + std::move(what), std::move(hint)});
  }
  void check_world(const WorldSection& world) {
    if (world.step && *world.step <= SimSpan::zero()) say(world, "step", "must be positive", "");
    if (world.wind && world.wind->gusts) check_gusts(*world.wind->gusts);
  }
  void check_gusts(const GustsSection& gusts) {
    if (gusts.at_6m < 0) say(gusts, "at_6m", "must not be negative", "");
    if (gusts.deviation.has_value() != gusts.length.has_value()) {
      mistakes_.push_back({gusts.place, "gusts need both `deviation` and `length`, or `at_6m`", ""});
    }
    if (gusts.deviation && gusts.key_places.contains("at_6m")) {
      say(gusts, "at_6m", "has no meaning beside `deviation`", "leave one of them out");
    }
    for (const double x : gusts.deviation.value_or(std::array<double, 3>{})) {
      if (!(x >= 0)) say(gusts, "deviation", "must not be negative", "");
    }
    for (const double x : gusts.length.value_or(std::array<double, 3>{1, 1, 1})) {
      if (!(x > 0)) say(gusts, "length", "must be positive", "");
    }
  }
  void check_driver(const DriverSection& driver) {
    if (!driver.file.empty() && !driver.path.empty()) {
      mistakes_.push_back({driver.place, "a driver has either a `file` or a `path`", "leave one of them out"});
    }
    if (driver.file.empty() && driver.path.empty() && !driver.key_places.empty()) {
      mistakes_.push_back({driver.place, "a driver needs a `file` or a `path`", "or write `driver: program`"});
    }
    if (driver.path.size() == 1) say(driver, "path", "needs two points", "as in `path: [[0, 0], [100, 0]]`");
    if (driver.every <= SimSpan::zero()) say(driver, "every", "must be positive", "");
    if (driver.speed < 0) say(driver, "speed", "must not be negative", "");
  }
  void check_compute(const ComputeSection& compute) {
    const int said = (compute.recorded.empty() ? 0 : 1) + (compute.modelled ? 1 : 0);
    if (compute.contract == Contract::recorded && said != 1) {
      mistakes_.push_back({compute.place, "`compute` must be either recorded or modelled", "give one of them"});
    }
  }
  void check_robot(const RobotSection& robot) {
    std::vector<std::string> in_order;
    for (const auto& [name, program] : robot.programs) in_order.push_back(name);
    const std::set<std::string> names(in_order.begin(), in_order.end());
    if (robot.cores < 1 || robot.cores > 64) say(robot, "cores", "must be 1 to 64", "");
    check_policy(robot.policy, in_order, mistakes_);
    const bool by_priority =
        !robot.policy.tree && robot.policy.library.empty() && robot.policy.word == PolicyWord::fixed_priority;
    for (const auto& [name, program] : robot.programs) {
      check_program(name, program, names);
      if (program.core && *program.core >= robot.cores) {
        say(program, "core", "is beyond the robot's " + std::to_string(robot.cores), "give the robot `cores: N`");
      }
      if (!by_priority && robot.policy.library.empty() && program.key_places.contains("priority")) {
        say(program, "priority", "has no effect under the robot's policy", "leave it out, or use fixed-priority");
      }
    }
  }
  void check_node(const std::string& name, const NodeSection& node) {
    const int kinds = (node.run.empty() ? 0 : 1) + (node.library.empty() ? 0 : 1) + (node.fmu.empty() ? 0 : 1) +
                      (node.sumo ? 1 : 0) + (node.play ? 1 : 0);
    if (kinds != 1) {
      mistakes_.push_back({node.place, "node `" + name + "` needs either `library`, `run`, `fmu`, `sumo` or `play`",
                           "as in `library: room_nodes`, `run: [python3, heater.py]` or `fmu: motor.fmu`"});
    }
    if (node.sumo) check_sumo(*node.sumo);
    if (node.every && *node.every <= SimSpan::zero()) say(node, "every", "must be positive", "");
    for (const char* key :
         {"every", "parameters", "outputs", "tolerance", "solver", "solver_step", "process", "compute", "log"}) {
      if (key == std::string("every") && node.sumo) continue;
      if (node.fmu.empty() && node.key_places.contains(key)) say(node, key, "is of nodes that are an `fmu`", "");
    }
    for (const char* key : {"type", "with"}) {
      if (!node.fmu.empty() && node.key_places.contains(key)) {
        say(node, key, "is not of nodes that are an `fmu`", "parameters of an FMU stand under `parameters`");
      }
      if (node.sumo && node.key_places.contains(key)) {
        say(node, key, "is not of nodes that are SUMO's", "options of SUMO stand under `sumo: {arguments: […]}`");
      }
    }
    for (const char* key : {"type", "with", "inputs"}) {
      if (node.play && node.key_places.contains(key)) say(node, key, "is not of nodes that play a bag", "");
    }
    if (node.compute) check_step_cost(*node.compute);
  }
  void check_sumo(const SumoSection& sumo) {
    if (sumo.config.empty() && sumo.network.empty()) {
      mistakes_.push_back({sumo.place, "SUMO needs a `config` or a `network`", "as in `network: town.net.xml`"});
    }
    if (!(sumo.near > 0)) say(sumo, "near", "must be positive", "");
    if (sumo.leave && !(*sumo.leave >= sumo.near)) say(sumo, "leave", "must not be less than `near`", "");
    if (sumo.equipped.value < 0 || sumo.equipped.value > 1) say(sumo, "equipped", "must be from 0% to 100%", "");
  }
  void check_step_cost(const ComputeSection& compute) {
    if (compute.contract == Contract::hardware) {
      mistakes_.push_back({compute.place, "a node does not run on a board", "an FMU's step can be measured here"});
    }
    if (!compute.modelled) return;
    for (const auto& [key, span] : {std::pair("per_clock_read", compute.modelled->per_clock_read),
                                    std::pair("per_call", compute.modelled->per_call),
                                    std::pair("per_kilobyte", compute.modelled->per_kilobyte)}) {
      if (span == SimSpan::zero()) continue;
      say(*compute.modelled, key, "is not of nodes, which have no calls that could be counted", "use `fixed`");
    }
  }
  void check_program(const std::string& name, const ProgramSection& program, const std::set<std::string>& names) {
    const bool elsewhere = runs_on_target(scenario_, program) || flies_from_outside(program);
    const bool remote = elsewhere && program.run.empty() && program.library.empty();
    if (program.link) check_link(name, program);
    if (program.run.empty() == program.library.empty() && !remote) {
      mistakes_.push_back(
          {program.place, "program `" + name + "` needs either `run` or `library`", "as in `run: [./controller]`"});
    }
    if (!program.run.empty() && !find_program(program.run[0], folder_)) {
      say(program, "run",
          "names `" + program.run[0] + "`, which is no executable next to the scenario file or on the PATH", "");
    }
    if (program.every && *program.every <= SimSpan::zero()) say(program, "every", "must be positive", "");
    if (program.deadline && *program.deadline <= SimSpan::zero()) {
      say(program, "deadline", "must be positive", "");
    }
    if (program.offset < SimSpan::zero()) say(program, "offset", "must not be negative", "");
    if (!program.library.empty() && !program.every) say(program, "library", "needs `every`", "as in `every: 10ms`");
    if (!program.to.empty() && !names.contains(program.to)) {
      say(program, "to", "names `" + program.to + "`, which is no program of this robot",
          nearest_hint(program.to, {names.begin(), names.end()}));
    }
    if (program.compute) check_compute(*program.compute);
    if (program.stdin_) check_input(*program.stdin_, program);
    if (program.target.links < 1 || program.target.links > 256) say(program.target, "links", "must be 1 to 256", "");
    if (program.target.cpu_quota && program.target.cpu_quota->value() > 1) {
      say(program.target, "cpu_quota", "is a part of one core, at most 1", "as in `cpu_quota: 0.2`");
    }
  }

  void check_link(const std::string& name, const ProgramSection& program) {
    const LinkSection& link = *program.link;
    const int kinds = (link.ardupilot ? 1 : 0) + (link.px4 ? 1 : 0) + (link.betaflight ? 1 : 0);
    if (kinds != 1) {
      mistakes_.push_back({link.place,
                           "`link` of program `" + name + "` needs either `ardupilot`, `px4` or `betaflight`",
                           "as in `link: {ardupilot: {port: 9002}}`"});
    }
    const auto port_of = [&](const auto& section, std::uint32_t more) {
      if (!section || !section->port || (*section->port >= 1 && *section->port + more <= 65535)) return;
      say(*section, "port", "must be 1 to " + std::to_string(65535 - more), "");
    };
    port_of(link.ardupilot, 0);
    port_of(link.px4, 0);
    port_of(link.betaflight, 2);
    if (link.every && *link.every <= SimSpan::zero()) say(link, "every", "must be positive", "");
    if (link.ranges.size() > 6) say(link, "ranges", "are 6 at most", "");
    if (link.betaflight && link.betaflight->sticks.size() > 16) say(*link.betaflight, "sticks", "are 16 at most", "");
    if (!program.library.empty()) say(program, "link", "is for executables, and this is a library", "");
    if (program.system == SystemKind::host && program.clock == ClockKind::virtual_) {
      say(program, "link", "needs a simulated network, and `system` is the host's", "leave `system` out");
    }
    const Mode mode = scenario_.time.mode;
    if (mode == Mode::realtime || mode == Mode::heartbeat || scenario_.agents || !scenario_.nodes.empty()) {
      say(program, "link", "is for runs whose world is stepped here, by programs alone",
          "use mode callback, consistent, repeatable or hil, without `nodes` and `agents`");
    } else if (mode == Mode::repeatable && flies_from_outside(program)) {
      say(program, "link", "is to an autopilot outside, and nobody can promise that it does the same twice",
          "add `clock: virtual` and `run`, so that it is started and followed, or use mode callback or hil");
    }
    if (flies_from_outside(program) && program.compute) {
      say(program, "compute", "has no meaning for an autopilot outside: the world waits for each of its answers",
          "leave it out, or add `clock: virtual`");
    }
  }

  void check_input(const InputSection& input, const ProgramSection& program) {
    if (!input.lines.empty() && !input.file.empty()) {
      mistakes_.push_back({input.place, "`stdin` has either a `file` or `lines`", "leave one of them out"});
    }
    if (!input.lines.empty() && program.clock != ClockKind::virtual_) {
      mistakes_.push_back({input.place, "`stdin` with times needs a program whose clock is followed",
                           "add `clock: virtual`, or give a text or a file"});
    }
    const bool elsewhere = runs_on_target(scenario_, program) || flies_from_outside(program);
    if (!input.lines.empty() && (scenario_.time.mode == Mode::realtime || elsewhere)) {
      mistakes_.push_back(
          {input.place, "`stdin` with times is for programs on simulated time that run here", "give a text or a file"});
    }
    SimSpan last;
    for (const InputLine& line : input.lines) {
      if (line.at < last) say(line, "at", "must not be earlier than that of the line before", "");
      last = std::max(last, line.at);
    }
  }

  const Scenario& scenario_;
  std::string folder_;
  std::vector<Mistake>& mistakes_;
};

/// Which of the two maps was given decides the contract; their values are read by describe().
void settle_contract(ComputeSection& compute) {
  if (compute.place.line == 0) return;
  if (!compute.recorded.empty()) compute.contract = Contract::recorded;
  if (compute.modelled) compute.contract = Contract::modelled;
}

/// What was run: the file with everything that was set on the command line.
std::string text_with(const Value& root, const std::vector<Override>& overrides) {
  std::string text = "# as run, with";
  for (const Override& set : overrides) text += " --set " + set.path + "=" + set.value;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + "\n" + to_yaml(root);
}

}  // namespace

Result<Pace, std::string> Pace::parse(const std::string& text) {
  if (text == "free") return Pace{};
  auto factor = parse_fraction(text);
  if (!factor) return fail("`" + text.substr(0, 40) + "` is not a pace; write `free`, `1x` or `0.5x`");
  return Pace{*factor};
}

std::string to_string(const Pace& pace) { return pace.factor ? to_string(*pace.factor) + "x" : "free"; }

Result<StartDate, std::string> StartDate::parse(const std::string& text) {
  if (text == "now") return StartDate{Epoch::of_wall_clock(), true};
  auto epoch = Epoch::parse(text);
  if (!epoch) return fail(epoch.error() + ", or `now`");
  return StartDate{*epoch};
}

Result<StartUp, std::string> StartUp::parse(const std::string& text) {
  if (text == "charged") return StartUp{CpuSpan::zero()};
  auto span = parse_span<CpuClockTag>(text);
  if (!span) return fail(span.error() + ", or `charged`");
  if (*span < CpuSpan::zero()) return fail(std::string("must not be negative; write `charged` or a time"));
  return StartUp{*span};
}

std::string to_string(const StartUp& start_up) {
  return start_up.free == CpuSpan::zero() ? "charged" : to_string(start_up.free);
}

std::string to_string(const StartDate& date) { return to_string(date.epoch); }

bool from_word(DriverSection& /*section*/, const std::string& word) { return word == "program"; }

bool from_word(ComputeSection& section, const std::string& word) {
  if (word == "zero") return section.contract = Contract::zero, true;
  if (word == "measured") return section.contract = Contract::measured, true;
  if (word == "hardware") return section.contract = Contract::hardware, true;
  return false;
}

Scenario read_scenario(const std::string& text, const std::string& file, const std::string& folder,
                       const std::vector<Override>& overrides) {
  Value root = parse_yaml(text, file);
  for (const Override& set : overrides) {
    set_path(root, set.path, set.value, "--set " + set.path);
  }
  Scenario scenario;
  std::vector<Mistake> mistakes;
  read_section(root, folder, scenario, mistakes);
  settle_contract(scenario.time.compute);
  for (auto& [name, node] : scenario.nodes) {
    if (node.compute) settle_contract(*node.compute);
  }
  settle_places(scenario.expect, text);
  for (auto& [name, robot] : scenario.robots) {
    for (auto& [program_name, program] : robot.programs) {
      if (program.compute) settle_contract(*program.compute);
    }
  }
  Checker(scenario, folder, mistakes).check();
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  if (scenario.time.epoch.now) {  // written down, so that the journal has it and a replay sees the same date
    std::vector<Override> fixed = overrides;
    fixed.push_back({"time.epoch", to_string(scenario.time.epoch)});
    return read_scenario(text, file, folder, fixed);
  }
  scenario.file = file;
  scenario.folder = folder;
  scenario.text = overrides.empty() ? text : text_with(root, overrides);
  return scenario;
}

Scenario load_scenario(const std::string& file, const std::vector<Override>& overrides) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  return read_scenario(read_text(file), file, folder.empty() ? "." : folder, overrides);
}

bool flies_from_outside(const ProgramSection& program) { return program.link && program.clock != ClockKind::virtual_; }

bool runs_on_target(const Scenario& scenario, const ProgramSection& program) {
  if (program.link) return false;
  if (program.compute) return program.compute->contract == Contract::hardware;
  const bool elsewhere = program.library.empty() && program.clock != ClockKind::virtual_;
  return scenario.time.mode == Mode::hil && elsewhere;
}

bool has_boards(const Scenario& scenario) {
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (runs_on_target(scenario, program)) return true;
    }
  }
  return false;
}

/// Nodes of ROS beside a world take part where it is stepped; alone they are a node.
bool runs_as_flows(const Scenario& scenario) {
  const Mode mode = scenario.time.mode;
  const bool exact = mode == Mode::callback || mode == Mode::consistent || mode == Mode::repeatable;
  const bool alone = !scenario.world && (scenario.ros || scenario.ros2);  // nobody steps a world for it
  if (exact && (!scenario.nodes.empty() || alone)) return true;
  return mode == Mode::repeatable && !scenario.flows.key_places.empty();
}

}  // namespace isochron
