#include "run/world_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "run/coordinator_specs.hpp"
#include "run/sumo_nodes.hpp"
#include "scenario/timed_faults.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

/// The scenario with the sensors that `keep` wants, of all robots.
template <class Keep>
Scenario with_sensors(Scenario scenario, Keep&& keep) {
  for (auto& [robot, section] : scenario.robots) {
    std::erase_if(section.sensors, [&, &name = robot](const auto& sensor) { return !keep(name, sensor.first); });
  }
  return scenario;
}

Scenario without_sensors(const Scenario& scenario) {
  return with_sensors(scenario, [](const auto&, const auto&) { return false; });
}

std::span<const std::byte> bytes_of(const double* values, std::size_t count) {
  return std::as_bytes(std::span(values, count));
}

}  // namespace

SimSpan view_every(SimSpan step) { return step * std::max<std::int64_t>((SimSpan(10ms) + step - 1ns) / step, 1); }

std::uint32_t variable_of(const WorldPlant& plant, const std::string& name, const Place& place) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < plant.variables().size(); ++i) {
    if (plant.variables()[i].name == name) return i;
    names.push_back(plant.variables()[i].name);
  }
  throw InputError(place, "the world has no `" + name + "`", nearest_hint(name, names));
}

std::vector<std::uint32_t> writables_of(const programs::Plant& plant) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < plant.variables().size(); ++i) {
    if (plant.variables()[i].writable) all.push_back(i);
  }
  return all;
}

WorldMirror::WorldMirror(const Scenario& scenario) : stage_(scenario), plant_(stage_, scenario) {
  stage_.plan_faults(planned_marks(scenario));
}

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
  add_traffic(scenario);
  const SimSpan step = stage_.step();
  output<&WorldNode::snapshot>("snapshot", flow::every(step));
  output<&WorldNode::state>("state", flow::every(step));
  output<&WorldNode::transforms>("tf", flow::every(view_every(step)));
  output<&WorldNode::joints>("joints", flow::every(view_every(step)));
  if (std::vector<Mark> marks = planned_marks(scenario); !marks.empty()) {
    marks_ = event<Mark>("marks", SimSpan::zero());  // a world that nothing is done to has the flows it always had
    stage_.plan(std::move(marks));
  }
}

void WorldNode::add_driven(const std::string& actuator, const Place& place) {
  driven_.push_back(variable_of(plant_, actuator, place));
  const programs::Variable& variable = plant_.variables()[driven_.back()];
  if (!variable.writable || variable.size != sizeof(double)) {
    throw InputError(place, "`" + actuator + "` is no actuator that takes one number");
  }
  input<&WorldNode::driven>(actuator);
}

void WorldNode::add_traffic(const Scenario& scenario) {
  std::optional<SimSpan> period;
  for (const auto& [name, node] : scenario.nodes) {
    if (!node.sumo) continue;
    traffic_.emplace_back(scenario, name, stage_.world());
    input<&WorldNode::heard_traffic>(name);
    const SimSpan step = sumo_step(node);
    period = period ? std::min(*period, step) : step;
  }
  if (period) output<&WorldNode::ours>("ours", flow::every(*period));
}

void WorldNode::heard_traffic(const AgentStates& states, SimTime, flow::InputId input) {
  traffic_[input.index - writers_ - driven_.size()].hear(states);
}

void WorldNode::ours(AgentStates& out, SimTime now) {
  advance(now);
  out = {now, {}};
  for (const TrafficBodies& traffic : traffic_) traffic.add_ours(out);
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
    for (TrafficBodies& traffic : traffic_) traffic.place(stage_.world().time() + stage_.step());
    if (const auto stepped = stage_.take_step(); !stepped.ok()) throw std::runtime_error(stepped.error());
    for (const Mark& done : stage_.take_done()) marks_->fill(now, [&](Mark& mark) { mark = done; });
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
  if (mirror_.stage().faults().blind_since(sensor_.full_name(), reading->available())) return;
  for (std::size_t i = 0; i < senders_.size(); ++i) senders_[i](*reading, i);
}

}  // namespace isochron
