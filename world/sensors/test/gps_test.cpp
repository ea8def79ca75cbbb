// GPS: geodesy against GeographicLib itself and known places, and what a blocked sky does.

#include <gtest/gtest.h>

#include <GeographicLib/Geodesic.hpp>
#include <GeographicLib/LocalCartesian.hpp>
#include <cmath>

#include "world/sensors/satellites.hpp"
#include "world/sensors/test/sensor_helpers.hpp"

namespace isochron::world {
namespace {

using sensor_msgs::NavSatFix;

SensorSpec madison(double noise) {
  auto spec = on_body(SensorType::gps, "robot", ms(100));
  spec.gps.latitude = 43.0731, spec.gps.longitude = -89.4012, spec.gps.altitude = 263;
  spec.gps.horizontal_noise = noise, spec.gps.vertical_noise = 2 * noise;
  return spec;
}

NavSatFix fix_at(const Vec3& position, const SensorSpec& spec) {
  ScriptedEngine engine;
  engine.add_fixed_body("robot", position);
  Scene scene(engine.geometry());
  return messages_of<NavSatFix>(engine, &scene, spec, SimTime::zero())[0];
}

TEST(Gps, GoesBackToWhereItIs) {
  const GeographicLib::LocalCartesian earth(43.0731, -89.4012, 263);
  for (const Vec3& position : {Vec3{0, 0, 0}, Vec3{1000, -2500, 30}, Vec3{-20'000, 500, -3}}) {
    const NavSatFix fix = fix_at(position, madison(0));
    EXPECT_EQ(fix.status.status, 0);
    Vec3 back{};
    earth.Forward(fix.latitude, fix.longitude, fix.altitude, back[0], back[1], back[2]);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(back[i], position[i], 2e-4) << "rounding to 1e-9 degrees is 0.1 mm";
  }
}

TEST(Gps, XIsEastAndYIsNorth) {
  const NavSatFix home = fix_at({0, 0, 0}, madison(0));
  EXPECT_NEAR(home.latitude, 43.0731, 1e-9);
  EXPECT_NEAR(home.longitude, -89.4012, 1e-9);
  EXPECT_NEAR(home.altitude, 263, 1e-4);
  const NavSatFix north = fix_at({0, 1000, 0}, madison(0));
  double distance = 0, azimuth = 0, unused = 0;
  GeographicLib::Geodesic::WGS84().Inverse(home.latitude, home.longitude, north.latitude, north.longitude, distance,
                                           azimuth, unused);
  EXPECT_NEAR(azimuth, 0, 1e-4);
  EXPECT_NEAR(distance, 1000, 0.06) << "the geodesic is 263 m below";
  const NavSatFix east = fix_at({1000, 0, 0}, madison(0));
  GeographicLib::Geodesic::WGS84().Inverse(home.latitude, home.longitude, east.latitude, east.longitude, distance,
                                           azimuth, unused);
  EXPECT_NEAR(azimuth, 90, 0.01);
}

/// Standard deviation of the horizontal error (per axis), fixes lost, and the deviation that the receiver claims.
struct Quality {
  double error = 0;
  double claimed = 0;
  int fixes = 0;
  int lost = 0;
};
Quality quality(ScriptedEngine& engine, const SensorSpec& spec, const Vec3& truth) {
  Scene scene(engine.geometry());
  const GeographicLib::LocalCartesian earth(spec.gps.latitude, spec.gps.longitude, spec.gps.altitude);
  Quality q;
  for (const NavSatFix& fix : messages_of<NavSatFix>(engine, &scene, spec, at_ms(100'000))) {
    if (fix.status.status < 0) {
      EXPECT_TRUE(std::isnan(fix.latitude));
      ++q.lost;
      continue;
    }
    double x = 0, y = 0, z = 0;
    earth.Forward(fix.latitude, fix.longitude, fix.altitude, x, y, z);
    q.error += 0.5 * ((x - truth[0]) * (x - truth[0]) + (y - truth[1]) * (y - truth[1]));
    q.claimed = std::sqrt(fix.position_covariance[0]);
    ++q.fixes;
  }
  q.error = q.fixes > 0 ? std::sqrt(q.error / q.fixes) : 0;
  return q;
}

TEST(Gps, NoiseGrowsBetweenBuildingsAndTheFixIsLostInside) {
  const auto spec = madison(1.5);
  const Vec3 place{0, 0, 1};
  ScriptedEngine open;
  open.add_fixed_body("robot", place);
  open.add_shape("ground", 0, Shape::plane, {});
  ScriptedEngine street = open;
  street.add_shape("left", 0, Shape::box, {5, 100, 15}, {-13, 0, 15});
  street.add_shape("right", 0, Shape::box, {5, 100, 15}, {13, 0, 15});
  ScriptedEngine hall = open;
  hall.add_shape("roof", 0, Shape::box, {200, 200, 0.2}, {0, 0, 5});

  const Quality under_sky = quality(open, spec, place), in_street = quality(street, spec, place),
                inside = quality(hall, spec, place);
  EXPECT_EQ(under_sky.lost, 0);
  EXPECT_NEAR(under_sky.error, 1.5, 0.15);
  EXPECT_NEAR(under_sky.claimed, 1.5, 1e-9);
  EXPECT_EQ(in_street.lost, 0);
  EXPECT_GT(in_street.error, 1.4 * under_sky.error);
  EXPECT_NEAR(in_street.error / in_street.claimed, 1, 0.1) << "the receiver knows how bad it is";
  EXPECT_EQ(inside.fixes, 0);
}

TEST(Gps, ItsOwnHullDoesNotBlockTheSky) {
  ScriptedEngine engine;
  const auto robot = engine.add_fixed_body("robot", {0, 0, 1});
  engine.add_shape("hull", robot, Shape::box, {1, 1, 1});
  Scene scene(engine.geometry());
  EXPECT_EQ(messages_of<NavSatFix>(engine, &scene, madison(0), SimTime::zero())[0].status.status, 0);
}

TEST(Gps, DriftIsSlow) {
  ScriptedEngine engine;
  engine.add_fixed_body("robot", {0, 0, 0});
  Scene scene(engine.geometry());
  auto spec = madison(0);
  spec.gps.drift = 2, spec.gps.drift_time = std::chrono::seconds(10);
  std::vector<double> heights;
  for (const auto& fix : messages_of<NavSatFix>(engine, &scene, spec, at_ms(1'000'000))) {
    heights.push_back(fix.altitude - 263);
  }
  double variance = 0, step = 0, far = 0;
  for (const double h : heights) variance += h * h / static_cast<double>(heights.size());
  for (std::size_t i = 0; i + 100 < heights.size(); ++i) {
    step += heights[i] * heights[i + 1] / static_cast<double>(heights.size() - 100);
    far += heights[i] * heights[i + 100] / static_cast<double>(heights.size() - 100);
  }
  EXPECT_NEAR(std::sqrt(variance), 2, 0.5);
  EXPECT_NEAR(step / variance, std::exp(-0.01), 0.01);
  EXPECT_NEAR(far / variance, std::exp(-1), 0.2);
}

TEST(Satellites, DilutionOfAKnownSky) {
  // One overhead and three on the horizon, 120° apart: HᵀH can be inverted by hand.
  DilutionSum sum;
  Dilution dilution;
  sum.see({0, 0, 1});
  const double h = std::sqrt(3.0) / 2;
  for (const Vec3& v : {Vec3{0, 1, 0}, Vec3{h, -0.5, 0}, Vec3{-h, -0.5, 0}}) sum.see(v);
  ASSERT_TRUE(sum.solve(dilution));
  EXPECT_NEAR(dilution.horizontal, std::sqrt(4.0 / 3), 1e-12);
  EXPECT_NEAR(dilution.vertical, std::sqrt(4.0 / 3), 1e-12);
}

TEST(Satellites, TooFewGiveNoSolution) {
  DilutionSum sum;
  Dilution dilution;
  for (const Vec3& v : {Vec3{0, 0, 1}, Vec3{0, 1, 0}, Vec3{1, 0, 0}}) sum.see(v);
  EXPECT_FALSE(sum.solve(dilution));
  sum.see({1, 0, 0});
  EXPECT_FALSE(sum.solve(dilution)) << "four, but two stand in the same place";
}

}  // namespace
}  // namespace isochron::world
