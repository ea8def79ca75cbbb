// Where its mount is, in the world's frame: motion capture, or the truth for a test.

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/noise.hpp"

namespace isochron::world {
namespace {

class PoseSensor final : public Sensor {
 public:
  PoseSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, {output_of<geometry_msgs::PoseStamped>()}), mount_(mount_of(spec_in, catalog)) {
    message_.header.frame_id = "world";
    reserve(0, cdr_size(message_));
  }

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const Pose pose = mount_.pose(view.engine());
    const Vec3 p = noisy(pose.position, spec().pose.position_noise, noise());
    const Quat q = noisy_turn(pose.orientation, spec().pose.orientation_noise, noise());
    message_.header.stamp = stamp;
    message_.pose = {{p[0], p[1], p[2]}, {q[1], q[2], q[3], q[0]}};
    into.put(message_);
  }

  Mount mount_;
  geometry_msgs::PoseStamped message_;
};

}  // namespace

std::unique_ptr<Sensor> make_pose_sensor(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<PoseSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
