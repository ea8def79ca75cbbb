#include "run/ros2_frames.hpp"

#include "world/geometry.hpp"
#include "world/sensors/camera_model.hpp"
#include "world/sensors/mount.hpp"

namespace isochron {
namespace {

/// From a frame that looks along +x with z up to an optical one, and from one that looks along -z with y up.
constexpr world::Quat optical_of_x{0.5, -0.5, 0.5, -0.5};
constexpr world::Quat optical_of_camera{0, 1, 0, 0};

std::string frame_of(const world::SensorSpec& spec) {
  return spec.frame.empty() ? spec.robot + "/" + spec.name : spec.frame;
}

bool has_a_place(world::SensorType type) {
  using world::SensorType;
  return type != SensorType::joints && type != SensorType::model && type != SensorType::contact;
}

}  // namespace

tf2_msgs::TFMessage sensor_transforms(const Scenario& scenario, const world::Catalog& catalog) {
  tf2_msgs::TFMessage all;
  for (const world::SensorSpec& spec : sensor_specs(scenario)) {
    if (!has_a_place(spec.type)) continue;
    const world::Mount mount = world::mount_of(spec, catalog);
    world::Quat turn = mount.local.orientation;
    if (spec.type == world::SensorType::camera) {
      turn = world::multiply(turn, spec.camera.empty() ? optical_of_x : optical_of_camera);
    }
    const world::Vec3& at = mount.local.position;
    geometry_msgs::TransformStamped one;
    one.header.frame_id = catalog.bodies[mount.body];
    one.child_frame_id = frame_of(spec);
    one.transform = {{at[0], at[1], at[2]}, {turn[1], turn[2], turn[3], turn[0]}};
    all.transforms.push_back(std::move(one));
  }
  return all;
}

std::optional<sensor_msgs::CameraInfo> camera_info_of(const Scenario& scenario, const world::Catalog& catalog,
                                                      const std::string& flow) {
  for (const world::SensorSpec& spec : sensor_specs(scenario)) {
    const std::string name = spec.robot + "/" + spec.name + ".";
    if (spec.type != world::SensorType::camera || !flow.starts_with(name)) continue;
    const world::PinholeModel model = world::pinhole_of(spec, catalog);
    // There pixel (0, 0) covers [0, 1); in ROS its centre is (0, 0).
    const double f = model.focal, cx = model.cx - 0.5, cy = model.cy - 0.5;
    sensor_msgs::CameraInfo info;
    info.header.frame_id = frame_of(spec);
    info.width = spec.picture.width;
    info.height = spec.picture.height;
    info.distortion_model = "plumb_bob";
    info.d.assign(5, 0);
    info.k = {f, 0, cx, 0, f, cy, 0, 0, 1};
    info.r = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    info.p = {f, 0, cx, 0, 0, f, cy, 0, 0, 0, 1, 0};
    return info;
  }
  return std::nullopt;
}

}  // namespace isochron
