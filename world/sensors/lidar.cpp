// LiDAR: channels × columns of beams, one range and intensity for each. It looks at one instant, or spins: then it
// looks once for each sector of a turn, each from where the mount is at that time, and a fast robot gets the bent walls
// that a real one gives.

#include <cmath>
#include <cstring>

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/noise.hpp"
#include "world/sensors/repeatable.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

/// One point of the cloud, as it lies in the message.
struct CloudPoint {
  float x = NAN, y = NAN, z = NAN;
  float intensity = 0;
  std::uint16_t ring = 0;
  std::uint16_t unused = 0;
  float time = 0;  // seconds after the stamp; not positive
};
static_assert(sizeof(CloudPoint) == 24);

struct Echo {
  double range = INFINITY;
  double intensity = 0;  // 0 to 255
};

/// The echo of one beam: light comes back as reflectivity · cos(incidence) / range².
class Instrument {
 public:
  explicit Instrument(const LidarOptions& options) : options_(options) {
    if (options.weak_range > 0) weakest_ = 0.1 / (options.weak_range * options.weak_range);
    chancy_ = options.noise > 0 || options.noise_per_metre > 0 || options.drop_out > 0;
  }

  Echo measure(const Scene& scene, const Ray& ray, std::uint32_t unseen, RandomStream& random,
               std::uint64_t beam) const {
    Hit hit;
    if (!scene.cast(ray, hit, unseen)) return {};
    const double brightness = scene.material(hit.geometry).reflectivity * -dot(hit.normal, ray.direction);
    if (brightness < weakest_ * hit.distance * hit.distance) return {};
    Echo echo{hit.distance, 255 * std::min(1.0, brightness)};
    if (chancy_) disturb(echo, random, beam);
    return echo.range < options_.min || echo.range > options_.max ? Echo{} : echo;
  }

 private:
  /// Each beam of each turn has draws of its own: an obstacle in one does not change the noise of the others.
  void disturb(Echo& echo, RandomStream& random, std::uint64_t beam) const {
    constexpr std::uint64_t draws = 64;
    random.seek(beam * draws);
    if (random.chance(options_.drop_out)) {
      echo = {};
    } else {
      echo.range = noisy(echo.range, options_.noise + options_.noise_per_metre * echo.range, random);
    }
  }

  LidarOptions options_;
  double weakest_ = 0;
  bool chancy_ = false;
};

class LidarSensor : public Sensor {
 public:
  LidarSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed, Output output)
      : Sensor(spec_in, seed, {std::move(output)}, spec_in.lidar.sectors),
        options_(spec_in.lidar),
        mount_(mount_of(spec_in, catalog)),
        instrument_(spec_in.lidar) {
    const LidarOptions& o = options_;
    for (std::uint32_t i = 0; i < o.channels; ++i) {
      elevations_.push_back(
          repeatable_sincos(o.channels == 1 ? o.lowest : o.lowest + (o.highest - o.lowest) * i / (o.channels - 1)));
    }
    for (std::uint32_t i = 0; i < o.columns; ++i) {
      azimuths_.push_back(repeatable_sincos(o.first + (o.last - o.first) * i / o.columns));
    }
    stamps_.resize(o.sectors);
  }

 protected:
  virtual void set(std::uint32_t channel, std::uint32_t column, const Vec3& beam, const Echo& echo) = 0;
  virtual void finish(SimTime stamp, Reading& into) = 0;
  void carry_more(Carrier& c) override { c.list(stamps_); }  // and a turn that is not complete, by those below

  [[nodiscard]] std::uint32_t sector_of(std::uint32_t column) const {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(column) * options_.sectors / options_.columns);
  }
  /// When a sector of this turn was looked at.
  [[nodiscard]] SimTime stamp_of(std::uint32_t sector) const { return stamps_[sector]; }

  const LidarOptions options_;

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t part, Reading& into) override {
    const Scene& scene = view.scene();
    const Frame frame(mount_.pose(view.engine()));
    const std::uint64_t beams = static_cast<std::uint64_t>(options_.channels) * options_.columns;
    stamps_[part] = stamp;
    for (std::uint32_t column = 0; column < options_.columns; ++column) {
      if (sector_of(column) != part) continue;
      for (std::uint32_t channel = 0; channel < options_.channels; ++channel) {
        const SinCos& e = elevations_[channel];
        const SinCos& a = azimuths_[column];
        const Vec3 beam{e.cos * a.cos, e.cos * a.sin, e.sin};
        const Ray ray{frame.origin, frame.outward(beam), 0, options_.max};
        const std::uint64_t index = sequence() * beams + channel * options_.columns + column;
        set(channel, column, beam, instrument_.measure(scene, ray, mount_.unseen(), noise(), index));
      }
    }
    if (part + 1 == options_.sectors) finish(stamp, into);
  }

  Mount mount_;
  Instrument instrument_;
  std::vector<SinCos> elevations_;
  std::vector<SinCos> azimuths_;
  std::vector<SimTime> stamps_;  // of each sector
};

