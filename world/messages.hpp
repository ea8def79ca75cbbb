#pragma once
// How a world's state goes into the journal: in the layouts of ROS 2, so that Foxglove shows the bodies as transforms
// and plots joints without being told anything. The field names and their order are those of the ROS definitions.
//
// Cost: the fill_ functions do not allocate once a message has been filled.

#include <string>
#include <vector>

#include "core/message.hpp"
#include "world/engine.hpp"
#include "world/state.hpp"

namespace isochron::world::view {

struct Header {
  SimTime stamp;
  std::string frame_id;
};
ISOCHRON_MESSAGE(Header, "std_msgs/msg/Header", stamp, frame_id)

struct Vector3 {
  double x = 0, y = 0, z = 0;
};
ISOCHRON_MESSAGE(Vector3, "geometry_msgs/msg/Vector3", x, y, z)

struct Quaternion {
  double x = 0, y = 0, z = 0, w = 1;
};
ISOCHRON_MESSAGE(Quaternion, "geometry_msgs/msg/Quaternion", x, y, z, w)

struct Transform {
  Vector3 translation;
  Quaternion rotation;
};
ISOCHRON_MESSAGE(Transform, "geometry_msgs/msg/Transform", translation, rotation)

struct TransformStamped {
  Header header;
  std::string child_frame_id;
  Transform transform;
};
ISOCHRON_MESSAGE(TransformStamped, "geometry_msgs/msg/TransformStamped", header, child_frame_id, transform)

/// Where every body is, each under its own name, in the frame `world`.
struct TFMessage {
  std::vector<TransformStamped> transforms;
};
ISOCHRON_MESSAGE(TFMessage, "tf2_msgs/msg/TFMessage", transforms)

/// Hinges and slides; effort is left empty, as ROS allows.
struct JointState {
  Header header;
  std::vector<std::string> name;
  std::vector<double> position;
  std::vector<double> velocity;
  std::vector<double> effort;
};
ISOCHRON_MESSAGE(JointState, "sensor_msgs/msg/JointState", header, name, position, velocity, effort)

}  // namespace isochron::world::view

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
void fill(view::TFMessage& message, const State& state, const Catalog& catalog);
void fill(view::JointState& message, const State& state, const Catalog& catalog);

}  // namespace isochron::world
