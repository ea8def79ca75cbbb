#include "scenario/world_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "scenario/coordinator_specs.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

constexpr SimSpan view_period = 10ms;  // a picture does not need more

/// The scenario with the sensors that `keep` wants, of all robots.
template <class Keep>
Scenario with_sensors(Scenario scenario, Keep&& keep) {
  for (auto& [robot, section] : scenario.robots) {
    std::erase_if(section.sensors, [&](const auto& sensor) { return !keep(robot, sensor.first); });
  }
  return scenario;
}

Scenario without_sensors(const Scenario& scenario) {
  return with_sensors(scenario, [](const auto&, const auto&) { return false; });
}

/// A multiple of the step that is at least the view's period.
SimSpan view_every(SimSpan step) { return step * std::max<std::int64_t>((view_period + step - 1ns) / step, 1); }

std::span<const std::byte> bytes_of(const double* values, std::size_t count) {
  return std::as_bytes(std::span(values, count));
}

coordinator::ProgramSpec cost_spec(const Scenario& scenario, const std::string& full_name,
                                   const ProgramSection& program) {
  coordinator::ProgramSpec spec;
  spec.compute = compute_of(scenario, program, full_name, true);
  spec.cpu_speed = program.cpu_speed.value_or(scenario.time.cpu_speed);
  if (std::holds_alternative<coordinator::RecordedCompute>(spec.compute)) {
    throw InputError(program.place, "the durations of a controller in a library cannot be replayed",
                     "use compute: zero or compute: {modelled: …}, or make it an executable with `run`");
  }
  return spec;
}

}  // namespace

std::uint32_t variable_of(const WorldPlant& plant, const std::string& name, const Place& place) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < plant.variables().size(); ++i) {
    if (plant.variables()[i].name == name) return i;
    names.push_back(plant.variables()[i].name);
  }
  throw InputError(place, "the world has no `" + name + "`", nearest_hint(name, names));
}

std::vector<std::uint32_t> writables_of(const coordinator::Plant& plant) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < plant.variables().size(); ++i) {
    if (plant.variables()[i].writable) all.push_back(i);
  }
  return all;
}

WorldMirror::WorldMirror(const Scenario& scenario) : stage_(scenario), plant_(stage_, scenario) {}

void WorldMirror::show(const WorldSnapshot& snapshot) {
  if (snapshot.values.size() != world().snapshot_size()) throw std::runtime_error("a snapshot of another world");
  // Whoever samples before the next state; the first is the one that the mirror has.
  if (shown_) stage_.look(world().time() + stage_.step() - SimSpan::from_ns(1));
  shown_ = true;
  world().restore(snapshot.values);
  (void)plant_.advance_to(world().time()).ok();  // takes no step: the plant looks at the state
}

WorldNode::WorldNode(const Scenario& scenario, const std::vector<std::string>& writers)
    : stage_(without_sensors(scenario)),
      plant_(stage_, scenario),
      state_(stage_.world().make_state()),
      writables_(writables_of(plant_)),
      writers_(writers.size()) {
  for (const std::string& writer : writers) input<&WorldNode::wrote>(writer);
  for (const auto& [node, section] : scenario.nodes) {
    for (const auto& [output, actuator] : section.drives) add_driven(actuator, section.place_of("drives"));
  }
  const SimSpan step = stage_.step();
  output<&WorldNode::snapshot>("snapshot", flow::every(step));
  output<&WorldNode::state>("state", flow::every(step));
  output<&WorldNode::transforms>("tf", flow::every(view_every(step)));
  output<&WorldNode::joints>("joints", flow::every(view_every(step)));
}

void WorldNode::add_driven(const std::string& actuator, const Place& place) {
  driven_.push_back(variable_of(plant_, actuator, place));
  const coordinator::Variable& variable = plant_.variables()[driven_.back()];
  if (!variable.writable || variable.size != sizeof(double)) {
    throw InputError(place, "`" + actuator + "` is no actuator that takes one number");
  }
  input<&WorldNode::driven>(actuator);
}

void WorldNode::wrote(const WorldWrites& writes, SimTime at) {
  const double* value = writes.values.data();
  for (const std::uint32_t writable : writes.variables) {
    const std::uint32_t variable = writables_.at(writable);
    const std::size_t count = plant_.variables()[variable].size / sizeof(double);
    plant_.write(variable, at, bytes_of(value, count));
    value += count;
  }
}

void WorldNode::driven(const double& value, SimTime at, flow::InputId input) {
  const std::uint32_t variable = driven_[input.index - writers_];
  if (const auto good = plant_.check(variable, bytes_of(&value, 1)); !good.ok()) throw std::runtime_error(good.error());
  plant_.write(variable, at, bytes_of(&value, 1));
}

/// Whichever output comes first at `now` takes the step.
void WorldNode::advance(SimTime now) {
  while (stage_.world().time() < now) {
    if (const auto stepped = stage_.take_step(); !stepped.ok()) throw std::runtime_error(stepped.error());
  }
  stage_.world().read(state_);
}

void WorldNode::snapshot(WorldSnapshot& out, SimTime now) {
  advance(now);
  out.values.resize(stage_.world().snapshot_size());
  stage_.world().snapshot(out.values);
}

void WorldNode::state(world::WorldState& out, SimTime now) {
  advance(now);
  fill(out, state_);
}

void WorldNode::transforms(tf2_msgs::TFMessage& out, SimTime now) {
  advance(now);
  fill(out, state_, stage_.world().catalog());
}

