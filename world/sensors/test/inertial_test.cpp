// IMU: what it must read in motions whose answer is known, and the statistics of its noise.

#include <gtest/gtest.h>

#include <cmath>

#include "world/sensors/test/sensor_helpers.hpp"

namespace isochron::world {
namespace {

using sensor_msgs::Imu;

ScriptedEngine with_state(const ScriptedEngine::State& state) {
  ScriptedEngine engine;
  engine.add_body("robot", [state](double) { return state; });
  return engine;
}

Imu first_of(ScriptedEngine engine, const SensorSpec& spec) {
  return messages_of<Imu>(engine, nullptr, spec, SimTime::zero())[0];
}

TEST(Imu, FeelsTheGroundAtRestAndNothingInFreeFall) {
  const auto spec = on_body(SensorType::imu, "robot", ms(1));
  EXPECT_DOUBLE_EQ(first_of(with_state({}), spec).linear_acceleration.z, 9.81);
  ScriptedEngine::State falling;
  falling.acceleration = {0, 0, -9.81};
  EXPECT_DOUBLE_EQ(first_of(with_state(falling), spec).linear_acceleration.z, 0);
}

TEST(Imu, MeasuresInItsOwnFrame) {
  ScriptedEngine::State state;
  const double h = std::sqrt(0.5);
  state.motion.pose.orientation = {h, h, 0, 0};  // a quarter turn about x: its y is up
  state.motion.angular = {0, 0, 2};
  const Imu imu = first_of(with_state(state), on_body(SensorType::imu, "robot", ms(1)));
  EXPECT_NEAR(imu.linear_acceleration.y, 9.81, 1e-12);
  EXPECT_NEAR(imu.linear_acceleration.z, 0, 1e-12);
  EXPECT_NEAR(imu.angular_velocity.y, 2, 1e-12);
  EXPECT_EQ(imu.orientation_covariance[0], -1) << "no orientation is measured";
}

TEST(Imu, FeelsHowItsMountSwings) {
  ScriptedEngine::State state;
  state.motion.angular = {0, 0, 3};
  state.angular_acceleration = {0, 0, 5};
  auto spec = on_body(SensorType::imu, "robot", ms(1));
  spec.offset.position = {2, 0, 0};
  const Imu imu = first_of(with_state(state), spec);
  EXPECT_NEAR(imu.linear_acceleration.x, -18, 1e-12) << "ω² r towards the axis";
  EXPECT_NEAR(imu.linear_acceleration.y, 10, 1e-12) << "α r";
  EXPECT_NEAR(imu.linear_acceleration.z, 9.81, 1e-12);
}

TEST(Imu, SaturatesAndRounds) {
  ScriptedEngine::State state;
  state.motion.angular = {100, -100, 0.0234};
  auto spec = on_body(SensorType::imu, "robot", ms(1));
  spec.imu.gyroscope.range = 8.5;
  spec.imu.gyroscope.resolution = 0.01;
  const Imu imu = first_of(with_state(state), spec);
  EXPECT_DOUBLE_EQ(imu.angular_velocity.x, 8.5);
  EXPECT_DOUBLE_EQ(imu.angular_velocity.y, -8.5);
  EXPECT_NEAR(imu.angular_velocity.z, 0.02, 1e-15);
}

TEST(Imu, GivesAnOrientationIfItHasOne) {
  ScriptedEngine::State state;
  state.motion.pose.orientation = {std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
  auto spec = on_body(SensorType::imu, "robot", ms(1));
  spec.imu.orientation = true;
  spec.imu.orientation_noise = 1e-3;
  const Imu imu = first_of(with_state(state), spec);
  EXPECT_NEAR(imu.orientation.z, std::sqrt(0.5), 5e-3);
  EXPECT_NE(imu.orientation.z, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(imu.orientation_covariance[0], 1e-6);
}

/// Standard deviation of means over m samples: what an Allan plot shows at τ = m · period.
double deviation_of_means(const std::vector<double>& samples, std::size_t m) {
  std::vector<double> means;
  for (std::size_t i = 0; i + m <= samples.size(); i += m) {
    double sum = 0;
    for (std::size_t k = 0; k < m; ++k) sum += samples[i + k];
    means.push_back(sum / static_cast<double>(m));
  }
  double squares = 0;
  for (std::size_t i = 1; i < means.size(); ++i) squares += (means[i] - means[i - 1]) * (means[i] - means[i - 1]);
  return std::sqrt(squares / (2.0 * static_cast<double>(means.size() - 1)));
}

std::vector<double> gyroscope_run(const ImuAxis& axis, SimSpan period, SimTime until) {
  ScriptedEngine engine = with_state({});
  auto spec = on_body(SensorType::imu, "robot", period);
  spec.imu.gyroscope = axis;
  std::vector<double> samples;
  for (const Imu& imu : messages_of<Imu>(engine, nullptr, spec, until)) samples.push_back(imu.angular_velocity.x);
  return samples;
}

TEST(Imu, WhiteNoiseHasItsDensityAtEveryAveragingTime) {
  const double density = 0.002;
  for (const std::int64_t period_ms : {1, 5}) {
    const auto samples = gyroscope_run({density, 0, 0, 0, 0}, ms(period_ms), at_ms(20'000 * period_ms));
    for (const std::size_t m : {1U, 10U, 100U}) {
      const double tau = static_cast<double>(m) * 1e-3 * static_cast<double>(period_ms);
      EXPECT_NEAR(deviation_of_means(samples, m) / (density / std::sqrt(tau)), 1, 0.15) << m << " " << period_ms;
    }
  }
}

TEST(Imu, BiasWalksByTheSquareRootOfTime) {
  const double walk = 0.01;
  // The Allan deviation of a random walk: walk · √(τ/3).
  const auto samples = gyroscope_run({0, 0, walk, 0, 0}, ms(10), at_ms(600'000));
  for (const std::size_t m : {50U, 200U}) {
    const double tau = static_cast<double>(m) * 0.01;
    EXPECT_NEAR(deviation_of_means(samples, m) / (walk * std::sqrt(tau / 3)), 1, 0.25) << m;
  }
}

TEST(Imu, BiasAtSwitchOnDiffersFromRunToRun) {
  ScriptedEngine engine = with_state({});
  auto spec = on_body(SensorType::imu, "robot", ms(10));
  spec.imu.gyroscope.bias = 0.5;
  double squares = 0;
  constexpr int runs = 400;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const auto run = messages_of<Imu>(engine, nullptr, spec, at_ms(20), seed);
    EXPECT_EQ(run[0].angular_velocity.x, run[2].angular_velocity.x) << "it does not move by itself";
    squares += run[0].angular_velocity.x * run[0].angular_velocity.x;
  }
  EXPECT_NEAR(std::sqrt(squares / runs), 0.5, 0.06);
}

}  // namespace
}  // namespace isochron::world
