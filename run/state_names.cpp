#include "run/state_names.hpp"

#include "journal/names.hpp"

namespace isochron {
namespace {

/// One name for each number; joints of several numbers have none, since the body's motion says it.
std::vector<std::string> joint_names(const std::vector<world::JointInfo>& joints,
                                     std::uint32_t world::JointInfo::*count, std::uint32_t world::JointInfo::*at,
                                     const char* what) {
  std::vector<std::string> names;
  for (const world::JointInfo& joint : joints) {
    names.resize(std::max<std::size_t>(names.size(), joint.*at + joint.*count));
    if (joint.*count == 1 && !joint.name.empty()) names[joint.*at] = joint.name + what;
  }
  return names;
}

std::vector<std::string> sensor_names(const std::vector<world::SensorInfo>& sensors) {
  static constexpr const char* axes[] = {".x", ".y", ".z"};
  std::vector<std::string> names;
  for (const world::SensorInfo& sensor : sensors) {
    for (std::uint32_t i = 0; i < sensor.dimensions; ++i) {
      const std::string element = sensor.dimensions == 1   ? ""
                                  : sensor.dimensions == 3 ? axes[i]
                                                           : "[" + std::to_string(i) + "]";
      names.push_back(sensor.name.empty() ? "" : sensor.name + element);
    }
  }
  return names;
}

}  // namespace

mcap::TextMap state_names(const world::Catalog& whole) {
  mcap::TextMap metadata;
  name_elements(metadata, "bodies", whole.bodies, body_parts());
  using Joint = world::JointInfo;
  name_elements(metadata, "positions", joint_names(whole.joints, &Joint::positions, &Joint::position_at, ".position"));
  name_elements(metadata, "velocities",
                joint_names(whole.joints, &Joint::velocities, &Joint::velocity_at, ".velocity"));
  name_elements(metadata, "sensors", sensor_names(whole.sensors));
  std::vector<std::string> commands;
  for (const world::ActuatorInfo& actuator : whole.actuators) commands.push_back(actuator.name + ".command");
  name_elements(metadata, "commands", commands);
  return metadata;
}

}  // namespace isochron
