// Rangefinder and LiDAR against distances known in closed form.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "world/sensors/test/sensor_helpers.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

using sensor_msgs::LaserScan;
using sensor_msgs::PointCloud2;
using sensor_msgs::Range;

struct Point {
  float x, y, z, intensity;
  std::uint16_t ring;
  float time;
};
Point point_of(const PointCloud2& cloud, std::uint32_t row, std::uint32_t column) {
  const std::uint8_t* at = &cloud.data[row * cloud.row_step + column * cloud.point_step];
  Point p{};
  std::memcpy(&p.x, at, 16);
  std::memcpy(&p.ring, at + 16, 2);
  std::memcpy(&p.time, at + 20, 4);
  return p;
}

/// A room of 10 × 8 × 6 m with its centre at the origin; its walls are seen from inside.
ScriptedEngine room(const Vec3& sensor_at) {
  ScriptedEngine engine;
  engine.add_fixed_body("robot", sensor_at);
  engine.add_shape("room", 0, Shape::box, {5, 4, 3}, {}, {0.5F, 0.5F, 0.5F, 1});
  return engine;
}
double to_wall(const Vec3& from, const Vec3& direction) {
  const Vec3 half{5, 4, 3};
  double least = INFINITY;
  for (int i = 0; i < 3; ++i) {
    if (direction[i] != 0) least = std::min(least, ((direction[i] > 0 ? half[i] : -half[i]) - from[i]) / direction[i]);
  }
  return least;
}

float range_in_front(const RangeOptions& options, double wall_at) {
  ScriptedEngine engine;
  engine.add_fixed_body("robot", {0, 0, 0});
  engine.add_shape("wall", 0, Shape::box, {0.5, 5, 5}, {wall_at + 0.5, 0, 0});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::range, "robot", ms(10));
  spec.range = options;
  return messages_of<Range>(engine, &scene, spec, SimTime::zero())[0].range;
}

TEST(Rangefinder, MeasuresWhatIsInFront) {
  EXPECT_FLOAT_EQ(range_in_front({}, 3.25), 3.25F);
  EXPECT_EQ(range_in_front({}, 12), INFINITY) << "beyond its reach";
  RangeOptions options;
  options.min = 0.2;
  EXPECT_EQ(range_in_front(options, 0.1), -INFINITY) << "too near";
  options.drop_out = 1;
  EXPECT_EQ(range_in_front(options, 1), INFINITY) << "lost";
}

TEST(Rangefinder, AConeSeesWhatABeamMisses) {
  ScriptedEngine engine;
  engine.add_fixed_body("robot", {0, 0, 0});
  engine.add_shape("ball", 0, Shape::sphere, {0.2, 0, 0}, {2, 0.45, 0});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::range, "robot", ms(10));
  EXPECT_EQ(messages_of<Range>(engine, &scene, spec, SimTime::zero())[0].range, INFINITY);
  spec.range.cone = 0.5;
  const Range echo = messages_of<Range>(engine, &scene, spec, SimTime::zero())[0];
  EXPECT_NEAR(echo.range, std::hypot(2, 0.45) - 0.2, 0.02);
  EXPECT_EQ(echo.radiation_type, 0) << "ultrasound";
}

TEST(Rangefinder, NoiseHasItsDeviation) {
  ScriptedEngine engine = room({0, 0, 0});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::range, "robot", ms(1));
  spec.range.noise = 0.02, spec.range.noise_per_metre = 0.01;
  double sum = 0, squares = 0;
  const auto readings = messages_of<Range>(engine, &scene, spec, at_ms(4999));
  for (const Range& r : readings) sum += r.range - 5, squares += (r.range - 5) * (r.range - 5);
  EXPECT_NEAR(sum / 5000, 0, 0.004);
  EXPECT_NEAR(std::sqrt(squares / 5000), 0.07, 0.003);
}

