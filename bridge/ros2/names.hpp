#pragma once
// How ROS 2's names stand in DDS.
//
//     topic   /robot/scan                      rt/robot/scan
//     service /isochron/pause                  rq/isochron/pauseRequest, rr/isochron/pauseReply
//     type    sensor_msgs/msg/LaserScan        sensor_msgs::msg::dds_::LaserScan_
//     type    std_srvs/srv/Trigger             std_srvs::srv::dds_::Trigger_Request_, …_Response_
//
// Fails: what is no name throws InputError that says why; whoever knows the place in a file adds it.

#include <string>
#include <string_view>

namespace isochron::ros2 {

/// "sensor_msgs/LaserScan" and "sensor_msgs/msg/LaserScan" are the latter.
std::string full_type_name(std::string_view name);

/// A name as a node in `space` means it: "/scan" is whole, "scan" is in the namespace, "~/scan" is below the node.
std::string full_name(std::string_view name, std::string_view space, std::string_view node);
/// "" and "/" are the root; else "/a/b".
std::string full_namespace(std::string_view space);
/// Letters, digits and _, not a digit first.
void check_node_name(std::string_view name);

std::string dds_topic(std::string_view full_name);
std::string dds_request(std::string_view full_name);
std::string dds_reply(std::string_view full_name);
/// Of a full type name; `suffix` is "", "_Request" or "_Response".
std::string dds_type(std::string_view type, std::string_view suffix = "");
/// The other way round, as people know it: "/scan", "std_msgs/msg/String"; what is no name of ROS's is left as it is.
std::string ros_topic(std::string_view dds_topic);
std::string ros_type(std::string_view dds_type);

}  // namespace isochron::ros2
