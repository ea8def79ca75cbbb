#pragma once
// What a variable of the world says as a message of ROS, in one of the types that suit it. For the bridges to ROS 1 and
// ROS 2.

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "msg/robot_types.hpp"
#include "programs/plant.hpp"
#include "run/ros_types.hpp"
#include "world/geometry.hpp"

namespace isochron::ros_variables {

inline geometry_msgs::Vector3 vector3(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }

inline geometry_msgs::Pose pose_of(const Motion& m) {
  return {{m.position[0], m.position[1], m.position[2]},
          {m.orientation[1], m.orientation[2], m.orientation[3], m.orientation[0]}};
}

/// ROS has an odometry's velocities in the body's own frame.
inline geometry_msgs::Twist twist_in_body(const Motion& m) {
  const world::Quat back = world::conjugate(m.orientation);
  return {vector3(world::rotate(back, m.linear)), vector3(world::rotate(back, m.angular))};
}

/// What a variable of the world's says, in one of the types that suit it.
struct Subject {
  std::string about, frame;  // whose it is, and in which frame
  SimTime now;
  std::span<const double> values;
  [[nodiscard]] std_msgs::Header header() const { return {now, frame}; }
  [[nodiscard]] Motion motion() const { return of<Motion>(); }
  [[nodiscard]] Wrench wrench() const { return of<Wrench>(); }

 private:
  template <class T>
  [[nodiscard]] T of() const {
    T value;
    std::memcpy(static_cast<void*>(&value), values.data(), sizeof value);
    return value;
  }
};

inline void fill(nav_msgs::Odometry& out, const Subject& s) {
  out = {s.header(), s.about, {pose_of(s.motion()), {}}, {twist_in_body(s.motion()), {}}};
}
inline void fill(tf2_msgs::TFMessage& out, const Subject& s) {
  const geometry_msgs::Pose pose = pose_of(s.motion());
  out.transforms = {{s.header(), s.about, {{pose.position.x, pose.position.y, pose.position.z}, pose.orientation}}};
}
inline void fill(geometry_msgs::PoseStamped& out, const Subject& s) { out = {s.header(), pose_of(s.motion())}; }
inline void fill(geometry_msgs::Pose& out, const Subject& s) { out = pose_of(s.motion()); }
inline void fill(geometry_msgs::TwistStamped& out, const Subject& s) {
  out = {s.header(), {vector3(s.motion().linear), vector3(s.motion().angular)}};
}
inline void fill(geometry_msgs::Twist& out, const Subject& s) {
  out = {vector3(s.motion().linear), vector3(s.motion().angular)};
}
inline void fill(geometry_msgs::WrenchStamped& out, const Subject& s) {
  out = {s.header(), {vector3(s.wrench().force), vector3(s.wrench().torque)}};
}
inline void fill(geometry_msgs::Wrench& out, const Subject& s) {
  out = {vector3(s.wrench().force), vector3(s.wrench().torque)};
}
inline void fill(std_msgs::Float64& out, const Subject& s) { out.data = s.values[0]; }
inline void fill(std_msgs::Float64MultiArray& out, const Subject& s) {
  out.data.assign(s.values.begin(), s.values.end());
}
inline void fill(geometry_msgs::Vector3& out, const Subject& s) { out = {s.values[0], s.values[1], s.values[2]}; }

/// The types that suit a variable, the best first.
inline std::vector<std::string> types_for(const programs::Variable& variable) {
  using namespace ros_types;
  if (variable.type == message_name<Motion>()) {
    return {ros1_name<nav_msgs::Odometry>(),   ros1_name<geometry_msgs::PoseStamped>(),
            ros1_name<geometry_msgs::Pose>(),  ros1_name<geometry_msgs::TwistStamped>(),
            ros1_name<geometry_msgs::Twist>(), ros1_name<tf2_msgs::TFMessage>()};
  }
  if (variable.type == message_name<Wrench>()) {
    return {ros1_name<geometry_msgs::WrenchStamped>(), ros1_name<geometry_msgs::Wrench>()};
  }
  if (!variable.type.starts_with("float64")) return {};
  std::vector<std::string> all{ros1_name<std_msgs::Float64MultiArray>()};
  if (variable.size == sizeof(double)) all.insert(all.begin(), ros1_name<std_msgs::Float64>());
  if (variable.size == 3 * sizeof(double)) all.push_back(ros1_name<geometry_msgs::Vector3>());
  return all;
}

inline std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace isochron::ros_variables
