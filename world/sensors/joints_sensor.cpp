// Encoders: positions and velocities of hinges and slides.

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/noise.hpp"

namespace isochron::world {
namespace {

class JointsSensor final : public Sensor {
 public:
  JointsSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, {output_of<sensor_msgs::JointState>()}) {
    if (spec_in.joints.joints.empty()) {
      for (const JointInfo& joint : catalog.joints) {
        if (joint.positions == 1) joints_.push_back(joint);
      }
    }
    for (const std::string& name : spec_in.joints.joints) joints_.push_back(catalog.joints[*catalog.joint(name)]);
    for (const JointInfo& joint : joints_) message_.name.push_back(joint.name);
    message_.position.resize(joints_.size());
    message_.velocity.resize(joints_.size());
    message_.header.frame_id = frame_id();
    reserve(0, cdr_size(message_));
  }

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const auto positions = view.engine().positions();
    const auto velocities = view.engine().velocities();
    const JointsOptions& options = spec().joints;
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      const double angle = noisy(positions[joints_[i].position_at], options.position_noise, noise());
      message_.position[i] = rounded(angle, options.resolution);
      message_.velocity[i] = noisy(velocities[joints_[i].velocity_at], options.velocity_noise, noise());
    }
    message_.header.stamp = stamp;
    into.put(message_);
  }

  std::vector<JointInfo> joints_;
  sensor_msgs::JointState message_;
};

}  // namespace

std::unique_ptr<Sensor> make_joints_sensor(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<JointsSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
