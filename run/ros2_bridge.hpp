#pragma once
// Nodes of ROS 2 among the others: a node of the system, called `ros2`, that publishes flows and variables of the world
// on topics, publishes /clock, and turns what nodes of ROS 2 say into flows and commands.
//
//     world.snapshot, robot/lidar.reading, … ─► ros2 ─► /odom, /scan, /tf, /clock …     (DDS from here on)
//     ros2.writes ─► world, ros2.goal ─► a node ◄─ ros2 ◄─ /cmd_vel, /goal
//
// What is published follows the flows' order. What comes from ROS 2 comes when it comes: it is taken in at the next
// tick, stamped with that time, and recorded as such. So a run with subscriptions is recorded, but does not repeat.
//
// Promises: at a tick of time t everything up to t has been published before /clock says t. A subscription keeps the
//           last `depth` messages between two ticks, as ROS does; how many were dropped is told.
// Fails:    a wrong name or type: InputError, placed. No such interface: when the run starts. Bytes that are no message
//           of the type are dropped and told.
// Threads:  the node's own; DDS's come in through a queue.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "bridge/ros2/checker.hpp"
#include "bridge/ros2/graph.hpp"
#include "bridge/ros2/types.hpp"
#include "flow/dynamic_node.hpp"
#include "flow/graph.hpp"
#include "run/flow_plan.hpp"
#include "run/ros2_commands.hpp"
#include "run/ros2_frames.hpp"
#include "run/ros2_services.hpp"
#include "run/world_nodes.hpp"

namespace isochron {

class Ros2Bridge final : public flow::DynamicNode {
 public:
  /// `graph` has all other nodes. Without an outside it can be checked, not run.
  Ros2Bridge(const Scenario& scenario, const flow::Graph& graph, const PlanOutside* outside);
  ~Ros2Bridge() override;

  /// Whether it needs an input of the world for what it writes.
  static bool writes(const Scenario& scenario);
  /// What the report of a run with nodes of ROS 2 has to say.
  static std::vector<std::string> notes(const Scenario& scenario);

  void start(SimTime now) override;
  void finish(SimTime now) override;

 private:
  struct Publication {
    std::string topic, type;
    ros2::Qos qos;
    std::uint32_t awaited = 0;
    const flow::PayloadType* payload = nullptr;        // of a flow
    std::function<void(SimTime now)> at_tick = {};     // of a variable
    std::optional<sensor_msgs::CameraInfo> info = {};  // of a camera's picture: published with it
    std::size_t info_publication = 0;
    std::size_t handle = 0;
    bool late = false;  // that a reader is too slow was told
  };
  struct Subscription {
    std::string topic, type;
    ros2::Qos qos;
    std::uint32_t awaited = 0;
    SimSpan delay;
    std::uint32_t output = 0;
    ros2::Checker checker;
    Ros2Commands commands;
    std::size_t handle = 0;
    std::deque<std::vector<std::byte>> arrived = {};  // since the last tick
    std::uint64_t dropped = 0;                        // since the run began
  };

  void add_flow(const std::string& name, const Ros2PublishSection& section, const flow::Graph& graph);
  void add_variable(const std::string& name, const Ros2PublishSection& section);
  void add_subscription(const std::string& name, const Ros2SubscribeSection& section);
  std::size_t add_publication(const std::string& topic, const std::string& type, const Ros2PublishSection& section);
  [[nodiscard]] std::string topic_of(const std::string& given, const std::string& name, const Section& section) const;
  WorldMirror& mirror(const Place& place);

  void saw(const WorldSnapshot& snapshot) { mirror_->show(snapshot); }
  void heard(std::uint32_t input, const void* payload, SimTime t) override;
  void fill(std::uint32_t, void*, SimTime) override {}
  void tick(Tick& tick, SimTime now);
  template <Message M>
  void say(std::size_t publication, const M& message);
  void send(Publication& publication, std::size_t size, const ros2::Graph::Fill& fill);
  void came(std::size_t subscription, std::span<const std::byte> cdr);
  void deliver(Subscription& subscription, const std::vector<std::byte>& cdr, SimTime now);
  void show_robots(SimTime now);
  void await_others();
  void news(const std::string& what);
  void tell(const std::string& what, SimTime now);

  const Scenario& scenario_;
  const Ros2Section& section_;
  const PlanOutside* outside_;
  ros2::Types types_;
  std::string node_;  // full name
  std::unique_ptr<WorldMirror> mirror_;
  std::vector<std::size_t> of_input_;  // the publication of each input, after the world's
  std::vector<Publication> publications_;
  std::deque<Subscription> subscriptions_;
  std::optional<std::size_t> clock_, static_;
  SimSpan clock_every_;
  std::optional<flow::Event<WorldWrites>> writes_;
  std::uint32_t log_ = 0;
  std::vector<std::pair<std::string, std::uint32_t>> poses_;  // of robots: the variable
  RobotStates robots_;
  std::vector<RobotStates::State> shown_;
  std::vector<std::byte> flat_;
  std::set<std::string> told_;
  std::mutex mutex_;  // of what arrived, and of news_
  std::vector<std::string> news_;
  std::unique_ptr<ros2::Graph> ros_;
};

}  // namespace isochron
