#pragma once
// How a world's state goes into the journal: in the layouts of ROS 2, so that Foxglove shows the bodies as transforms
// and plots joints without being told anything.
//
// Cost: the fill_ functions do not allocate once a message has been filled.

#include <vector>

#include "msg/ros_messages.hpp"
#include "world/engine.hpp"
#include "world/state.hpp"

namespace isochron::world {

/// Everything in a State as it is: what a digest is made of, and what replay compares.
struct WorldState {
  SimTime stamp;
  std::uint64_t branch = 0;
  std::vector<double> bodies;  // 13 each: position, orientation (w x y z), linear and angular velocity
  std::vector<double> positions;
  std::vector<double> velocities;
  std::vector<double> sensors;
  std::vector<double> commands;
};
ISOCHRON_MESSAGE(WorldState, "isochron_msgs/msg/WorldState", stamp, branch, bodies, positions, velocities, sensors,
                 commands)

void fill(WorldState& message, const State& state);
void fill(tf2_msgs::TFMessage& message, const State& state, const Catalog& catalog);
void fill(sensor_msgs::JointState& message, const State& state, const Catalog& catalog);

}  // namespace isochron::world
