#pragma once
// What robot software tells others to do, and where it believes to be, in the layouts of ROS: plain values, velocities,
// forces, odometry. The companions of ros_messages.hpp for flows that meet ROS nodes (docs/ros.md).

#include "msg/ros_messages.hpp"

namespace isochron::std_msgs {

struct Bool {
  bool data = false;
};
ISOCHRON_MESSAGE(Bool, "std_msgs/msg/Bool", data)

struct Int32 {
  std::int32_t data = 0;
};
ISOCHRON_MESSAGE(Int32, "std_msgs/msg/Int32", data)

struct Float64 {
  double data = 0;
};
ISOCHRON_MESSAGE(Float64, "std_msgs/msg/Float64", data)

struct String {
  std::string data;
};
ISOCHRON_MESSAGE(String, "std_msgs/msg/String", data)

struct MultiArrayDimension {
  std::string label;
  std::uint32_t size = 0;
  std::uint32_t stride = 0;
};
ISOCHRON_MESSAGE(MultiArrayDimension, "std_msgs/msg/MultiArrayDimension", label, size, stride)

struct MultiArrayLayout {
  std::vector<MultiArrayDimension> dim;
  std::uint32_t data_offset = 0;
};
ISOCHRON_MESSAGE(MultiArrayLayout, "std_msgs/msg/MultiArrayLayout", dim, data_offset)

struct Float64MultiArray {
  MultiArrayLayout layout;
  std::vector<double> data;
};
ISOCHRON_MESSAGE(Float64MultiArray, "std_msgs/msg/Float64MultiArray", layout, data)

}  // namespace isochron::std_msgs

namespace isochron::geometry_msgs {

struct PointStamped {
  std_msgs::Header header;
  Point point;
};
ISOCHRON_MESSAGE(PointStamped, "geometry_msgs/msg/PointStamped", header, point)

struct Twist {
  Vector3 linear;
  Vector3 angular;
};
ISOCHRON_MESSAGE(Twist, "geometry_msgs/msg/Twist", linear, angular)

struct TwistStamped {
  std_msgs::Header header;
  Twist twist;
};
ISOCHRON_MESSAGE(TwistStamped, "geometry_msgs/msg/TwistStamped", header, twist)

struct Wrench {
  Vector3 force;
  Vector3 torque;
};
ISOCHRON_MESSAGE(Wrench, "geometry_msgs/msg/Wrench", force, torque)

struct WrenchStamped {
  std_msgs::Header header;
  Wrench wrench;
};
ISOCHRON_MESSAGE(WrenchStamped, "geometry_msgs/msg/WrenchStamped", header, wrench)

struct PoseWithCovariance {
  Pose pose;
  std::array<double, 36> covariance{};
};
ISOCHRON_MESSAGE(PoseWithCovariance, "geometry_msgs/msg/PoseWithCovariance", pose, covariance)

struct TwistWithCovariance {
  Twist twist;
  std::array<double, 36> covariance{};
};
ISOCHRON_MESSAGE(TwistWithCovariance, "geometry_msgs/msg/TwistWithCovariance", twist, covariance)

}  // namespace isochron::geometry_msgs

namespace isochron::nav_msgs {

struct Odometry {
  std_msgs::Header header;
  std::string child_frame_id;
  geometry_msgs::PoseWithCovariance pose;
  geometry_msgs::TwistWithCovariance twist;
};
ISOCHRON_MESSAGE(Odometry, "nav_msgs/msg/Odometry", header, child_frame_id, pose, twist)

struct Path {
  std_msgs::Header header;
  std::vector<geometry_msgs::PoseStamped> poses;
};
ISOCHRON_MESSAGE(Path, "nav_msgs/msg/Path", header, poses)

}  // namespace isochron::nav_msgs
