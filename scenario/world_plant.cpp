#include "scenario/world_plant.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "world/sensors/plain_reading.hpp"

namespace isochron {
namespace {

std::string array_type(std::size_t n) { return n == 1 ? "float64" : "float64[" + std::to_string(n) + "]"; }

/// Everything that programs write is made of doubles.
bool all_finite(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at + sizeof(double) <= bytes.size(); at += sizeof(double)) {
    double value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if (!std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace

WorldPlant::WorldPlant(Stage& stage, const Scenario& scenario) : stage_(stage), state_(stage.world().make_state()) {
  const world::World& world = stage.world();
  for (std::uint32_t i = 0; i < stage.sensors().size(); ++i) add_sensor(i);
  for (const auto& [robot, section] : scenario.robots) add_body(robot, section);
  for (std::uint32_t i = 0; i < world.actuators().size(); ++i) {
    add({world.actuators()[i].name, "float64", sizeof(double), true, true}, Kind::actuator, i);
  }
  for (std::uint32_t i = 0; i < world.sensors().size(); ++i) {
    const std::size_t n = world.sensors()[i].dimensions;
    add({world.sensors()[i].name, array_type(n), n * sizeof(double), true, false}, Kind::sensor, i);
  }
}

void WorldPlant::add_sensor(std::uint32_t index) {
  const world::Sensor& sensor = stage_.sensors()[index];
  const std::string name = sensor.spec().robot + "/" + sensor.spec().name;
  if (const auto plain = plain_type(sensor.spec(), stage_.catalog())) {
    return add({name, plain->name, plain->size, true, false}, Kind::reading, index);
  }
  for (std::uint32_t output = 0; output < sensor.outputs().size(); ++output) {
    const world::Output& o = sensor.outputs()[output];
    add({o.name.empty() ? name : name + "/" + o.name, o.message_name, sensor.largest(output), true, false, true},
        Kind::reading, index);
    sources_.back().output = output;
  }
}

/// A robot without a body of its own acts through actuators only. A sensor named `pose` is what its programs see of it.
void WorldPlant::add_body(const std::string& robot, const RobotSection& section) {
  const std::string& name = section.body.empty() ? robot : section.body;
  const world::Catalog& catalog = stage_.world().catalog();
  const auto body = catalog.body(name);
  if (!body && section.body.empty()) return;
  if (!body) {
    throw InputError(section.place_of("body"), "the model has no body `" + name + "`",
                     nearest_hint(name, catalog.bodies));
  }
  if (!has(robot + "/pose")) {
    add({robot + "/pose", message_name<Motion>(), sizeof(Motion), true, false}, Kind::pose, *body);
  }
  if (!has(robot + "/wrench")) {
    add({robot + "/wrench", message_name<Wrench>(), sizeof(Wrench), true, true}, Kind::wrench, *body);
  }
}

bool WorldPlant::has(const std::string& name) const {
  return std::any_of(variables_.begin(), variables_.end(), [&](const auto& v) { return v.name == name; });
}

void WorldPlant::add(coordinator::Variable variable, Kind kind, std::uint32_t index) {
  variables_.push_back(std::move(variable));
  sources_.push_back({kind, index, {}, 0});
}

Result<Done, std::string> WorldPlant::advance_to(SimTime t) {
  while (time() + stage_.step() <= t) {
    if (auto stepped = stage_.take_step(); !stepped.ok()) return stepped;
  }
  stage_.world().read(state_);
  return done();
}

SimTime WorldPlant::asked(std::uint32_t variable, SimTime at) {
  const Source& source = sources_[variable];
  if (source.kind != Kind::reading) return at;
  world::Sensor& sensor = stage_.sensors()[source.index];
  const bool at_once = sensor.spec().period > SimSpan::zero() && sensor.spec().acquire == SimSpan::zero();
  return at_once ? at : sensor.ask(at);
}

coordinator::Sample WorldPlant::sample(std::uint32_t variable, SimTime at, std::span<std::byte> room) {
  const Source& source = sources_[variable];
  stage_.look(at);
  const world::Reading* reading = stage_.sensors()[source.index].latest_at(at);
  if (reading == nullptr) return {};
  const auto bytes = reading->bytes(source.output);
  std::copy(bytes.begin(), bytes.end(), room.begin());
  return {bytes.size(), reading->taken()};
}

void WorldPlant::read(std::uint32_t variable, SimTime at, std::span<std::byte> value) {
  const Source& source = sources_[variable];
  switch (source.kind) {
    case Kind::pose: {
      const world::Motion& m = state_.bodies[source.index];
      const Motion motion{m.pose.position, m.pose.orientation, m.linear, m.angular};
      std::memcpy(value.data(), &motion, sizeof motion);
      break;
    }
    case Kind::wrench:
      std::memcpy(value.data(), &source.held, sizeof source.held);
      break;
    case Kind::actuator:
      std::memcpy(value.data(), &state_.commands[source.index], sizeof(double));
      break;
    case Kind::sensor:
      std::memcpy(value.data(), &state_.sensors[stage_.world().sensor_at(source.index)], value.size());
      break;
    case Kind::reading: {
      stage_.look(at);
      const world::Sensor& sensor = stage_.sensors()[source.index];
      world::fill_plain(sensor.spec().type, sensor.latest_at(at), value);
      break;
    }
  }
}

Result<Done, std::string> WorldPlant::check(std::uint32_t variable, std::span<const std::byte> value) const {
  if (all_finite(value)) return done();
  return fail(variables_[variable].name + ": the value is not a number");
}

void WorldPlant::write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) {
  Source& source = sources_[variable];
  if (source.kind == Kind::wrench) {
    std::memcpy(&source.held, value.data(), sizeof source.held);
    const auto pushed = stage_.world().push(source.index, {source.held.force, source.held.torque});
    ENSURE(pushed.ok(), "a wrench that passed check() was refused");
  } else if (source.kind == Kind::actuator) {
    double command = 0;
    std::memcpy(&command, value.data(), sizeof command);
    // A command that finds its delay line full is the program's own flood; the last one holds.
    (void)stage_.command(source.index, at, command).ok();
  }
}

}  // namespace isochron
