// Satellite navigation: WGS-84 by GeographicLib, noise by the sky that the antenna sees. The result is rounded to 1e-9
// degrees and 1e-4 m, which is finer than any receiver: libm's last bits, which differ between CPUs, do not show.

#include <GeographicLib/LocalCartesian.hpp>
#include <cmath>

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/noise.hpp"
#include "world/sensors/repeatable.hpp"
#include "world/sensors/satellites.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

class GpsSensor final : public Sensor {
 public:
  GpsSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, outputs_of(spec_in.gps)),
        mount_(mount_of(spec_in, catalog)),
        earth_(spec_in.gps.latitude, spec_in.gps.longitude, spec_in.gps.altitude),
        satellites_(satellites_over(spec_in.gps.satellites, spec_in.gps.mask)),
        drift_(noisy(Vec3{}, spec_in.gps.drift, noise())) {
    DilutionSum sum;
    for (const Vec3& satellite : satellites_) sum.see(satellite);
    ENSURE(sum.solve(open_sky_), "the satellites of a GPS were not checked");
    message_.header.frame_id = frame_id();
    reserve(0, cdr_size(message_));
    velocity_.header.frame_id = frame_id();
    if (spec_in.gps.velocity) reserve(1, cdr_size(velocity_));
  }

 private:
  static std::vector<Output> outputs_of(const GpsOptions& options) {
    std::vector<Output> outputs{output_of<sensor_msgs::NavSatFix>()};
    if (options.velocity) outputs.push_back(output_of<isochron_msgs::GpsVelocity>("velocity"));
    return outputs;
  }

  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const Vec3 antenna = mount_.pose(view.engine()).position;
    wander(stamp);
    DilutionSum sum;
    const Dilution worse = dilution(view, antenna, sum);
    // Drawn in any case: what the sky looks like now does not change the noise of later readings.
    const double h = spec().gps.horizontal_noise, v = spec().gps.vertical_noise;
    const Vec3 white{noisy(0, h, noise()), noisy(0, h, noise()), noisy(0, v, noise())};
    message_.header.stamp = stamp;
    if (worse.horizontal > 0) {
      fix(antenna, white, worse);
    } else {
      lose();
    }
    into.put(message_);
    if (!spec().gps.velocity) return;
    measure_velocity(view, worse, sum);
    velocity_.header.stamp = stamp;
    into.put(velocity_, 1);
  }

  /// How much worse than under the open sky; 0: no fix.
  [[nodiscard]] Dilution dilution(const WorldView& view, const Vec3& antenna, DilutionSum& sum) const {
    for (const Vec3& satellite : satellites_) {
      if (!view.scene().blocked({antenna, satellite, 0, spec().gps.sky}, mount_.unseen())) sum.see(satellite);
    }
    Dilution now;
    if (!sum.solve(now)) return {};
    const Dilution worse{now.horizontal / open_sky_.horizontal, now.vertical / open_sky_.vertical};
    const double worst = spec().gps.worst_dilution;
    return worse.horizontal > worst || worse.vertical > worst ? Dilution{} : worse;
  }

  /// The slow error: a first-order Gauss-Markov process, whatever the time between readings.
  void wander(SimTime now) {
    const double deviation = spec().gps.drift;
    if (!(deviation > 0)) return;
    const double keep = repeatable_exp(-((now - last_).seconds() / spec().gps.drift_time.seconds()));
    const double fresh = deviation * std::sqrt(1 - keep * keep);
    for (double& x : drift_) x = keep * x + fresh * noise().normal();
    last_ = now;
  }

  void fix(const Vec3& antenna, const Vec3& white, const Dilution& worse) {
    const Vec3 scale{worse.horizontal, worse.horizontal, worse.vertical};
    Vec3 p = antenna;
    for (int i = 0; i < 3; ++i) p[i] += scale[i] * (white[i] + drift_[i]);
    double latitude = 0, longitude = 0, altitude = 0;
    earth_.Reverse(p[0], p[1], p[2], latitude, longitude, altitude);
    message_.status.status = 0;
    message_.latitude = std::round(latitude * 1e9) * 1e-9;
    message_.longitude = std::round(longitude * 1e9) * 1e-9;
    message_.altitude = std::round(altitude * 1e4) * 1e-4;
    message_.position_covariance = {};
    const GpsOptions& options = spec().gps;
    for (int i = 0; i < 3; ++i) {
      const double white_deviation = i < 2 ? options.horizontal_noise : options.vertical_noise;
      message_.position_covariance[4 * i] =
          scale[i] * scale[i] * (white_deviation * white_deviation + options.drift * options.drift);
    }
    message_.position_covariance_type = 2;
  }

  void carry_more(Carrier& c) override { c(drift_), c(last_); }

  void measure_velocity(const WorldView& view, const Dilution& worse, const DilutionSum& sum) {
    const Motion motion = view.engine().motion(mount_.body);
    const Vec3 arm = rotate(motion.pose.orientation, mount_.local.position);
    const Vec3 white = noisy(Vec3{}, spec().gps.velocity_noise, noise());  // drawn in any case, as above
    const Vec3 scale{worse.horizontal, worse.horizontal, worse.vertical};
    const bool fixed = worse.horizontal > 0;
    Vec3 v = motion.linear + cross(motion.angular, arm);
    velocity_.velocity_covariance = {};
    for (std::size_t i = 0; i < 3; ++i) {
      v[i] = fixed ? v[i] + scale[i] * white[i] : NAN;
      const double deviation = scale[i] * spec().gps.velocity_noise;
      velocity_.velocity_covariance[4 * i] = deviation * deviation;
    }
    velocity_.velocity = {v[0], v[1], v[2]};
    velocity_.satellites = static_cast<std::int32_t>(sum.seen());
    velocity_.horizontal_dilution = worse.horizontal * open_sky_.horizontal;
    velocity_.vertical_dilution = worse.vertical * open_sky_.vertical;
    velocity_.horizontal_accuracy = std::sqrt(message_.position_covariance[0] + message_.position_covariance[4]);
    velocity_.vertical_accuracy = std::sqrt(message_.position_covariance[8]);
  }

  void lose() {
    message_.status.status = -1;
    message_.latitude = message_.longitude = message_.altitude = NAN;
    message_.position_covariance = {};
    message_.position_covariance_type = 0;
  }

  Mount mount_;
  GeographicLib::LocalCartesian earth_;
  std::vector<Vec3> satellites_;
  Dilution open_sky_;
  Vec3 drift_;
  SimTime last_;
  sensor_msgs::NavSatFix message_;
  isochron_msgs::GpsVelocity velocity_;
};

}  // namespace

std::unique_ptr<Sensor> make_gps(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<GpsSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
