#include "run/unused_keys.hpp"

#include <functional>

#include "protocol/program_protocol.hpp"
#include "run/run.hpp"

namespace isochron {
namespace {

/// How a program takes part; every key below is for some of these.
enum class Part { executable, library, target, outside, on_the_wall_clock, library_on_the_wall_clock };

Part part_of(const Scenario& scenario, const ProgramSection& program) {
  const bool library = !program.library.empty();
  if (scenario.time.mode == Mode::realtime) return library ? Part::library_on_the_wall_clock : Part::on_the_wall_clock;
  if (runs_on_target(scenario, program)) return Part::target;
  if (flies_from_outside(program)) return Part::outside;
  return library ? Part::library : Part::executable;
}

bool charged(const Scenario& scenario) {
  return scenario.time.mode != Mode::callback && scenario.time.mode != Mode::realtime;
}

class Finder {
 public:
  explicit Finder(const Scenario& scenario) : scenario_(scenario) {}

  std::vector<Mistake> find() {
    for (const auto& [name, robot] : scenario_.robots) look_at(name, robot);
    look_at(scenario_.time);
    if (scenario_.world && scenario_.world->wind && scenario_.aircraft.empty()) {
      unless_given(*scenario_.world->wind, "gusts", "this scenario has no aircraft that could meet them");
    }
    if (scenario_.v2x) look_at(*scenario_.v2x);
    if (!has_stack()) {
      unless_given(scenario_, "networks", "no program of this scenario has `clock: virtual` and a simulated system");
    }
    if (!has_stack()) {
      unless_given(scenario_, "outside", "no program of this scenario has `clock: virtual` and a simulated system");
    } else if (scenario_.time.mode == Mode::repeatable) {
      unless_given(scenario_, "outside", "mode repeatable lets no program out");
    }
    if (!has_boards(scenario_) && !has_outside())
      unless_given(scenario_, "hil", "no program of this scenario runs on a board");
    if (!scenario_.hil.sync) {
      for (const char* key : {"link", "wrong_clock", "clock_tolerance"})
        unless_given(scenario_.hil, key, "`sync: false` does not ask a target's clock");
    }
    if (!runs_as_flows(scenario_)) {
      for (const char* key : {"at", "host"}) {
        if (scenario_.ros) unless_given(*scenario_.ros, key, not_a_node);
        if (scenario_.ros2) unless_given(*scenario_.ros2, key, not_a_node);
      }
    }
    if (scenario_.flows.key_places.contains("executor") && !runs_as_flows(scenario_) && !scenario_.agents) {
      unless_given(scenario_, "flows", "no part of this run is a node of a system of flows");
    }
    return std::move(found_);
  }

 private:
  static constexpr const char* not_a_node = "the bridge stands where the world is stepped, and is no node of flows";

  void unless_given(const Section& section, std::string_view key, const std::string& why) {
    if (!section.key_places.contains(std::string(key))) return;
    found_.push_back({section.place_of(key), "`" + std::string(key) + "` has no effect here: " + why, ""});
  }

