// Inertial measurement unit: specific force and angular rate where it is mounted, in its own frame. An accelerometer
// feels what holds it, not gravity: a = dv/dt − g.

#include <cmath>

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/noise.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

/// Three equal axes of one instrument and the errors that they have built up.
class Triad {
 public:
  Triad(const ImuAxis& axis, SimSpan period, RandomStream& random)
      : axis_(axis),
        white_(axis.noise_density / std::sqrt(period.seconds())),
        walk_(axis.bias_walk * std::sqrt(period.seconds())),
        bias_(noisy(Vec3{}, axis.bias, random)) {}

  geometry_msgs::Vector3 measure(const Vec3& truth, RandomStream& random) {
    bias_ = noisy(bias_, walk_, random);
    Vec3 value = noisy(truth + bias_, white_, random);
    for (double& x : value) x = saturated(rounded(x, axis_.resolution), axis_.range);
    return {value[0], value[1], value[2]};
  }
  [[nodiscard]] double variance() const { return white_ * white_; }
  void carry(Carrier& c) { c(bias_); }

 private:
  ImuAxis axis_;
  double white_;  // standard deviation of one sample: the density over √period
  double walk_;
  Vec3 bias_;
};

void set_diagonal(std::array<double, 9>& covariance, double variance) {
  covariance = {};
  for (int i = 0; i < 3; ++i) covariance[4 * i] = variance;
}

class ImuSensor final : public Sensor {
 public:
  ImuSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, {output_of<sensor_msgs::Imu>()}),
        mount_(mount_of(spec_in, catalog)),
        gyroscope_(spec_in.imu.gyroscope, spec_in.period, noise()),
        accelerometer_(spec_in.imu.accelerometer, spec_in.period, noise()) {
    message_.header.frame_id = frame_id();
    set_diagonal(message_.angular_velocity_covariance, gyroscope_.variance());
    set_diagonal(message_.linear_acceleration_covariance, accelerometer_.variance());
    if (spec_in.imu.orientation) {
      set_diagonal(message_.orientation_covariance, spec_in.imu.orientation_noise * spec_in.imu.orientation_noise);
    }
    reserve(0, cdr_size(message_));
  }

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const Engine& engine = view.engine();
    const Motion motion = engine.motion(mount_.body);
    const Pose pose = compose(motion.pose, mount_.local);
    const Frame frame(pose);
    const Vec3 arm = pose.position - motion.pose.position;
    const Vec3& w = motion.angular;
    // The mount swings about the body's origin.
    const Vec3 acceleration = engine.acceleration(mount_.body) + cross(engine.angular_acceleration(mount_.body), arm) +
                              cross(w, cross(w, arm));
    message_.header.stamp = stamp;
    message_.angular_velocity = gyroscope_.measure(frame.inward(w), noise());
    message_.linear_acceleration = accelerometer_.measure(frame.inward(acceleration - engine.gravity()), noise());
    if (spec().imu.orientation) {
      const Quat q = noisy_turn(pose.orientation, spec().imu.orientation_noise, noise());
      message_.orientation = {q[1], q[2], q[3], q[0]};
    }
    into.put(message_);
  }
  void carry_more(Carrier& c) override { gyroscope_.carry(c), accelerometer_.carry(c); }

  Mount mount_;
  Triad gyroscope_;
  Triad accelerometer_;
  sensor_msgs::Imu message_;
};

}  // namespace

std::unique_ptr<Sensor> make_imu(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<ImuSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
