#include "world/sensors/bench/sensors_bench.hpp"

#include <time.h>

#include <chrono>
#include <cmath>
#include <cstring>

#include "msg/ros_messages.hpp"
#include "rt/allocation_guard.hpp"
#include "world/sensors/bench/bare_embree.hpp"
#include "world/sensors/bench/still_engine.hpp"
#include "world/sensors/make_sensor.hpp"
#include "world/vectors.hpp"

namespace isochron::bench {
namespace {

using world::SensorSpec;
using world::SensorType;
using world::Vec3;

SensorSpec spec_of(SensorType type) {
  SensorSpec spec;
  spec.name = to_string(type), spec.type = type, spec.body = "robot";
  spec.period = std::chrono::milliseconds(10);
  return spec;
}

/// A sensor in the town; each look finds the robot a little further.
struct Setup {
  StillEngine engine;
  world::Scene scene{engine.geometry()};
  std::unique_ptr<world::Sensor> sensor;
  int looks = 0;

  explicit Setup(const SensorSpec& spec) : sensor(world::make_sensor(spec, engine.catalog(), 1)) {}

  const world::Reading* look() {
    engine.move_robot({0.001 * (++looks % 100), 0, 3});
    engine.set_time(sensor->next_sample());
    return sensor->take(world::WorldView(engine, &scene));
  }
};

/// CPU time of this thread: what one core does in a second, whoever else is on the machine.
double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double seconds_of(const std::function<void()>& work) {
  const double start = cpu_now();
  work();
  return cpu_now() - start;
}

SensorSpec big_lidar() {
  SensorSpec spec = spec_of(SensorType::lidar);
  spec.lidar.channels = 32, spec.lidar.columns = 1024;
  spec.lidar.lowest = -0.5, spec.lidar.highest = 0.2;
  return spec;
}

void bench_lidar(Report& report, const char* name, const SensorSpec& spec) {
  Setup setup(spec);
  BareEmbree bare(setup.engine.geometry());
  for (std::uint32_t column = 0; column < spec.lidar.columns; ++column) {
    for (std::uint32_t channel = 0; channel < spec.lidar.channels; ++channel) {
      const double a = spec.lidar.first + (spec.lidar.last - spec.lidar.first) * column / spec.lidar.columns;
      const double e =
          spec.lidar.lowest + (spec.lidar.highest - spec.lidar.lowest) * channel / (spec.lidar.channels - 1);
      bare.add_ray({0, 0, 3}, {std::cos(e) * std::cos(a), std::cos(e) * std::sin(a), std::sin(e)}, spec.lidar.max);
    }
  }
  const double rays = static_cast<double>(bare.rays());
  setup.look();
  keep(bare.cast_all());
  const auto [ours, theirs] = side_by_side(
      9, [&] { return rays / seconds_of([&] { keep(setup.look()); }); },
      [&] { return rays / seconds_of([&] { keep(bare.cast_all()); }); });
  report.ratio_at_least(name, ours, "1/s", "rtcIntersect1 of the same rays", theirs, NAN);
}

/// Frames of ours, and of the bare library: one ray for each pixel, nothing made of what it hits.
std::pair<double, double> frames_per_s(const SensorSpec& spec) {
  Setup setup(spec);
  setup.look();
  BareEmbree bare(setup.engine.geometry());
  const double w = spec.picture.width, h = spec.picture.height;
  const double focal = h / 2 / std::tan(0.4);  // the default field of view
  for (double row = 0.5; row < h; ++row) {
    for (double column = 0.5; column < w; ++column) {
      bare.add_ray({0, 0, 3}, world::unit({1, (w / 2 - column) / focal, (h / 2 - row) / focal}), spec.picture.far);
    }
  }
  keep(bare.cast_all());
  return side_by_side(
      7, [&] { return 1 / seconds_of([&] { keep(setup.look()); }); },
      [&] { return 1 / seconds_of([&] { keep(bare.cast_all()); }); });
}

void bench_camera(Report& report) {
  SensorSpec spec = spec_of(SensorType::camera);
  const auto [ours, bare] = frames_per_s(spec);
  report.at_least("camera_320x240_frames_per_s", ours, "1/s", 30);
  report.ratio_at_least("camera_320x240_frames_beside_bare", ours, "1/s", "rtcIntersect1 of the same rays", bare, NAN);
  spec.picture.depth = spec.picture.segmentation = true;
  report.at_least("camera_320x240_rgb_depth_segments_frames_per_s", frames_per_s(spec).first, "1/s", 30);
  spec.picture.shadows = true;
  report.found("camera_320x240_with_shadows_frames_per_s", frames_per_s(spec).first, "1/s");
}

/// Heap blocks that each kind takes for a look after the first; the scene is brought up before.
void bench_allocations(Report& report) {
  if (!rt::AllocationGuard::watches_heap()) return;
  double most = 0;
  for (const SensorType type : {SensorType::pose, SensorType::contact, SensorType::imu, SensorType::gps,
                                SensorType::range, SensorType::lidar, SensorType::camera}) {
    Setup setup(spec_of(type));
    setup.look();
    for (int i = 0; i < 5; ++i) {
      setup.engine.move_robot({0.01 * i, 0, 3});
      setup.engine.set_time(setup.sensor->next_sample());
      const world::WorldView view(setup.engine, &setup.scene);
      keep(&view.scene());
      rt::AllocationGuard guard("sensor");
      keep(setup.sensor->take(view));
      most = std::max(most, static_cast<double>(guard.report().allocations));
    }
  }
  report.at_most("sensor_sample_allocations", most, "blocks", 0);
}

void bench_imu(Report& report) {
  SensorSpec spec = spec_of(SensorType::imu);
  spec.imu.gyroscope = {0.001, 0.01, 0.0001, 8, 0};
  spec.imu.accelerometer = {0.01, 0.1, 0.001, 80, 0};
  Setup setup(spec);
  constexpr int samples = 20'000;
  double best = INFINITY;
  for (int round = 0; round < 5; ++round) {
    best = std::min(best, seconds_of([&] {
                      for (int i = 0; i < samples; ++i) keep(setup.look());
                    }));
  }
  report.found("imu_sample_ns", 1e9 * best / samples, "ns");
}

}  // namespace

void bench_sensors(Report& report) {
  SensorSpec lidar = big_lidar();
  bench_lidar(report, "lidar_32x1024_rays_per_s", lidar);
  lidar.lidar.noise = 0.02, lidar.lidar.drop_out = 0.01;
  bench_lidar(report, "lidar_32x1024_noisy_rays_per_s", lidar);
  bench_camera(report);
  bench_imu(report);
  bench_allocations(report);
}

}  // namespace isochron::bench