TEST(Lidar, CloudLiesOnTheWalls) {
  const Vec3 at{1.5, -0.7, 0.4};
  ScriptedEngine engine = room(at);
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::lidar, "robot", ms(100));
  spec.lidar.channels = 9, spec.lidar.columns = 72, spec.lidar.lowest = -0.8, spec.lidar.highest = 0.8;
  const PointCloud2 cloud = messages_of<PointCloud2>(engine, &scene, spec, SimTime::zero())[0];
  ASSERT_EQ(cloud.height, 9U);
  ASSERT_EQ(cloud.width, 72U);
  for (std::uint32_t channel = 0; channel < 9; ++channel) {
    for (std::uint32_t column = 0; column < 72; ++column) {
      const double elevation = -0.8 + 0.2 * channel, azimuth = -M_PI + 2 * M_PI * column / 72;
      const Vec3 beam{std::cos(elevation) * std::cos(azimuth), std::cos(elevation) * std::sin(azimuth),
                      std::sin(elevation)};
      const double distance = to_wall(at, beam);
      const Point p = point_of(cloud, channel, column);
      EXPECT_EQ(p.ring, channel);
      EXPECT_NEAR(p.x, distance * beam[0], 2e-6) << channel << " " << column;
      EXPECT_NEAR(p.y, distance * beam[1], 2e-6);
      EXPECT_NEAR(p.z, distance * beam[2], 2e-6);
    }
  }
}

TEST(Lidar, ScanOfASphereAndOfNothing) {
  ScriptedEngine engine;
  engine.add_fixed_body("robot", {0, 0, 0});
  engine.add_shape("ball", 0, Shape::sphere, {1, 0, 0}, {4, 0, 0}, {1, 1, 1, 1});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::lidar, "robot", ms(100));
  spec.lidar.format = LidarFormat::scan, spec.lidar.channels = 1, spec.lidar.columns = 41;
  spec.lidar.lowest = spec.lidar.highest = 0, spec.lidar.first = -0.4, spec.lidar.last = 0.42;
  const LaserScan scan = messages_of<LaserScan>(engine, &scene, spec, SimTime::zero())[0];
  EXPECT_NEAR(scan.angle_increment, 0.02, 1e-7);
  for (int i = 0; i < 41; ++i) {
    const double a = -0.4 + 0.02 * i, across = 4 * std::sin(a);
    if (std::abs(across) < 1) {
      const double half_chord = std::sqrt(1 - across * across);
      EXPECT_NEAR(scan.ranges[i], 4 * std::cos(a) - half_chord, 1e-6);
      EXPECT_NEAR(scan.intensities[i], 255 * half_chord, 0.01) << "the cosine of the incidence, on white";
    } else {
      EXPECT_EQ(scan.ranges[i], INFINITY);
      EXPECT_EQ(scan.intensities[i], 0);
    }
  }
}

TEST(Lidar, DarkThingsAreLostFirst) {
  ScriptedEngine engine;
  engine.add_fixed_body("robot", {0, 0, 0});
  engine.add_shape("dark", 0, Shape::box, {0.5, 5, 5}, {20.5, 0, 0}, {0.1F, 0.1F, 0.1F, 1});
  engine.add_shape("light", 0, Shape::box, {0.5, 5, 5}, {-20.5, 0, 0}, {0.9F, 0.9F, 0.9F, 1});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::lidar, "robot", ms(100));
  spec.lidar.format = LidarFormat::scan, spec.lidar.channels = 1, spec.lidar.columns = 4;
  spec.lidar.lowest = spec.lidar.highest = 0;
  for (const double weak_range : {15.0, 25.0}) {
    spec.lidar.weak_range = weak_range;
    const LaserScan scan = messages_of<LaserScan>(engine, &scene, spec, SimTime::zero())[0];
    EXPECT_NEAR(scan.ranges[0], 20, 1e-5) << "the light wall, behind";
    EXPECT_EQ(std::isinf(scan.ranges[2]), weak_range < 20) << "the dark wall, in front";
  }
}

