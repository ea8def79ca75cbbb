#include "run/world_plant.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "world/sensors/plain_reading.hpp"

namespace isochron {
namespace {

std::string array_type(std::size_t n) { return n == 1 ? "float64" : "float64[" + std::to_string(n) + "]"; }

bool hangs_on(std::uint32_t body, std::uint32_t root, const std::vector<std::uint32_t>& parents) {
  while (body != root && parents[body] != body) body = parents[body];
  return body == root;
}

/// Numbers from here and there, one after the other.
void gather(const std::vector<double>& from, const std::vector<std::uint32_t>& where, std::span<std::byte> to) {
  for (std::size_t i = 0; i < where.size(); ++i) {
    std::memcpy(to.data() + i * sizeof(double), &from[where[i]], sizeof(double));
  }
}

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
  actuators_ = static_cast<std::uint32_t>(variables_.size());
  for (std::uint32_t i = 0; i < world.actuators().size(); ++i) {
    add({world.actuators()[i].name, "float64", sizeof(double), true, true}, Kind::actuator, i);
  }
  for (std::uint32_t i = 0; i < world.sensors().size(); ++i) {
    const std::size_t n = world.sensors()[i].dimensions;
    add({world.sensors()[i].name, array_type(n), n * sizeof(double), true, false}, Kind::sensor, i);
  }
  for (const auto& [robot, section] : scenario.robots) {
    const auto body = world.catalog().body(section.body.empty() ? robot : section.body);
    if (!body) continue;
    add_joints(robot, *body);
    add_motors(robot, *body);
  }
}

void WorldPlant::add_joints(const std::string& robot, std::uint32_t body) {
  const world::World& world = stage_.world();
  std::vector<std::uint32_t> positions, velocities, efforts;
  for (const world::JointInfo& joint : world.catalog().joints) {
    if (joint.positions != 1 || !hangs_on(joint.body, body, world.catalog().parents)) continue;
    positions.push_back(joint.position_at);
    velocities.push_back(joint.velocity_at);
    if (const auto motor = world.catalog().actuator(joint.name)) efforts.push_back(*motor);
  }
  const auto add_list = [&](const char* name, Kind kind, std::vector<std::uint32_t> list) {
    if (list.empty()) return;
    const std::size_t n = list.size();
    add({robot + "/" + name, "float64[" + std::to_string(n) + "]", n * sizeof(double), true, kind == Kind::efforts},
        kind, static_cast<std::uint32_t>(lists_.size()));
    lists_.push_back(std::move(list));
  };
  add_list("joint_positions", Kind::joint_positions, std::move(positions));
  add_list("joint_velocities", Kind::joint_velocities, std::move(velocities));
  add_list("efforts", Kind::efforts, std::move(efforts));
}

void WorldPlant::add_motors(const std::string& robot, std::uint32_t body) {
  const world::Multirotor* aircraft = stage_.aircraft().on(body);
  if (aircraft == nullptr) return;
  const std::uint32_t first = stage_.world().actuator(aircraft->name() + "/motor1");
  std::vector<std::uint32_t>& list = lists_.emplace_back(aircraft->rotors());
  std::iota(list.begin(), list.end(), first);
  add({robot + "/motors", "float64[" + std::to_string(list.size()) + "]", list.size() * sizeof(double), true, true},
      Kind::efforts, static_cast<std::uint32_t>(lists_.size() - 1));
}

void WorldPlant::add_sensor(std::uint32_t index) {
  const world::Sensor& sensor = stage_.sensors()[index];
  const std::string& name = sensor.full_name();
  if (const auto plain = plain_type(sensor.spec(), stage_.catalog())) {
    add({name, plain->name, plain->size, true, false}, Kind::reading, index);
    const auto more = plain_more(sensor.spec());
    if (!more) return;
    add({name + "/" + more->word, more->type.name, more->type.size, true, false}, Kind::reading, index);
    sources_.back().output = 1;
    return;
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

void WorldPlant::add(programs::Variable variable, Kind kind, std::uint32_t index) {
  variable.any_finite = variable.writable;  // everything that programs write is made of doubles; see check()
  variables_.push_back(std::move(variable));
  sources_.push_back({kind, index, {}, 0});
}

Result<Done, std::string> WorldPlant::advance_to(SimTime t) {
  while (time() + stage_.step() <= t) {
    if (auto stepped = stage_.take_step(); !stepped.ok()) return stepped;
  }
  refresh();
  return done();
}

SimTime WorldPlant::asked(std::uint32_t variable, SimTime at) {
  const Source& source = sources_[variable];
  if (source.kind != Kind::reading) return at;
  world::Sensor& sensor = stage_.sensors()[source.index];
  const bool at_once = sensor.spec().period > SimSpan::zero() && sensor.spec().acquire == SimSpan::zero();
  return at_once ? at : sensor.ask(at);
}

programs::Sample WorldPlant::sample(std::uint32_t variable, SimTime at, std::span<std::byte> room) {
  const Source& source = sources_[variable];
  stage_.look(at);
  const world::Reading* reading = stage_.reading(source.index, at);
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
      const auto fill = source.output == 0 ? world::fill_plain : world::fill_plain_more;
      fill(sensor.spec().type, stage_.reading(source.index, at), value);
      break;
    }
    case Kind::joint_positions:
      gather(state_.positions, lists_[source.index], value);
      break;
    case Kind::joint_velocities:
      gather(state_.velocities, lists_[source.index], value);
      break;
    case Kind::efforts:
      gather(state_.commands, lists_[source.index], value);
      break;
  }
}

SimTime WorldPlant::holds_until(std::uint32_t variable, SimTime at) const {
  const Source& source = sources_[variable];
  if (source.kind != Kind::reading) return SimTime::never();
  const world::Sensor& sensor = stage_.sensors()[source.index];
  const world::SensorSpec& spec = sensor.spec();
  const bool at_once = spec.period > SimSpan::zero() && spec.acquire == SimSpan::zero();
  if (!at_once || stage_.faults().blind_since(sensor.full_name(), at)) return at;
  return std::min(sensor.next_available(at), sensor.next_sample());
}

Result<Done, std::string> WorldPlant::check(std::uint32_t variable, std::span<const std::byte> value) const {
  if (all_finite(value)) return done();
  return fail(variables_[variable].name + ": the value is not a number");
}

void WorldPlant::write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) {
  Source& source = sources_[variable];
  if (source.kind == Kind::wrench) {
    if (stage_.faults().cut_off(variables_[variable].name, at)) return;
    std::memcpy(&source.held, value.data(), sizeof source.held);
    const auto pushed = stage_.world().push(source.index, {source.held.force, source.held.torque});
    ENSURE(pushed.ok(), "a wrench that passed check() was refused");
  } else if (source.kind == Kind::actuator) {
    double command = 0;
    std::memcpy(&command, value.data(), sizeof command);
    // A command that finds its delay line full is the program's own flood; the last one holds.
    (void)stage_.command(source.index, at, command).ok();
  } else if (source.kind == Kind::efforts) {
    for (std::size_t i = 0; i < lists_[source.index].size(); ++i) {
      double command = 0;
      std::memcpy(&command, value.data() + i * sizeof command, sizeof command);
      (void)stage_.command(lists_[source.index][i], at, command).ok();
    }
  }
}

}  // namespace isochron
