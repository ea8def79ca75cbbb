#include "world/messages.hpp"

#include <cstring>

namespace isochron::world {

void fill(WorldState& message, const State& state) {
  message.stamp = state.time;
  message.branch = state.branch;
  message.bodies.resize(state.bodies.size() * sizeof(Motion) / sizeof(double));
  if (!state.bodies.empty()) {
    std::memcpy(message.bodies.data(), static_cast<const void*>(state.bodies.data()),
                state.bodies.size() * sizeof(Motion));
  }
  message.positions = state.positions;
  message.velocities = state.velocities;
  message.sensors = state.sensors;
  message.commands = state.commands;
}

void fill(tf2_msgs::TFMessage& message, const State& state, const Catalog& catalog) {
  message.transforms.resize(catalog.bodies.size() - 1);
  for (std::size_t i = 0; i < message.transforms.size(); ++i) {
    geometry_msgs::TransformStamped& t = message.transforms[i];
    const Pose& pose = state.bodies[i + 1].pose;
    t.header.stamp = state.time;
    t.header.frame_id = "world";
    t.child_frame_id = catalog.bodies[i + 1];
    t.transform.translation = {pose.position[0], pose.position[1], pose.position[2]};
    t.transform.rotation = {pose.orientation[1], pose.orientation[2], pose.orientation[3], pose.orientation[0]};
  }
}

void fill(sensor_msgs::JointState& message, const State& state, const Catalog& catalog) {
  message.header.stamp = state.time;
  message.name.clear();
  message.position.clear();
  message.velocity.clear();
  for (const JointInfo& joint : catalog.joints) {
    if (joint.positions != 1) continue;
    message.name.push_back(joint.name);
    message.position.push_back(state.positions[joint.position_at]);
    message.velocity.push_back(state.velocities[joint.velocity_at]);
  }
}

}  // namespace isochron::world
