// Barometer, magnetometer, airspeed, optical flow and the velocity of a GPS, where the answer is known.

#include <gmock/gmock.h>

#include <cmath>

#include "msg/sensor_types.hpp"
#include "world/aircraft/atmosphere.hpp"
#include "world/aircraft/multirotor.hpp"
#include "world/sensors/magnetic_field.hpp"
#include "world/sensors/plain_reading.hpp"
#include "world/sensors/test/sensor_helpers.hpp"
#include "world/test/scratch_model.hpp"
#include "world/vectors.hpp"
#include "world/world.hpp"

namespace isochron::world {
namespace {

using testing::HasSubstr;

ScriptedEngine still(const Vec3& position, const Quat& turned = {1, 0, 0, 0}, const Vec3& velocity = {},
                     const Vec3& turning = {}) {
  ScriptedEngine engine;
  ScriptedEngine::State state;
  state.motion = {{position, turned}, velocity, turning};
  engine.add_body("robot", [state](double) { return state; });
  return engine;
}

template <class Plain>
Plain plain_of(const SensorSpec& spec, const Reading& reading) {
  Plain value;
  fill_plain(spec.type, &reading, {reinterpret_cast<std::byte*>(&value), sizeof value});
  return value;
}

TEST(Barometer, SaysTheStandardPressureOfItsHeight) {
  ScriptedEngine engine = still({0, 0, 120});
  auto spec = on_body(SensorType::barometer, "robot", ms(20));
  spec.barometer.altitude = 500;
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  run_until(engine, nullptr, *sensor, SimTime::zero(), [&](const Reading& reading) {
    const auto said = plain_of<BarometerReading>(spec, reading);
    EXPECT_NEAR(said.pressure, isa::pressure(620), 0.001);
    EXPECT_NEAR(said.altitude, 620, 0.001);
    EXPECT_NEAR(said.temperature, 15 - 0.0065 * 620, 1e-5);
    EXPECT_EQ(said.number, 1U);
  });
}

TEST(Barometer, OnADayOfLowPressureItReadsHigh) {
  ScriptedEngine engine = still({0, 0, 0});
  auto spec = on_body(SensorType::barometer, "robot", ms(20));
  spec.barometer.sea_level_pressure = 100125;
  const auto said = messages_of<sensor_msgs::FluidPressure>(engine, nullptr, spec, SimTime::zero())[0];
  EXPECT_NEAR(said.fluid_pressure, 100125, 0.001);
  EXPECT_NEAR(isa::altitude(said.fluid_pressure), 100.6, 1) << "12 Pa a metre";
}

TEST(Barometer, ItsNoiseHasTheDeviationThatItIsGiven) {
  ScriptedEngine engine = still({0, 0, 0});
  auto spec = on_body(SensorType::barometer, "robot", ms(10));
  spec.barometer.noise = 3;
  double sum = 0;
  const auto all = messages_of<sensor_msgs::FluidPressure>(engine, nullptr, spec, at_ms(40'000));
  for (const auto& m : all) sum += (m.fluid_pressure - 101325) * (m.fluid_pressure - 101325);
  EXPECT_NEAR(std::sqrt(sum / static_cast<double>(all.size())), 3, 0.2);
}

TEST(Magnetometer, TheDipolePointsNorthAtTheEquatorAndDownNearThePole) {
  const Vec3 equator = dipole_field(0, 0, 0), north = dipole_field(85, 0, 0);
  EXPECT_GT(equator[1], 25e-6);
  EXPECT_LT(std::abs(equator[2]), 10e-6);
  EXPECT_LT(north[2], -50e-6) << "down is negative up";
  EXPECT_NEAR(length(dipole_field(80.7, -72.7, 0)) / length(dipole_field(-9.3, -72.7, 0)), 2, 0.05)
      << "twice as strong at the dipole's pole as at its equator";
}

TEST(Magnetometer, TurnsTheFieldIntoItsOwnFrame) {
  const double h = std::sqrt(0.5);
  ScriptedEngine engine = still({}, {h, 0, 0, h});  // looks north
  auto spec = on_body(SensorType::magnetometer, "robot", ms(10));
  spec.magnetometer.field = Vec3{0, 20e-6, -40e-6};
  const auto said = messages_of<sensor_msgs::MagneticField>(engine, nullptr, spec, SimTime::zero())[0];
  EXPECT_NEAR(said.magnetic_field.x, 20e-6, 1e-15);
  EXPECT_NEAR(said.magnetic_field.y, 0, 1e-15);
  EXPECT_NEAR(said.magnetic_field.z, -40e-6, 1e-15);
}

TEST(Magnetometer, SaysWhichModelIsMissing) {
  ScriptedEngine engine = still({});
  auto spec = on_body(SensorType::magnetometer, "robot", ms(10));
  spec.magnetometer.model = MagneticSource::wmm;
  spec.magnetometer.data = "no_such_model";
  const auto mistakes = check(spec, engine.catalog());
  ASSERT_EQ(mistakes.size(), 1U);
  EXPECT_THAT(mistakes[0].what, HasSubstr("no magnetic model `no_such_model`"));
}

TEST(Airspeed, IsAgainstTheWindThatTheAircraftFliesIn) {
  const ScratchModel file(R"(<mujoco><option gravity="0 0 0"/><worldbody><body name="uav"><freejoint/>
    <geom type="box" size=".1 .1 .05" mass="1"/></body></worldbody></mujoco>)");
  World world(load_engine("mujoco", file.path()));
  auto air = std::make_shared<Air>();
  air->wind = {-3, 4, 0};
  MultirotorSettings settings;
  settings.rotors = rotors_of(MultirotorFrame::quad_x, 0.2, 0);
  settings.drag_area = {};
  world.add(std::make_unique<Multirotor>(world.engine(), "uav", settings, air, nullptr, 1));
  ASSERT_TRUE(world.place(world.body("uav"), {{}, {7, 0, 0}, {}}).ok());
  ASSERT_TRUE(world.advance_to(SimTime::zero() + world.step()).ok());
  auto spec = on_body(SensorType::airspeed, "uav", ms(10));
  spec.phase = world.step();
  const auto sensor = make_sensor(spec, world.whole_catalog(), 1);
  const WorldView view(world);
  const Reading* reading = sensor->take(view);
  ASSERT_NE(reading, nullptr);
  const auto said = plain_of<AirspeedReading>(spec, *reading);
  EXPECT_NEAR(said.airspeed, 10, 0.001);
  EXPECT_NEAR(said.differential_pressure, 0.5 * 1.225 * 100, 0.05);
}

TEST(Airspeed, IsForAircraftOnly) {
  ScriptedEngine engine = still({});
  const auto mistakes = check(on_body(SensorType::airspeed, "robot", ms(10)), engine.catalog());
  ASSERT_EQ(mistakes.size(), 1U);
  EXPECT_THAT(mistakes[0].what, HasSubstr("body `robot` is no aircraft"));
}

/// A floor below a body whose sensor looks down, x down and z forward.
OpticalFlowReading flow_of(const Vec3& velocity, const Vec3& turning, double height) {
  ScriptedEngine engine = still({0, 0, height}, {1, 0, 0, 0}, velocity, turning);
  engine.add_shape("floor", 0, Shape::plane, {});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::optical_flow, "robot", ms(10));
  const double h = std::sqrt(0.5);
  spec.offset.orientation = {h, 0, h, 0};
  OpticalFlowReading said;
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  run_until(engine, &scene, *sensor, at_ms(20),
            [&](const Reading& r) { said = plain_of<OpticalFlowReading>(spec, r); });
  return said;
}

TEST(OpticalFlow, IsSpeedOverDistance) {
  const auto said = flow_of({3, 1, 0}, {}, 2);
  EXPECT_NEAR(said.integration_time, 0.01, 1e-12);
  EXPECT_NEAR(said.distance, 2, 1e-9);
  EXPECT_NEAR(said.flow[0], 0.5 * 0.01, 1e-12) << "to the left: about forward";
  EXPECT_NEAR(said.flow[1], -1.5 * 0.01, 1e-12) << "forward: against a turn to nose down";
  EXPECT_EQ(said.quality, 1);
}

TEST(OpticalFlow, TurningLooksLikeMovingAndTheGyroSaysSo) {
  const auto said = flow_of({}, {0.4, -0.2, 0.1}, 2);
  EXPECT_NEAR(said.flow[0], 0.4 * 0.01, 1e-12);
  EXPECT_NEAR(said.flow[1], -0.2 * 0.01, 1e-12);
  EXPECT_NEAR(said.gyro[0], 0.4 * 0.01, 1e-12);
  EXPECT_NEAR(said.gyro[2], 0.1 * 0.01, 1e-12);
}

TEST(OpticalFlow, SeesNothingOutOfReach) {
  const auto said = flow_of({3, 0, 0}, {}, 100);
  EXPECT_EQ(said.quality, 0);
  EXPECT_TRUE(std::isnan(said.distance));
}

TEST(Gps, GivesVelocityAndAccuracyWhenAskedTo) {
  ScriptedEngine engine = still({}, {1, 0, 0, 0}, {2, -1, 0.5});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::gps, "robot", ms(100));
  spec.gps.velocity = true;
  spec.gps.horizontal_noise = 0.8, spec.gps.vertical_noise = 1.5, spec.gps.velocity_noise = 0.1;
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  Vec3 sum{};
  int n = 0;
  GpsVelocityReading said;
  run_until(engine, &scene, *sensor, at_ms(50'000), [&](const Reading& r) {
    fill_plain_more(spec.type, &r, {reinterpret_cast<std::byte*>(&said), sizeof said});
    for (std::size_t i = 0; i < 3; ++i) sum[i] += said.velocity[i];
    ++n;
  });
  EXPECT_NEAR(sum[0] / n, 2, 0.03);
  EXPECT_NEAR(sum[1] / n, -1, 0.03);
  EXPECT_NEAR(sum[2] / n, 0.5, 0.03);
  EXPECT_NEAR(said.variance[0], 0.01, 1e-9);
  EXPECT_NEAR(said.horizontal_accuracy, 0.8 * std::sqrt(2), 1e-9);
  EXPECT_NEAR(said.vertical_accuracy, 1.5, 1e-9);
  EXPECT_EQ(said.satellites, 24);
}

TEST(Gps, WithoutVelocityItSaysWhatItAlwaysSaid) {
  ScriptedEngine engine = still({1, 2, 3});
  Scene scene(engine.geometry());
  auto spec = on_body(SensorType::gps, "robot", ms(100));
  spec.gps.horizontal_noise = 1;
  auto with = spec;
  with.gps.velocity = true;
  const auto a = messages_of<sensor_msgs::NavSatFix>(engine, &scene, spec, at_ms(1000));
  const auto b = messages_of<sensor_msgs::NavSatFix>(engine, &scene, with, at_ms(1000));
  EXPECT_EQ(make_sensor(spec, engine.catalog(), 1)->outputs().size(), 1U);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].latitude, b[i].latitude);
}

}  // namespace
}  // namespace isochron::world