void WorldNode::joints(sensor_msgs::JointState& out, SimTime now) {
  advance(now);
  fill(out, state_, stage_.world().catalog());
}

SensorNode::SensorNode(const Scenario& scenario, const std::string& robot, const std::string& name)
    : mirror_(with_sensors(scenario, [&](const auto& r, const auto& s) { return r == robot && s == name; })),
      sensor_(mirror_.stage().sensors()[0]),
      sample_(output<&SensorNode::sample>("sample", flow::observes(sensor_.spec().period, sensor_.next_sample()))) {
  for (const world::Output& output : sensor_.outputs()) {
    senders_.push_back(make_sender(output, sensor_.spec().latency));
  }
}

template <class M>
SensorNode::Send SensorNode::sender(const std::string& name, SimSpan lookahead) {
  auto flow = event<M>(name, lookahead);
  return [flow](const world::Reading& reading, std::size_t output) mutable {
    flow.fill(reading.available(), [&](M& message) { (void)reading.decode(message, output); });
  };
}

/// Readings travel as the messages that they are, so that nodes with inputs of those types can listen.
SensorNode::Send SensorNode::make_sender(const world::Output& output, SimSpan lookahead) {
  const std::string name = output.name.empty() ? "reading" : output.name;
  Send made;
  const auto try_type = [&]<class M>(const M*) {
    if (!made && output.message_name == message_name<M>()) made = sender<M>(name, lookahead);
  };
  const auto try_all = [&]<class... M>(const M*... none) { (try_type(none), ...); };
  try_all(static_cast<const sensor_msgs::Imu*>(nullptr), static_cast<const sensor_msgs::NavSatFix*>(nullptr),
          static_cast<const sensor_msgs::Range*>(nullptr), static_cast<const sensor_msgs::LaserScan*>(nullptr),
          static_cast<const sensor_msgs::PointCloud2*>(nullptr), static_cast<const sensor_msgs::Image*>(nullptr),
          static_cast<const sensor_msgs::JointState*>(nullptr), static_cast<const geometry_msgs::PoseStamped*>(nullptr),
          static_cast<const isochron_msgs::ContactState*>(nullptr), static_cast<const isochron_msgs::Values*>(nullptr));
  ENSURE(made, "a sensor with a message that flows do not know");
  return made;
}

void SensorNode::sample(Tick& tick) {
  ++tick.number;
  const world::Reading* reading = sensor_.take(mirror_.stage().view());
  sample_.next_at(sensor_.next_sample());
  if (reading == nullptr) return;
  for (std::size_t i = 0; i < senders_.size(); ++i) senders_[i](*reading, i);
}

ControllerNode::ControllerNode(const Scenario& scenario, const std::string& robot, const std::string& name,
                               const ProgramSection& program)
    : name_(robot + "/" + name),
      every_(*program.every),
      due_(SimTime::zero() + program.offset),
      mirror_(scenario),
      senses_(mirror_.stage(), robot),
      controller_(world::load_controller(program.library.path,
                                         setup_of(scenario, robot, name, program, mirror_.world(), senses_))),
      state_(mirror_.world().make_state()),
      commands_(mirror_.world().actuators().size()),
      cost_(cost_spec(scenario, name_, program), name_),
      release_(output<&ControllerNode::release>("release", flow::observes(every_, due_))),
      writes_(event<WorldWrites>("writes", SimSpan::zero())),
      did_(event<ProgramEvent>("did", SimSpan::zero())) {
  const std::vector<std::uint32_t> writables = writables_of(mirror_.plant());
  for (const world::ActuatorInfo& actuator : mirror_.world().actuators()) {
    const std::uint32_t variable = variable_of(mirror_.plant(), actuator.name, program.place);
    const auto place = std::find(writables.begin(), writables.end(), variable);
    variables_.push_back(static_cast<std::uint32_t>(place - writables.begin()));
  }
}

/// As the coordinator releases programs: late means at once, and what was due in between never runs.
void ControllerNode::release(Tick& tick, SimTime now) {
  tick.number = ++releases_;
  mirror_.world().read(state_);
  commands_.clear();
  senses_.release_at(now);
  controller_->release(state_, commands_);
  (void)cost_.of_request(protocol::Ask::wait, false);
  const SimTime ready = now + cost_.of_request(protocol::Ask::write, false);
  say(now, "release", due_);
  send_writes(ready);
  const SimTime next = due_ + every_;
  if (ready > next) {
    due_ += every_ * ((ready - due_) / every_);
    release_.next_at(ready);
  } else {
    due_ = next;
    release_.next_at(next);
  }
}

void ControllerNode::send_writes(SimTime at) {
  if (commands_.written().empty()) return;
  for (const std::uint32_t actuator : commands_.written()) {
    const double value = commands_.value(actuator);
    if (!std::isfinite(value)) {
      throw std::runtime_error(mirror_.world().actuators()[actuator].name + ": the command is not a number");
    }
  }
  writes_.fill(at, [&](WorldWrites& writes) {
    writes.variables.clear();
    writes.values.clear();
    for (const std::uint32_t actuator : commands_.written()) {
      writes.variables.push_back(variables_[actuator]);
      writes.values.push_back(commands_.value(actuator));
    }
  });
  say(at, "write", at);
}

void ControllerNode::say(SimTime at, const char* what, SimTime stamp) {
  did_.fill(at, [&](ProgramEvent& event) { event = {at, what, "", stamp, {}}; });
}

}  // namespace isochron
