#pragma once
// What ROS has to know about sensors before it can use them: where they are mounted (/tf_static), and the numbers of a
// camera (CameraInfo). Frames follow REP 103: x forward, y left, z up; a camera's own frame is optical, x right, y
// down, z forward.

#include <optional>
#include <string>

#include "msg/ros_service_messages.hpp"
#include "run/stage.hpp"

namespace isochron {

/// From the frame of the body to that of each sensor on it.
tf2_msgs::TFMessage sensor_transforms(const Scenario& scenario, const world::Catalog& catalog);

/// Of the camera whose pictures the flow ROBOT/CAMERA.image carries; header and all. Nothing: it is no camera's.
std::optional<sensor_msgs::CameraInfo> camera_info_of(const Scenario& scenario, const world::Catalog& catalog,
                                                      const std::string& flow);

}  // namespace isochron