class CloudLidar final : public LidarSensor {
 public:
  CloudLidar(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : LidarSensor(spec_in, catalog, seed, output_of<sensor_msgs::PointCloud2>()) {
    message_.header.frame_id = frame_id();
    message_.height = options_.channels;
    message_.width = options_.columns;
    message_.point_step = sizeof(CloudPoint);
    message_.row_step = message_.point_step * options_.columns;
    message_.data.resize(static_cast<std::size_t>(message_.row_step) * options_.channels);
    message_.fields = {{"x", 0, 7, 1},          {"y", 4, 7, 1},     {"z", 8, 7, 1},
                       {"intensity", 12, 7, 1}, {"ring", 16, 4, 1}, {"time", 20, 7, 1}};
    reserve(0, cdr_size(message_));
  }

 private:
  void set(std::uint32_t channel, std::uint32_t column, const Vec3& beam, const Echo& echo) override {
    CloudPoint point;
    if (!std::isinf(echo.range)) {
      point.x = static_cast<float>(echo.range * beam[0]);
      point.y = static_cast<float>(echo.range * beam[1]);
      point.z = static_cast<float>(echo.range * beam[2]);
      point.intensity = static_cast<float>(echo.intensity);
    }
    point.ring = static_cast<std::uint16_t>(channel);
    std::memcpy(at(channel, column), &point, sizeof point);
  }
  void finish(SimTime stamp, Reading& into) override {
    for (std::uint32_t column = 0; column < options_.columns && options_.sectors > 1; ++column) {
      const auto time = static_cast<float>((stamp_of(sector_of(column)) - stamp).seconds());
      for (std::uint32_t channel = 0; channel < options_.channels; ++channel) {
        std::memcpy(at(channel, column) + offsetof(CloudPoint, time), &time, sizeof time);
      }
    }
    message_.header.stamp = stamp;
    into.put(message_);
  }
  std::uint8_t* at(std::uint32_t channel, std::uint32_t column) {
    return &message_.data[(static_cast<std::size_t>(channel) * options_.columns + column) * sizeof(CloudPoint)];
  }

  void carry_more(Carrier& c) override { LidarSensor::carry_more(c), c.list(message_.data); }

  sensor_msgs::PointCloud2 message_;
};

class ScanLidar final : public LidarSensor {
 public:
  ScanLidar(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : LidarSensor(spec_in, catalog, seed, output_of<sensor_msgs::LaserScan>()) {
    const double increment = (options_.last - options_.first) / options_.columns;
    message_.header.frame_id = frame_id();
    message_.angle_min = static_cast<float>(options_.first);
    message_.angle_increment = static_cast<float>(increment);
    message_.angle_max = static_cast<float>(options_.first + increment * (options_.columns - 1));
    message_.scan_time = static_cast<float>(spec_in.period.seconds());
    message_.time_increment = options_.sectors == 1 ? 0 : message_.scan_time / static_cast<float>(options_.columns);
    message_.range_min = static_cast<float>(options_.min);
    message_.range_max = static_cast<float>(options_.max);
    message_.ranges.resize(options_.columns);
    message_.intensities.resize(options_.columns);
    reserve(0, cdr_size(message_));
  }

 private:
  void set(std::uint32_t, std::uint32_t column, const Vec3&, const Echo& echo) override {
    message_.ranges[column] = static_cast<float>(echo.range);
    message_.intensities[column] = static_cast<float>(echo.intensity);
  }
  void finish(SimTime, Reading& into) override {
    message_.header.stamp = stamp_of(0);  // a scan is stamped with its first ray
    into.put(message_);
  }

  void carry_more(Carrier& c) override {
    LidarSensor::carry_more(c);
    c.list(message_.ranges), c.list(message_.intensities);
  }

  sensor_msgs::LaserScan message_;
};

}  // namespace

std::unique_ptr<Sensor> make_lidar(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  if (spec.lidar.format == LidarFormat::scan) return std::make_unique<ScanLidar>(spec, catalog, seed);
  return std::make_unique<CloudLidar>(spec, catalog, seed);
}

}  // namespace isochron::world
