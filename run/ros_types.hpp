#pragma once
// The message types that a scenario may exchange with ROS, by name.

#include <string>
#include <vector>

#include "msg/ros_command_messages.hpp"

namespace isochron::ros_types {

template <class... M>
struct List {};
using All = List<std_msgs::Bool, std_msgs::Int32, std_msgs::Float64, std_msgs::String, std_msgs::Float64MultiArray,
                 geometry_msgs::Vector3, geometry_msgs::Point, geometry_msgs::Pose, geometry_msgs::PoseStamped,
                 geometry_msgs::PointStamped, geometry_msgs::Twist, geometry_msgs::TwistStamped, geometry_msgs::Wrench,
                 geometry_msgs::WrenchStamped, geometry_msgs::TransformStamped, sensor_msgs::Imu,
                 sensor_msgs::NavSatFix, sensor_msgs::Range, sensor_msgs::LaserScan, sensor_msgs::PointCloud2,
                 sensor_msgs::Image, sensor_msgs::JointState, nav_msgs::Odometry, nav_msgs::Path, tf2_msgs::TFMessage>;

/// ROS 1 leaves out what ROS 2 has in the middle: sensor_msgs/msg/Imu is sensor_msgs/Imu.
inline std::string ros1_name(std::string name) {
  const auto middle = name.find("/msg/");
  return middle == std::string::npos ? name : name.replace(middle, 5, "/");
}
template <Message M>
std::string ros1_name() {
  return ros1_name(std::string(message_name<M>()));
}

/// Calls f with a null pointer to the type of that name, ROS 1 or 2; false if there is none.
template <class F>
bool with_type(const std::string& name, F&& f) {
  const auto try_one = [&]<class M>(const M* none) {
    const bool match = ros1_name<M>() == ros1_name(name);
    if (match) f(none);
    return match;
  };
  return [&]<class... M>(List<M...>) { return (try_one(static_cast<const M*>(nullptr)) || ...); }(All{});
}

inline std::vector<std::string> names() {
  return []<class... M>(List<M...>) { return std::vector<std::string>{ros1_name<M>()...}; }(All{});
}

/// Calls f(path, value) for every number in a message: linear.x, data[2].
template <class T, class F>
void for_each_number(const T& value, const std::string& path, F& f) {
  if constexpr (std::is_arithmetic_v<T>) {
    f(path, value);
  } else if constexpr (is_std_array<T>::value || is_std_vector<T>::value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      for_each_number<typename T::value_type>(value[i], path + "[" + std::to_string(i) + "]", f);
    }
  } else if constexpr (Message<T>) {
    for_each_field(value, [&](const char* name, const auto& field) {
      for_each_number(field, path.empty() ? std::string(name) : path + "." + name, f);
    });
  }
}

}  // namespace isochron::ros_types
