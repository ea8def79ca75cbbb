#pragma once
// What nodes of ROS 2 may ask a run for, as services of our node:
//
//     ~/pause, resume, step, query             std_srvs/Trigger; answers are JSON, as over ROS 1
//     ~/get_simulation_state and its like      simulation_interfaces, as far as they mean something here
//     ~/get_parameters and its like            rcl_interfaces: one parameter, use_sim_time
//
// Threads: answers are given on the graph's own thread, while the run goes on or stands still.

#include <string>
#include <vector>

#include "bridge/ros2/graph.hpp"
#include "run/ros_wire.hpp"

namespace isochron {

/// `node` is our node's full name, as in /isochron.
void serve_ros2(ros2::Graph& graph, const std::string& node, const RosHost& host, bool use_sim_time);
/// The request that sets use_sim_time.
std::vector<std::byte> use_sim_time_request();

}  // namespace isochron
