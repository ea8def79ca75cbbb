// Rangefinder: one beam along +x, or the nearest thing in a cone (ultrasound).

#include <cmath>

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/noise.hpp"
#include "world/sensors/repeatable.hpp"

namespace isochron::world {
namespace {

/// The beam's axis, and two rings of rays around it if it is a cone.
std::vector<Vec3> beams_of(double cone) {
  std::vector<Vec3> beams{{1, 0, 0}};
  if (!(cone > 0)) return beams;
  for (int ring = 1; ring <= 2; ++ring) {
    const SinCos tilt = repeatable_sincos(0.25 * cone * ring);
    for (int i = 0; i < 6 * ring; ++i) {
      const SinCos around = repeatable_sincos(6.283185307179586 * i / (6 * ring));
      beams.push_back({tilt.cos, tilt.sin * around.cos, tilt.sin * around.sin});
    }
  }
  return beams;
}

class RangeSensor final : public Sensor {
 public:
  RangeSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, {output_of<sensor_msgs::Range>()}),
        mount_(mount_of(spec_in, catalog)),
        beams_(beams_of(spec_in.range.cone)) {
    message_.header.frame_id = frame_id();
    message_.radiation_type = spec_in.range.cone > 0 ? 0 : 1;
    message_.field_of_view = static_cast<float>(spec_in.range.cone);
    message_.min_range = static_cast<float>(spec_in.range.min);
    message_.max_range = static_cast<float>(spec_in.range.max);
    reserve(0, cdr_size(message_));
  }

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    message_.header.stamp = stamp;
    message_.range = static_cast<float>(measured(nearest(view)));
    into.put(message_);
  }

  double nearest(const WorldView& view) const {
    const Frame frame(mount_.pose(view.engine()));
    double least = INFINITY;
    for (const Vec3& beam : beams_) {
      Hit hit;
      if (view.scene().cast({frame.origin, frame.outward(beam), 0, spec().range.max}, hit, mount_.unseen())) {
        least = std::min(least, hit.distance);
      }
    }
    return least;
  }

  /// What the instrument makes of the true distance. -inf: too near; +inf: nothing.
  double measured(double distance) {
    const RangeOptions& options = spec().range;
    const bool lost = options.drop_out > 0 && noise().chance(options.drop_out);
    const double deviation = options.noise + options.noise_per_metre * (std::isinf(distance) ? 0 : distance);
    const double value = noisy(distance, deviation, noise());
    if (lost || value > options.max) return INFINITY;
    return value < options.min ? -INFINITY : value;
  }

  Mount mount_;
  std::vector<Vec3> beams_;
  sensor_msgs::Range message_;
};

}  // namespace

std::unique_ptr<Sensor> make_range_sensor(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<RangeSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