  [[nodiscard]] bool has_stack() const {
    if (scenario_.time.mode == Mode::realtime) return false;
    for (const auto& [name, robot] : scenario_.robots) {
      for (const auto& [program, section] : robot.programs) {
        if (section.clock == ClockKind::virtual_ && section.system == SystemKind::simulated) return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool has_outside() const {
    for (const auto& [name, robot] : scenario_.robots) {
      for (const auto& [program, section] : robot.programs) {
        if (flies_from_outside(section)) return true;
      }
    }
    return false;
  }

  void look_at(const std::string& name, const RobotSection& robot) {
    bool here = robot.programs.empty();
    for (const auto& [program, section] : robot.programs) {
      const Part part = part_of(scenario_, section);
      here = here || part == Part::executable || part == Part::library;
      look_at(section, part);
    }
    for (const auto& [sensor, section] : robot.sensors) {
      if (!robot.programs.empty() && section.type == world::SensorType::camera) look_at(sensor, section);
    }
    if (here) return;
    for (const char* key : {"policy", "cores"}) {
      unless_given(robot, key, "no program of `" + name + "` runs on a computer that is simulated here");
    }
  }

  /// A picture that no program can be handed, known before the run.
  void look_at(const std::string& name, const SensorSection& camera) {
    const world::CameraOptions& picture = camera.picture;
    const std::size_t bytes = std::size_t{picture.width} * picture.height * (picture.depth ? 4 : 3);
    if (bytes + 1024 <= protocol::payload_max) return;
    found_.push_back({camera.place_of("picture"),
                      "the pictures of `" + name + "` have " + std::to_string(bytes) +
                          " bytes and reach no program, which is handed " + std::to_string(protocol::payload_max) +
                          " at most; make them smaller",
                      ""});
  }

  void look_at(const ProgramSection& program, Part part) {
    const bool library = !program.library.empty();
    if (library) {
      for (const char* key :
           {"to", "clock", "system", "rdtsc", "blocking", "output", "memory", "stdin", "startup", "ros2"}) {
        unless_given(program, key, "it is for executables, and this is a library");
      }
    }
    if (part != Part::target && part != Part::outside) {
      unless_given(program, "target", "the program does not run on a target");
    }
    if (part == Part::outside) {
      for (const char* key : {"every", "offset", "deadline", "priority", "core", "best_effort", "to", "cpu_speed",
                              "blocking", "output", "memory", "stdin", "startup", "system", "rdtsc", "ros2"}) {
        unless_given(program, key, "the autopilot is outside and flies in lock-step; `clock: virtual` takes it in");
      }
    }
    if (part == Part::target) {
      for (const char* key : {"priority", "core", "cpu_speed", "blocking", "output", "memory", "stdin", "startup"}) {
        unless_given(program, key, "the target's own computer runs the program");
      }
    }
    if (part == Part::on_the_wall_clock || part == Part::library_on_the_wall_clock) {
      for (const char* key : {"core", "compute", "cpu_speed", "blocking", "startup"}) {
        unless_given(program, key, "in mode realtime programs run on this machine, on the wall clock");
      }
    }
    if (scenario_.time.mode == Mode::callback && part != Part::target && part != Part::outside) {
      for (const char* key : {"compute", "cpu_speed"}) {
        unless_given(program, key, "in mode callback computing is free");
      }
    }
    if (part == Part::executable && program.clock != ClockKind::virtual_) {
      for (const char* key : {"startup", "system", "rdtsc"}) {
        unless_given(program, key, "it is for programs with `clock: virtual`");
      }
    }
    if (part == Part::executable && program.clock == ClockKind::virtual_ && program.system == SystemKind::host) {
      unless_given(program, "rdtsc", "it is for programs whose system is simulated: the counter is the host's here");
    }
  }

  void look_at(const V2xSection& v2x) {
    if (!scenario_.agents) {
      for (const char* key : {"deaf", "advice", "warning"}) {
        unless_given(v2x, key, "it is for the drivers of `agents`, and there are none");
      }
    }
    if (v2x.medium != RadioKind::fixed) {
      for (const char* key : {"delay", "loss"}) unless_given(v2x, key, "it is for `medium: fixed`");
    }
    if (v2x.medium != RadioKind::dsrc) {
      for (const char* key : {"fading", "obstruction"}) unless_given(v2x, key, "it is for `medium: dsrc`");
    }
  }

  void look_at(const TimeSection& time) {
    if (!charged(scenario_)) {
      for (const char* key : {"compute", "cpu_speed", "quantum"}) {
        unless_given(time, key, "in this mode computing is not charged");
      }
    }
    if (!runs_as_flows(scenario_) && !scenario_.agents) {
      unless_given(time, "on_stall", "it is for nodes of flows");
    }
  }

  const Scenario& scenario_;
  std::vector<Mistake> found_;
};

}  // namespace

std::vector<Mistake> unused_keys(const Scenario& scenario) { return Finder(scenario).find(); }

std::string to_text(const Mistake& unused) {
  const std::string place = to_string(unused.place);
  return (place.empty() ? "" : place + ": ") + unused.what;
}

}  // namespace isochron
