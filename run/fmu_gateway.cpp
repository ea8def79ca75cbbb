#include "run/fmu_gateway.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/foreign_text.hpp"
#include "core/nearest_name.hpp"
#include "journal/disk.hpp"
#include "run/runners.hpp"
#include "run/wall_clock.hpp"

namespace isochron {
namespace {

constexpr SimSpan as_long_as_it_takes = std::chrono::hours(24 * 30);

bool put(int to, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::send(to, at, size, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool take(int from, void* bytes, std::size_t size) {
  char* at = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::recv(from, at, size, 0);
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

void put_numbers(int to, const std::vector<double>& numbers) {
  (void)put(to, numbers.data(), numbers.size() * sizeof(double));  // who is gone is found out by the next take()
}

/// Actuators that a program or a node of the scenario moves.
bool is_taken(const Scenario& scenario, const std::string& actuator) {
  for (const auto& [name, node] : scenario.nodes) {
    for (const auto& [output, driven] : node.drives) {
      if (driven == actuator) return true;
    }
  }
  for (const auto& [name, robot] : scenario.robots) {
    const std::string& body = robot.body.empty() ? name : robot.body;
    if (robot.programs.empty()) continue;
    if (actuator.starts_with(name + "/") || actuator.starts_with(body + "/")) return true;
  }
  for (const auto& [name, vehicle] : scenario.vehicles) {
    const bool driven = !vehicle.driver.path.empty() || !vehicle.driver.file.empty();
    if (driven && actuator.starts_with(name + "/")) return true;
  }
  return false;
}

void refuse_what_cannot_be_stepped(const Scenario& scenario) {
  const Mode mode = scenario.time.mode;
  const bool exact = mode == Mode::callback || mode == Mode::consistent || mode == Mode::repeatable;
  if (!exact || scenario.agents) {
    throw InputError(scenario.agents ? scenario.agents->place : scenario.time.place_of("mode"),
                     "an FMU is stepped by the tool that imports it, and this scenario cannot be",
                     "use mode callback, consistent or repeatable, without `agents`");
  }
  if (!scenario.world)
    throw InputError(scenario.place, "an FMU of a scenario needs a `world`", "add `world: {model: …}`");
  if (scenario.ros) throw InputError(scenario.ros->place, "ROS nodes cannot be put into an FMU", "leave `ros` out");
  if (scenario.ros2) throw InputError(scenario.ros2->place, "ROS nodes cannot be put into an FMU", "leave `ros2` out");
}

class Outputs {
 public:
  explicit Outputs(FmuInterface& to) : to_(to) {}
  void add(const std::string& name, const std::string& about, FmuInterface::Source::Kind kind, std::size_t at) {
    to_.outputs.push_back({name, about, 0});
    to_.sources.push_back({kind, at});
  }
  void add_body(const std::string& name, std::size_t body) {
    static constexpr std::array<const char*, 13> parts{"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                                       "vx", "vy", "vz", "wx", "wy", "wz"};
    static constexpr std::array<const char*, 4> abouts{"position, m", "orientation", "velocity, m/s",
                                                       "angular velocity, rad/s"};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t group = i < 3 ? 0 : i < 7 ? 1 : i < 10 ? 2 : 3;
      add(name + "." + parts[i], abouts[group], FmuInterface::Source::Kind::body, body * parts.size() + i);
    }
  }

 private:
  FmuInterface& to_;
};

}  // namespace

FmuInterface fmu_interface(const Scenario& scenario) {
  refuse_what_cannot_be_stepped(scenario);
  FmuInterface made;
  Scenario blind = scenario;
  for (auto& [name, robot] : blind.robots) robot.sensors.clear();
  Stage stage(blind);
  WorldPlant plant(stage, blind);
  const world::World& world = stage.world();
  made.world_step = stage.step();
  const std::vector<std::uint32_t> writables = writables_of(plant);
  for (std::uint32_t i = 0; i < world.actuators().size(); ++i) {
    const world::ActuatorInfo& actuator = world.actuators()[i];
    if (is_taken(scenario, actuator.name)) continue;
    const auto place = std::ranges::find(writables, plant.variable_of_actuator(i));
    if (place == writables.end()) continue;
    made.inputs.push_back({actuator.name, "actuator", 0});
    made.writables.push_back(static_cast<std::uint32_t>(place - writables.begin()));
  }
  Outputs outputs(made);
  const world::Catalog& catalog = world.catalog();
  using Kind = FmuInterface::Source::Kind;
  for (const world::JointInfo& joint : catalog.joints) {
    if (joint.velocities == 6) outputs.add_body(catalog.bodies[joint.body], joint.body);
    if (joint.positions != 1) continue;
    outputs.add(joint.name + ".position", "joint, m or rad", Kind::position, joint.position_at);
    outputs.add(joint.name + ".velocity", "joint, m/s or rad/s", Kind::velocity, joint.velocity_at);
  }
  for (std::uint32_t i = 0; i < world.sensors().size(); ++i) {
    const world::SensorInfo& sensor = world.sensors()[i];
    for (std::uint32_t k = 0; k < sensor.dimensions; ++k) {
      const std::string index = sensor.dimensions == 1 ? "" : "[" + std::to_string(k + 1) + "]";
      outputs.add(sensor.name + index, "sensor of the model", Kind::sensor, world.sensor_at(i) + k);
    }
  }
  return made;
}

void FmuInterface::keep(const std::vector<std::string>& in, const std::vector<std::string>& out, const Place& place) {
  const auto pick = [&](const std::vector<std::string>& names, std::vector<fmi::ExportedVariable>& from, auto& with,
                        const char* what) {
    std::vector<std::string> known;
    for (const fmi::ExportedVariable& variable : from) known.push_back(variable.name);
    std::vector<fmi::ExportedVariable> kept;
    std::remove_reference_t<decltype(with)> kept_with;
    for (const std::string& name : names) {
      const auto found = std::ranges::find(known, name);
      if (found == known.end()) {
        throw InputError(place, "there is no " + std::string(what) + " `" + name + "`", nearest_hint(name, known));
      }
      kept.push_back(from[static_cast<std::size_t>(found - known.begin())]);
      kept_with.push_back(with[static_cast<std::size_t>(found - known.begin())]);
    }
    from = std::move(kept);
    with = std::move(kept_with);
  };
  pick(in, inputs, writables, "actuator that is free");
  pick(out, outputs, sources, "output");
}

FmuGateway::FmuGateway(FmuInterface interface, SimSpan step, int socket, RunWatch& watch)
    : interface_(std::move(interface)),
      step_(step),
      socket_(socket),
      watch_(watch),
      in_(interface_.inputs.size()),
      out_(interface_.outputs.size()),
      writes_(event<WorldWrites>("writes", SimSpan::zero())) {
  input<&FmuGateway::saw>("state");
  output<&FmuGateway::tick>("tick", flow::observes(step));
}

void FmuGateway::saw(const world::WorldState& state) {
  using Kind = FmuInterface::Source::Kind;
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const FmuInterface::Source& source = interface_.sources[i];
    switch (source.kind) {
      case Kind::body:
        out_[i] = state.bodies[source.at];
        break;
      case Kind::position:
        out_[i] = state.positions[source.at];
        break;
      case Kind::velocity:
        out_[i] = state.velocities[source.at];
        break;
      case Kind::sensor:
        out_[i] = state.sensors[source.at];
        break;
    }
  }
}

void FmuGateway::tick(Tick& tick, SimTime now) {
  ++tick.number;
  if (over_) return;
  if (!greeted_) {
    greeted_ = true;
    const std::array<std::uint32_t, 2> counts{static_cast<std::uint32_t>(in_.size()),
                                              static_cast<std::uint32_t>(out_.size())};
    const double step = step_.seconds();
    (void)put(socket_, counts.data(), sizeof counts);
    (void)put(socket_, &step, sizeof step);
    put_numbers(socket_, in_);
    put_numbers(socket_, out_);
    return obey(now);
  }
  if (--left_ > 0) return;
  const std::uint32_t fine = 0;
  (void)put(socket_, &fine, sizeof fine);
  put_numbers(socket_, out_);
  obey(now);
}

/// Waits for what the tool wants next.
void FmuGateway::obey(SimTime now) {
  if (!take(socket_, &left_, sizeof left_) || left_ == 0 || !take(socket_, in_.data(), in_.size() * sizeof(double))) {
    over_ = true;
    return watch_.stop();
  }
  if (in_ == before_) return;
  before_ = in_;
  if (in_.empty()) return;
  writes_.fill(now, [&](WorldWrites& writes) {
    writes.variables = interface_.writables;
    writes.values = in_;
  });
}

namespace {

struct Served {
  std::string scenario;
  std::int64_t step_ns = 0;
  std::vector<std::string> inputs, outputs;
};

Served read_served(const std::string& folder) {
  const std::string file = folder + "/isochron";
  std::ifstream in(file);
  Served served;
  std::string line, step;
  std::getline(in, line);  // the command
  std::getline(in, served.scenario);
  std::getline(in, step);
  const auto parsed = std::from_chars(step.data(), step.data() + step.size(), served.step_ns);
  if (!in || parsed.ec != std::errc{} || served.step_ns <= 0) {
    throw InputError({file, 0, 0}, "is not of an FMU that `isochron export fmu` made");
  }
  while (std::getline(in, line)) {
    if (line.starts_with("in ")) served.inputs.push_back(line.substr(3));
    if (line.starts_with("out ")) served.outputs.push_back(line.substr(4));
  }
  return served;
}

/// The record of the run: kept where ISOCHRON_FMU_JOURNAL says, else removed in the end.
class Record {
 public:
  Record() {
    if (const char* wanted = std::getenv("ISOCHRON_FMU_JOURNAL"); wanted != nullptr && *wanted != 0) {
      file_ = wanted;
      return;
    }
    std::string pattern = (std::filesystem::temp_directory_path() / "isochron_fmu_XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
    file_ = (folder_.empty() ? std::string("/tmp") : folder_) + "/run.mcap";
  }
  ~Record() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  std::string file_, folder_;
};

}  // namespace

bool serve_fmu(const std::string& folder, int socket) {
  const Served served = read_served(folder);
  Scenario scenario = load_scenario(folder + "/" + served.scenario);
  scenario.duration = as_long_as_it_takes;
  scenario.time.stall = WallSpan(std::chrono::hours(24 * 30));  // the tool may think for as long as it likes
  scenario.flows.executor = flow::How::thread;  // the tool waits for one thread, and that one for the tool
  FmuInterface interface = fmu_interface(scenario);
  interface.keep(served.inputs, served.outputs, {folder + "/isochron", 0, 0});
  WallClock clock;
  PosixDisk disk;
  RunWatch watch;
  const Record record;
  RunOptions options;
  options.journal = record.file();
  PlanOutside outside{watch, clock};
  outside.gateway = [&]() -> std::unique_ptr<flow::UserNode> {
    return std::make_unique<FmuGateway>(std::move(interface), SimSpan::from_ns(served.step_ns), socket, watch);
  };
  const RunReport report = run_plan(plan_flows(scenario, &outside), scenario, options, clock, disk, watch);
  if (watch.stopping()) return true;
  std::string why = foreign_text(report.why.empty() ? "the simulation ended" : report.why, 900);
  const auto size = static_cast<std::uint32_t>(why.size());
  (void)put(socket, &size, sizeof size);
  (void)put(socket, why.data(), why.size());
  return false;
}

}  // namespace isochron
