// Optical flow: how the picture of the surface in front of it moves. It looks along +x of its mount with z as the
// picture's up; mounted on a vehicle's belly (x down, z forward, y left) its z is the vehicle's forward axis.
//
//     flow about forward = ω_f + v_left / d,   flow about left = ω_l − v_forward / d,   each for the time since the
//     last
//
// What it says of a sample are the mean rates of this one and the one before.

#include <cmath>

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/noise.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

class OpticalFlowSensor final : public Sensor {
 public:
  OpticalFlowSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, {output_of<isochron_msgs::OpticalFlow>()}), mount_(mount_of(spec_in, catalog)) {
    message_.header.frame_id = frame_id();
    reserve(0, cdr_size(message_));
  }

 private:
  struct Rates {
    std::array<double, 2> flow{};
    Vec3 gyro{};
  };

  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const OpticalFlowOptions& o = spec().optical_flow;
    const Motion motion = view.engine().motion(mount_.body);
    const Pose pose = compose(motion.pose, mount_.local);
    const Frame frame(pose);
    Hit hit;
    const bool seen = view.scene().cast({frame.origin, frame.outward({1, 0, 0}), 0, o.max}, hit, mount_.unseen()) &&
                      hit.distance >= o.min;
    const Vec3 velocity = frame.inward(motion.linear + cross(motion.angular, pose.position - motion.pose.position));
    const Vec3 turning = frame.inward(motion.angular);
    // forward = z, left = y, up = −x of the mount.
    Rates now{{turning[2], turning[1]}, {turning[2], turning[1], -turning[0]}};
    if (seen) {
      now.flow[0] += velocity[1] / hit.distance;
      now.flow[1] -= velocity[2] / hit.distance;
    }
    const double dt = sequence() == 0 ? spec().period.seconds() : (stamp - last_).seconds();
    const Rates before = sequence() == 0 ? now : before_;
    const bool slow_enough = std::hypot(now.flow[0], now.flow[1]) <= o.max_rate;
    message_.header.stamp = stamp;
    message_.integration_time = dt;
    for (std::size_t i = 0; i < 2; ++i) {
      const double value = noisy(0.5 * dt * (now.flow[i] + before.flow[i]), o.noise, noise());
      message_.flow[i] = seen && slow_enough ? value : 0;
    }
    for (std::size_t i = 0; i < 3; ++i) message_.gyro[i] = 0.5 * dt * (now.gyro[i] + before.gyro[i]);
    message_.distance = seen ? hit.distance : NAN;
    message_.quality = seen && slow_enough ? 1 : 0;
    before_ = now;
    last_ = stamp;
    into.put(message_);
  }
  void carry_more(Carrier& c) override { c(before_), c(last_); }

  Mount mount_;
  Rates before_;
  SimTime last_;
  isochron_msgs::OpticalFlow message_;
};

}  // namespace

std::unique_ptr<Sensor> make_optical_flow(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<OpticalFlowSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
