#pragma once
// What nodes of ROS 2 may ask a run for, as services of our node:
//
//     ~/pause, resume, step, query             std_srvs/Trigger; answers are JSON, as over ROS 1
//     ~/get_simulation_state and its like      simulation_interfaces, as far as they mean something here
//     ~/get_parameters and its like            rcl_interfaces: one parameter, use_sim_time
//
// Threads: answers are given on the graph's own thread, while the run goes on or stands still.

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bridge/ros2/graph.hpp"
#include "core/clock.hpp"
#include "msg/robot_types.hpp"
#include "run/run.hpp"

namespace isochron {

/// Where robots are, for whoever asks: set by the bridge at its ticks.
class RobotStates {
 public:
  struct State {
    std::string robot;
    Motion motion;
  };
  void set(SimTime now, std::vector<State>& states) {
    const std::lock_guard lock(mutex_);
    now_ = now;
    std::swap(states_, states);
  }
  [[nodiscard]] std::pair<SimTime, std::vector<State>> get() const {
    const std::lock_guard lock(mutex_);
    return {now_, states_};
  }

 private:
  mutable std::mutex mutex_;
  SimTime now_;
  std::vector<State> states_;
};

/// What they act on; outlives the graph.
struct Ros2Host {
  const Scenario& scenario;
  RunWatch& watch;
  Clock& clock;
  const RobotStates& robots;
  bool use_sim_time = true;
};

/// `node` is our node's full name, as in /isochron.
void serve_ros2(ros2::Graph& graph, const std::string& node, const Ros2Host& host);
/// The request that sets use_sim_time.
std::vector<std::byte> use_sim_time_request();

}  // namespace isochron
