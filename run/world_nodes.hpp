#pragma once
// A scenario's world and sensors as nodes of a flow system. Its robots' computers are nodes too (run/robot_node.hpp).
//
//                      ┌─ snapshot ─► prey/imu (sensor) ── reading ──►  whoever listens
//     world (predictive, each step) ─► prey (robot) ────┐
//       ▲              └─ state, tf, joints             │ writes (events at the time they take effect)
//       └───────────────────────────────────────────────┘
//
// The world's state at t is a prediction: it needs all writes before t. A sensor that samples at s has seen the state
// at the last step not after s. So rings through the world always go on.
//
// Who looks at the world has a mirror: the same model, brought to the state that the snapshot says. It shares no memory
// with the world's own node and may be in another process.
//
// Promises: what sensors read is what callback mode gives them, bit for bit.
// Fails:    a world that diverges ends the run under its node's name.

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "flow/user_node.hpp"
#include "programs/compute.hpp"
#include "run/program_record.hpp"
#include "run/scene_messages.hpp"
#include "run/stage_senses.hpp"
#include "run/state_names.hpp"
#include "run/traffic_bodies.hpp"
#include "run/world_plant.hpp"
#include "world/controller.hpp"

namespace isochron {

/// All that a world made alike needs to be in the same state.
struct WorldSnapshot {
  std::vector<double> values;
};
ISOCHRON_MESSAGE(WorldSnapshot, "isochron_msgs/msg/WorldSnapshot", values)

/// Values for variables of the plant (world_plant.hpp), one after the other. A variable is its place among those that
/// can be written, which is the same whatever sensors a mirror has.
struct WorldWrites {
  std::vector<std::uint32_t> variables;
  std::vector<double> values;
};
ISOCHRON_MESSAGE(WorldWrites, "isochron_msgs/msg/WorldWrites", variables, values)

/// How often the flows tf and joints speak: a multiple of the step, 10 ms or more. A picture does not need more.
SimSpan view_every(SimSpan step);

/// The places of all variables that can be written.
std::vector<std::uint32_t> writables_of(const programs::Plant& plant);

/// What a node's own timer sends to nobody.
struct Tick {
  std::uint64_t number = 0;
};

/// A copy of the scenario's world that is shown where the real one is, with sensors that look as time passes.
class WorldMirror {
 public:
  explicit WorldMirror(const Scenario& scenario);
  void show(const WorldSnapshot& snapshot);
  [[nodiscard]] Stage& stage() { return stage_; }
  [[nodiscard]] world::World& world() { return stage_.world(); }
  [[nodiscard]] WorldPlant& plant() { return plant_; }

 private:
  Stage stage_;
  WorldPlant plant_;
  bool shown_ = false;
};

class WorldNode final : public flow::UserNode {
 public:
  /// `writers` have an input each, in this order; then one for each actuator that a node drives.
  WorldNode(const Scenario& scenario, const std::vector<std::string>& writers);

  /// One for each node that is traffic: an input of the node's name hears it; the output `ours` tells all of ours.
  [[nodiscard]] const std::deque<TrafficBodies>& traffic() const { return traffic_; }

  /// What the numbers of its output `state` are called.
  [[nodiscard]] mcap::TextMap names() const { return state_names(stage_.catalog()); }
  /// What it looks like.
  [[nodiscard]] scene::SceneUpdate scene() { return scene::scene_for_journal(stage_.world().engine()); }

 private:
  void add_driven(const std::string& actuator, const Place& place);
  void wrote(const WorldWrites& writes, SimTime at);
  void driven(const double& value, SimTime at, flow::InputId input);
  void add_traffic(const Scenario& scenario);
  void heard_traffic(const AgentStates& states, SimTime at, flow::InputId input);
  void ours(AgentStates& out, SimTime now);
  void snapshot(WorldSnapshot& out, SimTime now);
  void state(world::WorldState& out, SimTime now);
  void transforms(tf2_msgs::TFMessage& out, SimTime now);
  void joints(sensor_msgs::JointState& out, SimTime now);
  void advance(SimTime now);

  Stage stage_;
  WorldPlant plant_;
  world::State state_;
  std::vector<std::uint32_t> writables_;
  std::vector<std::uint32_t> driven_;  // the variable of each driven actuator
  std::size_t writers_;
  std::deque<TrafficBodies> traffic_;
  std::optional<flow::Event<Mark>> marks_;  // what was done to the world
};

class SensorNode final : public flow::UserNode {
 public:
  SensorNode(const Scenario& scenario, const std::string& robot, const std::string& name);

 private:
  using Send = std::function<void(const world::Reading&, std::size_t output)>;
  template <class M>
  Send sender(const std::string& name, SimSpan lookahead);
  Send make_sender(const world::Output& output, SimSpan lookahead);
  void saw(const WorldSnapshot& snapshot) { mirror_.show(snapshot); }
  void sample(Tick& tick);

  WorldMirror mirror_;
  world::Sensor& sensor_;
  std::vector<Send> senders_;
  flow::Input<WorldSnapshot> world_ = input<&SensorNode::saw>("world");
  flow::Output<Tick> sample_;
};

/// The variable of that name; throws InputError placed at `place` with the nearest one.
std::uint32_t variable_of(const WorldPlant& plant, const std::string& name, const Place& place);

}  // namespace isochron
