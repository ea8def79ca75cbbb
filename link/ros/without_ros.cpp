// What stands in for ros_graph.cpp and ros_port.cpp in a build without ROS 1: scenarios that want it were refused at
// their place before; whoever comes here by another way is told the same.

#include "core/build_parts.hpp"
#include "link/ros/ros_graph.hpp"
#include "link/ros/ros_port.hpp"

namespace isochron::link {

std::vector<std::string> RosGraph::types() { return {}; }

std::unique_ptr<RosGraph> RosGraph::open(const std::string&, bool) {
  need_part("ROS 1", {});
  return nullptr;
}

std::unique_ptr<RosPort> RosPort::open(const std::string&, const std::string&, const std::vector<std::string>&) {
  need_part("ROS 1", {});
  return nullptr;
}

}  // namespace isochron::link
