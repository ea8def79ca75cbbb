#pragma once
// Ordinary nodes of ROS among the others: publishes flows and variables of the world on topics, publishes /clock, and
// turns what nodes of ROS say into messages and commands. Which ROS it is, is the wire's (ros_wire.hpp); how it takes
// part in the run, that of who has it: a node of flows (ros_node.hpp), or somebody at the desk (ros_post.hpp).
//
//     flow ────────── heard() ─┐              ┌─► /odom, /imu, /clock …
//     the world at t ── tick() ┼─► RosBridge ─┤                              (the middleware's own threads from here on)
//     Taker  ◄─── took, write ─┘              └── /cmd_vel, /goal
//
// What is published follows the run's order. What comes from ROS comes when it comes: it is taken in at the next tick,
// stamped with that time, and recorded as such. So a run with subscriptions is recorded, but does not repeat.
//
// Promises: at a tick of time t everything up to t has been published before /clock says t. A subscription keeps the
//           last `depth` messages between two ticks, as ROS does; how many were dropped is told.
// Requires: open() before the first tick, close() after the last.
// Fails:    a wrong name or type: InputError, placed. Bytes that are no message of the type are dropped and told.
// Threads:  its owner's; those of the middleware come in through a queue.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "msg/ros_service_messages.hpp"
#include "run/ros_commands.hpp"
#include "run/ros_wire.hpp"

namespace isochron {

/// The world that a bridge looks at; null where there is none.
struct RosEyes {
  Stage* stage = nullptr;
  WorldPlant* plant = nullptr;
};

/// A flow that can be published, and what it carries; `message`: a type with a definition.
struct RosFlow {
  std::string name, type;  // "prey/imu.reading", "sensor_msgs/msg/Imu"
  bool message = true;
};

class RosBridge {
 public:
  /// What comes of a tick.
  class Taker {
   public:
    virtual ~Taker() = default;
    virtual void took(std::size_t subscription, SimTime at, std::span<const std::byte> cdr) = 0;
    virtual void write(std::uint32_t variable, SimTime at, std::span<const double> values) = 0;
    /// A line for the journal, of log_type().
    virtual void said(SimTime at, std::span<const std::byte> log) = 0;
  };

  /// `scenario` and what `eyes` see outlive it.
  RosBridge(const Scenario& scenario, const RosPart& part, const std::vector<RosFlow>& flows, RosEyes eyes);
  ~RosBridge();

  /// Entries that publish a flow, and which; whoever has the flow tells heard() of it, by the place in this list.
  struct Heard {
    std::string entry, flow;
  };
  [[nodiscard]] const std::vector<Heard>& flows() const { return heard_; }
  struct Subscription {
    std::string name;  // of the entry
    const flow::PayloadType* type;
    SimSpan delay;
  };
  [[nodiscard]] const std::vector<Subscription>& subscriptions() const { return subscriptions_; }
  [[nodiscard]] const flow::PayloadType& log_type() const;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] SimSpan every() const { return section_.every; }

  /// Opens the wire, and waits for those who are awaited, or until the run is stopped. What is given outlives it.
  void open(RunWatch& watch, Clock& clock);
  void close();
  /// A message of a flow, which `fill` writes as CDR.
  void heard(std::size_t flow, std::size_t size, const RosWire::Fill& fill);
  /// `ahead`: of the time of the plant that it looks at.
  void tick(SimTime now, Taker& taker, SimSpan ahead = SimSpan::zero());
  /// For services: where robots are now.
  void show_robots(SimTime now, SimSpan ahead = SimSpan::zero());

 private:
  struct Publication {
    std::string topic, type;
    ros2::Qos qos;
    std::uint32_t awaited = 0;
    std::function<void(SimTime now, SimSpan ahead)> at_tick = {};  // of a variable
    std::optional<sensor_msgs::CameraInfo> info = {};              // of a camera's picture: published with it
    std::size_t info_publication = 0;
    std::size_t handle = 0;
    bool late = false;  // that a reader is too slow was told
  };
  struct Inbox {
    std::string topic, type;
    ros2::Qos qos;
    std::uint32_t awaited = 0;
    RosCommands commands;
    std::size_t handle = 0;
    std::deque<std::vector<std::byte>> arrived = {};  // since the last tick
    std::uint64_t dropped = 0;                        // since the run began
  };

  void add_flow(const std::string& name, const Ros2PublishSection& section, const std::vector<RosFlow>& flows);
  void add_variable(const std::string& name, const Ros2PublishSection& section);
  void add_subscription(const std::string& name, const Ros2SubscribeSection& section);
  std::size_t add_publication(const std::string& topic, const std::string& type, const Ros2PublishSection& section);
  WorldPlant& plant(const Place& place);
  void find_robots();
  void await_others();
  template <Message M>
  void say(std::size_t publication, const M& message);
  void send(Publication& publication, std::size_t size, const RosWire::Fill& fill);
  void came(Inbox& inbox, std::span<const std::byte> cdr);
  void deliver(std::size_t subscription, const std::vector<std::byte>& cdr, SimTime now, Taker& taker);
  void news(const std::string& what);
  void tell(const std::string& what, SimTime now, Taker& taker);

  const Scenario& scenario_;
  std::string name_, others_;
  Ros2Section section_;
  RosEyes eyes_;
  std::unique_ptr<RosWire> wire_;
  std::vector<Heard> heard_;
  std::vector<std::size_t> of_flow_;  // the publication of each
  std::vector<Publication> publications_;
  std::vector<Subscription> subscriptions_;
  std::deque<Inbox> inboxes_;  // of each subscription
  std::optional<std::size_t> clock_, static_;
  SimSpan clock_every_;
  std::vector<std::pair<std::string, std::uint32_t>> poses_;  // of robots: the variable
  RobotStates robots_;
  std::vector<RobotStates::State> shown_;
  RunWatch* watch_ = nullptr;
  Clock* wall_ = nullptr;
  bool open_ = false;
  std::mutex mutex_;  // of what arrived, and of news_
  std::set<std::string> told_;
  std::vector<std::string> news_;
};

}  // namespace isochron
