// Magnetometer: the Earth's field at the world's origin, turned into its own frame, with the bias of whatever iron is
// near it.

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/magnetic_field.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/noise.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

class Magnetometer final : public Sensor {
 public:
  Magnetometer(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, {output_of<sensor_msgs::MagneticField>()}),
        mount_(mount_of(spec_in, catalog)),
        bias_(noisy(Vec3{}, spec_in.magnetometer.bias, noise())) {
    const auto field = magnetic_field(spec_in.magnetometer);
    ENSURE(field.ok(), "the field of a magnetometer was not checked");
    field_ = *field;
    message_.header.frame_id = frame_id();
    for (std::size_t i = 0; i < 3; ++i) {
      message_.magnetic_field_covariance[4 * i] = spec_in.magnetometer.noise * spec_in.magnetometer.noise;
    }
    reserve(0, cdr_size(message_));
  }

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const Frame frame(mount_.pose(view.engine()));
    const Vec3 value = noisy(frame.inward(field_) + bias_, spec().magnetometer.noise, noise());
    message_.header.stamp = stamp;
    message_.magnetic_field = {value[0], value[1], value[2]};
    into.put(message_);
  }
  void carry_more(Carrier& c) override { c(bias_); }

  Mount mount_;
  Vec3 bias_;
  Vec3 field_{};  // east, north, up
  sensor_msgs::MagneticField message_;
};

}  // namespace

std::unique_ptr<Sensor> make_magnetometer(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<Magnetometer>(spec, catalog, seed);
}

}  // namespace isochron::world
