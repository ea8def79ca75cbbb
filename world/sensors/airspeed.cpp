// Pitot tube: the pressure of the air that comes along its x axis, against the wind that its aircraft flies in.

#include <cmath>

#include "msg/ros_messages.hpp"
#include "world/aircraft/atmosphere.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/noise.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

class AirspeedSensor final : public Sensor {
 public:
  AirspeedSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, {output_of<isochron_msgs::Airspeed>()}),
        mount_(mount_of(spec_in, catalog)),
        wind_(*catalog.sensor(catalog.bodies[mount_.body] + "/wind")),
        bias_(noisy(0, spec_in.airspeed.bias, noise())) {
    message_.header.frame_id = frame_id();
    reserve(0, cdr_size(message_));
  }

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const Motion motion = view.engine().motion(mount_.body);
    const Pose pose = compose(motion.pose, mount_.local);
    const Vec3 velocity = motion.linear + cross(motion.angular, pose.position - motion.pose.position);
    const auto wind = view.model_sensor(wind_);
    const Vec3 through_air = Frame(pose).inward(velocity - Vec3{wind[0], wind[1], wind[2]});
    const double height = spec().airspeed.altitude + pose.position[2];
    const double along = through_air[0];
    const double pressure =
        noisy(0.5 * isa::density(height) * along * std::fabs(along) + bias_, spec().airspeed.noise, noise());
    message_.header.stamp = stamp;
    message_.differential_pressure = std::round(pressure * 1e6) * 1e-6;
    message_.airspeed =
        std::copysign(std::sqrt(2 * std::fabs(message_.differential_pressure) / isa::sea_level_density), pressure);
    message_.temperature = std::round((isa::temperature(height) - 273.15) * 1e6) * 1e-6;
    into.put(message_);
  }
  void carry_more(Carrier& c) override { c(bias_); }

  Mount mount_;
  std::uint32_t wind_;
  double bias_;
  isochron_msgs::Airspeed message_;
};

}  // namespace

std::unique_ptr<Sensor> make_airspeed(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<AirspeedSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
