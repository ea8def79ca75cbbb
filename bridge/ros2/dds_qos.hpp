#pragma once
// Quality of service between ROS 2 and DDS.

#include "bridge/ros2/qos.hpp"
#include "link/dds/dds_domain.hpp"

namespace isochron::ros2 {

link::DdsQos dds_qos(const Qos& qos);
Qos qos_of(const dds_qos_t* qos);

}  // namespace isochron::ros2