TEST(Lidar, DropsBeamsOutAtItsRate) {
  ScriptedEngine engine = room({0, 0, 0});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::lidar, "robot", ms(100));
  spec.lidar.drop_out = 0.2;
  int lost = 0, all = 0;
  for (const PointCloud2& cloud : messages_of<PointCloud2>(engine, &scene, spec, at_ms(200))) {
    for (std::uint32_t row = 0; row < cloud.height; ++row) {
      for (std::uint32_t column = 0; column < cloud.width; ++column) {
        lost += std::isnan(point_of(cloud, row, column).x), ++all;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(lost) / all, 0.2, 0.01);
}

TEST(Lidar, MeasuresOnlyBetweenMinAndMax) {
  ScriptedEngine engine = room({0, 0, 0});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::lidar, "robot", ms(100));
  spec.lidar.format = LidarFormat::scan, spec.lidar.channels = 1, spec.lidar.columns = 4;  // -x, -y, x, y
  spec.lidar.lowest = spec.lidar.highest = 0, spec.lidar.min = 4.5, spec.lidar.max = 6;
  const LaserScan scan = messages_of<LaserScan>(engine, &scene, spec, SimTime::zero())[0];
  EXPECT_NEAR(scan.ranges[0], 5, 1e-6);
  EXPECT_EQ(scan.ranges[1], INFINITY) << "the wall at 4 m is too near";
  EXPECT_NEAR(scan.ranges[2], 5, 1e-6);
}

TEST(Lidar, SpinningSeesEachSectorAtItsOwnTime) {
  ScriptedEngine engine;
  engine.add_body("robot", [](double s) {
    return ScriptedEngine::State{{{{10 * s, 0, 0}, {1, 0, 0, 0}}, {10, 0, 0}, {}}, {}, {}};
  });
  engine.add_shape("wall", 0, Shape::box, {0.5, 50, 50}, {20.5, 0, 0});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::lidar, "robot", ms(100));
  spec.lidar.channels = 1, spec.lidar.lowest = spec.lidar.highest = 0, spec.lidar.columns = 40;
  spec.lidar.first = -0.2, spec.lidar.last = 0.2, spec.lidar.sectors = 10;
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  std::vector<SimTime> looks;
  while (sensor->next_sample() < at_ms(100)) {
    looks.push_back(sensor->next_sample());
    engine.set_time(sensor->next_sample());
    const Reading* reading = sensor->take(WorldView(engine, &scene));
    EXPECT_EQ(reading != nullptr, looks.size() == 10);
    if (reading == nullptr) continue;
    EXPECT_EQ(reading->taken(), at_ms(90));
    const PointCloud2 cloud = decoded<PointCloud2>(*reading);
    for (std::uint32_t column = 0; column < 40; ++column) {
      const double seconds = 0.01 * (column / 4);
      EXPECT_NEAR(point_of(cloud, 0, column).x, 20 - 10 * seconds, 1e-5);
      EXPECT_NEAR(point_of(cloud, 0, column).time, seconds - 0.09, 1e-7);
    }
  }
  EXPECT_EQ(looks.front(), SimTime::zero());
  EXPECT_EQ(looks.back(), at_ms(90));
}

TEST(Lidar, LooksThroughItsOwnBodyOnly) {
  ScriptedEngine engine = room({0, 0, 0});
  engine.add_shape("hull", 1, Shape::box, {0.3, 0.3, 0.3});
  const auto other = engine.add_fixed_body("other", {2, 0, 0});
  engine.add_shape("thing", other, Shape::box, {0.5, 0.5, 0.5});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::range, "robot", ms(100));
  EXPECT_FLOAT_EQ(messages_of<Range>(engine, &scene, spec, SimTime::zero())[0].range, 1.5F);
}

}  // namespace
}  // namespace isochron::world
