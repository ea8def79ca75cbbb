#pragma once
// Ordinary ROS nodes among the others: a node of the system, called `ros`, that publishes flows and variables of the
// world on ROS topics, publishes /clock, and turns what ROS nodes say into flows and commands.
//
//     world.snapshot, prey/imu.reading, … ─► ros ─► /odom, /imu, /clock …      (roscpp's own threads from here on)
//     ros.writes ─► world, ros.goal ─► a node ◄─ ros ◄─ /cmd_vel, /goal
//
// What is published follows the flows' order. What comes from ROS comes when it comes: it is taken in at the next tick,
// stamped with that time, and recorded as such. So a run with subscriptions is recorded, but does not repeat.
//
// Promises: at a tick of time t everything up to t has been published before /clock says t.
// Fails:    no master, a wrong name or type: InputError, the former when the run starts. A message with a number that
//           is not one is dropped and told.
// Threads:  the node's own; ROS's come in through a queue.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "flow/graph.hpp"
#include "flow/user_node.hpp"
#include "link/ros/ros_graph.hpp"
#include "run/flow_plan.hpp"
#include "run/world_nodes.hpp"

namespace isochron {

class RosBridge final : public flow::UserNode {
 public:
  /// `graph` has all other nodes. Without an outside it can be checked, not run.
  RosBridge(const Scenario& scenario, const flow::Graph& graph, const PlanOutside* outside);
  ~RosBridge() override;

  /// Whether it needs an input of the world for what it writes.
  static bool writes(const Scenario& scenario);
  /// What the report of a run with ROS nodes has to say.
  static std::vector<std::string> notes(const Scenario& scenario);

  void start(SimTime now) override;
  void finish(SimTime now) override;

 private:
  struct Publication {
    std::string topic, type;
    std::uint32_t awaited = 0;
    std::function<void(SimTime now)> at_tick = {};  // none: it is a flow
    std::size_t handle = 0;
  };
  struct Subscription {
    std::string topic, type;
    std::uint32_t awaited = 0;
    std::function<void(std::span<const std::byte>, SimTime now)> deliver = {};
    std::size_t handle = 0;
  };
  struct Arrived {
    std::size_t subscription;
    std::vector<std::byte> bytes;
  };

  void add_flow(const std::string& name, const RosPublishSection& section, const flow::Graph& graph);
  void add_variable(const std::string& name, const RosPublishSection& section);
  void add_subscription(const std::string& name, const RosSubscribeSection& section);
  template <class M>
  std::function<void(const M&, SimTime)> writer_for(const RosSubscribeSection& section);
  WorldMirror& mirror(const Place& place);

  template <class M>
  void heard(const M& message, SimTime at, flow::InputId input);
  void saw(const WorldSnapshot& snapshot) { mirror_->show(snapshot); }
  void tick(Tick& tick, SimTime now);
  template <class M>
  void publish(std::size_t publication, const M& message);
  void write(std::uint32_t writable, std::uint32_t variable, std::span<const double> values, SimTime at);
  void serve();
  void await_others();
  void came(std::size_t subscription, const void* data, std::size_t size);

  const Scenario& scenario_;
  const RosSection& section_;
  const PlanOutside* outside_;
  std::unique_ptr<WorldMirror> mirror_;
  std::vector<std::size_t> of_input_;  // the publication of each input, after the world's
  std::vector<Publication> publications_;
  std::vector<Subscription> subscriptions_;
  std::optional<flow::Event<WorldWrites>> writes_;
  std::vector<std::byte> bytes_;
  std::mutex mutex_;  // of arrived_
  std::deque<Arrived> arrived_;
  std::atomic<std::int64_t> now_ns_{0};
  std::unique_ptr<link::RosGraph> ros_;
};

}  // namespace isochron
