#include "run/aircraft.hpp"

#include <algorithm>
#include <cmath>

#include "core/nearest_name.hpp"
#include "world/aircraft/autopilot.hpp"
#include "world/vectors.hpp"

namespace isochron {
namespace {

using namespace world;

std::vector<Rotor> rotors_of(const AircraftSection& section) {
  if (section.rotors.empty()) return world::rotors_of(section.frame, section.arm, section.rotor_height);
  std::vector<Rotor> rotors;
  for (const RotorPlaceSection& rotor : section.rotors) {
    rotors.push_back({rotor.position, unit(rotor.axis), rotor.turns == RotorTurns::ccw ? 1.0 : -1.0});
  }
  return rotors;
}

MultirotorSettings settings_of(const AircraftSection& section) {
  MultirotorSettings settings;
  settings.rotors = rotors_of(section);
  settings.rotor = section.rotor;
  settings.rotor.thrust = {section.rotor.thrust_factor, section.rotor.thrust_curve};
  settings.rotor.torque = {section.rotor.torque_factor, section.rotor.torque_curve};
  settings.drag_area = section.drag_area;
  settings.ground_effect = section.ground_effect;
  if (section.battery) settings.battery = *section.battery;
  return settings;
}

AutopilotSettings settings_of(const AutopilotSection& section) {
  return {section, section.inertia, section.hold, section.every, section.leash};
}

void place(const AircraftStartSection& start, World& world, std::uint32_t body) {
  const Quat turned{std::cos(start.heading / 2), 0, 0, std::sin(start.heading / 2)};
  if (const auto done = world.place(body, {{start.position, turned}, {}, {}}); !done.ok()) {
    throw InputError(start.place, done.error().what);
  }
}

/// Null: the model has none, and then aircraft have no ground effect.
std::shared_ptr<const Ground> ground_of(const Scenario& scenario, const Engine& engine) {
  const bool there =
      std::ranges::any_of(engine.geometry(), [](const Geometry& g) { return g.name.starts_with("ground"); });
  if (there) return std::make_shared<const Ground>(engine);
  for (const auto& [name, section] : scenario.aircraft) {
    if (section.ground_effect && section.key_places.contains("ground_effect")) {
      throw InputError(section.place_of("ground_effect"), "the model has no ground for `ground_effect`",
                       "name a fixed geom `ground` or `ground/…`");
    }
  }
  return nullptr;
}

/// The autopilot acts before its aircraft does, so it is added first.
Multirotor* add_one(const std::string& name, const AircraftSection& section, World& world,
                    const std::shared_ptr<const Air>& air, const std::shared_ptr<const Ground>& ground,
                    std::uint64_t seed) {
  auto made = std::make_unique<Multirotor>(world.engine(), name, settings_of(section), air, ground, seed);
  Multirotor* aircraft = made.get();
  if (section.start) place(*section.start, world, aircraft->body());
  if (section.start && section.start->airborne) aircraft->begin_airborne(world.engine());
  if (section.autopilot) {
    world.add(std::make_unique<Autopilot>(world.engine(), *aircraft, settings_of(*section.autopilot)));
  }
  world.add(std::move(made));
  return aircraft;
}

double tilt_of(const Quat& q) { return std::acos(std::clamp(1 - 2 * (q[1] * q[1] + q[2] * q[2]), -1.0, 1.0)); }

}  // namespace

void set_air(const Scenario& scenario, world::Air& air) {
  air = {};
  if (!scenario.world->wind) return;
  const WindSection& wind = *scenario.world->wind;
  air.wind = wind.velocity;
  if (!wind.gusts) return;
  air.gusts = wind.gusts->at_6m;
  if (wind.gusts->deviation) air.gusts_given = {*wind.gusts->deviation, *wind.gusts->length};
}

Aircraft::Aircraft(const Scenario& scenario, World& world) : air_(std::make_shared<Air>()) {
  if (scenario.aircraft.empty()) return;
  set_air(scenario);
  std::vector<Mistake> mistakes;
  std::shared_ptr<const Ground> ground;
  collect_mistakes(scenario.place_of("aircraft"), mistakes, [&] { ground = ground_of(scenario, world.engine()); });
  for (const auto& [name, section] : scenario.aircraft) {
    if (!world.catalog().body(name)) {
      mistakes.push_back({section.place, "aircraft `" + name + "`: the model has no body of that name",
                          nearest_hint(name, world.catalog().bodies)});
      continue;
    }
    collect_mistakes(section.place, mistakes, [&, &name = name, &section = section] {
      all_.push_back({add_one(name, section, world, air_, ground, scenario.seed), 0, 0, {}, {}});
    });
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  for (One& one : all_) {
    one.command_at = world.actuator(one.aircraft->name() + "/motor1");
    one.sensor_at = world.sensor_at(world.sensor(one.aircraft->name() + "/rotor_speed"));
    one.message.rotor_speed.resize(one.aircraft->rotors());
  }
}

bool Aircraft::lose_blade(std::string_view rotor, double share) {
  for (const One& one : all_) {
    const auto motors = one.aircraft->actuators();
    const auto found = std::ranges::find(motors, rotor, &ActuatorInfo::name);
    if (found == motors.end()) continue;
    one.aircraft->lose_blade(static_cast<std::size_t>(found - motors.begin()), share);
    return true;
  }
  return false;
}

const Multirotor* Aircraft::on(std::uint32_t body) const {
  const auto found = std::ranges::find(all_, body, [](const One& one) { return one.aircraft->body(); });
  return found == all_.end() ? nullptr : found->aircraft;
}

void Aircraft::begin(Journal& journal) {
  for (One& one : all_) {
    one.channel = journal.channel<AircraftState>("/aircraft/" + one.aircraft->name(), {.in_digest = false});
  }
}

/// The order of commands and readings is that of multirotor.hpp.
void Aircraft::write(Producer& producer, const State& state) {
  for (One& one : all_) {
    const std::size_t n = one.aircraft->rotors();
    const double* command = &state.commands[one.command_at];
    const double* reading = &state.sensors[one.sensor_at];
    const world::Motion& motion = state.bodies[one.aircraft->body()];
    AircraftState& m = one.message;
    m.stamp = state.time;
    m.height = motion.pose.position[2];
    m.speed = length(motion.linear);
    m.tilt = tilt_of(motion.pose.orientation);
    m.throttle = m.thrust = 0;
    for (std::size_t i = 0; i < n; ++i) {
      m.throttle += std::clamp(command[i], 0.0, 1.0) / static_cast<double>(n);
      m.rotor_speed[i] = reading[i];
      m.thrust += reading[n + i];
    }
    const double* battery = reading + 2 * n;
    m.voltage = battery[0], m.current = battery[1], m.charge = battery[2], m.power = battery[3], m.energy = battery[4];
    std::copy_n(battery + 5, 3, m.wind.begin());
    m.airspeed = length(motion.linear - m.wind);
    producer.write(one.channel, state.time, m);
  }
}

}  // namespace isochron
