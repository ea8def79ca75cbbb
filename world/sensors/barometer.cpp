// Barometer: the pressure of the standard atmosphere at its height, with the day's pressure and temperature at sea
// level. Rounded to 0.001 Pa, which is finer than any instrument: libm's last bits, which differ between CPUs, do not
// show.

#include <cmath>

#include "msg/ros_messages.hpp"
#include "world/aircraft/atmosphere.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/noise.hpp"
#include "world/sensors/repeatable.hpp"

namespace isochron::world {
namespace {

class Barometer final : public Sensor {
 public:
  Barometer(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed,
               {output_of<sensor_msgs::FluidPressure>(), output_of<sensor_msgs::Temperature>("temperature")}),
        mount_(mount_of(spec_in, catalog)),
        drift_(noisy(0, spec_in.barometer.drift, noise())) {
    const BarometerOptions& o = spec_in.barometer;
    pressure_.header.frame_id = temperature_.header.frame_id = frame_id();
    pressure_.variance = o.noise * o.noise + o.drift * o.drift;
    reserve(0, cdr_size(pressure_));
    reserve(1, cdr_size(temperature_));
  }

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const BarometerOptions& o = spec().barometer;
    const double height = o.altitude + mount_.pose(view.engine()).position[2];
    wander(stamp);
    const double standard = isa::pressure(height) * o.sea_level_pressure / isa::sea_level_pressure;
    const double value = noisy(standard + drift_, o.noise, noise());
    pressure_.header.stamp = temperature_.header.stamp = stamp;
    pressure_.fluid_pressure = rounded(std::round(value * 1e3) * 1e-3, o.resolution);
    const double warmer = o.sea_level_temperature + 273.15 - isa::sea_level_temperature;
    temperature_.temperature = std::round((isa::temperature(height) + warmer - 273.15) * 1e6) * 1e-6;
    into.put(pressure_);
    into.put(temperature_, 1);
  }
  /// A slow error: weather, and the warmth of the board.
  void wander(SimTime now) {
    const double deviation = spec().barometer.drift;
    if (!(deviation > 0)) return;
    const double keep = repeatable_exp(-((now - last_).seconds() / spec().barometer.drift_time.seconds()));
    drift_ = keep * drift_ + deviation * std::sqrt(1 - keep * keep) * noise().normal();
    last_ = now;
  }
  void carry_more(Carrier& c) override { c(drift_), c(last_); }

  Mount mount_;
  double drift_;
  SimTime last_;
  sensor_msgs::FluidPressure pressure_;
  sensor_msgs::Temperature temperature_;
};

}  // namespace

std::unique_ptr<Sensor> make_barometer(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<Barometer>(spec, catalog, seed);
}

}  // namespace isochron::world
