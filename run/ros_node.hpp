#pragma once
// The bridge to nodes of ROS as a node of flows, called `ros` or `ros2`: beside `nodes`, and wherever the world is one of
// them.
//
//     world.snapshot, robot/lidar.reading, … ─► ros2 ─► ros2.writes ─► world
//                                                └────► ros2.goal ─► a node
//
// It hears the world, and flows, in their order; a tick comes after everything of its time.
//
// Fails:    a wrong name or type: InputError, placed. Nobody to talk to: when the run starts.
// Threads:  the node's own.

#include "flow/dynamic_node.hpp"
#include "flow/graph.hpp"
#include "run/flow_plan.hpp"
#include "run/ros_bridge.hpp"
#include "run/world_nodes.hpp"

namespace isochron {

class RosNode final : public flow::DynamicNode, private RosBridge::Taker {
 public:
  /// `graph` has all other nodes. Without an outside it can be checked, not run.
  RosNode(const Scenario& scenario, const RosPart& part, const flow::Graph& graph, const PlanOutside* outside);

  void start(SimTime now) override;
  void finish(SimTime now) override;

 private:
  void saw(const WorldSnapshot& snapshot) { mirror_->show(snapshot); }
  void heard(std::uint32_t input, const void* payload, SimTime t) override;
  void fill(std::uint32_t, void*, SimTime) override {}
  void tick(Tick& tick, SimTime now);
  void took(std::size_t subscription, SimTime at, std::span<const std::byte> cdr) override;
  void write(std::uint32_t variable, SimTime at, std::span<const double> values) override;
  void said(SimTime at, std::span<const std::byte> log) override;

  const PlanOutside* outside_;
  std::unique_ptr<WorldMirror> mirror_;  // null: there is no world
  RosBridge bridge_;
  std::vector<std::uint32_t> writables_;  // of the mirror's plant
  std::optional<flow::Event<WorldWrites>> writes_;
  std::uint32_t first_ = 0;  // the output of the first subscription
  std::uint32_t log_ = 0;
};

}  // namespace isochron
