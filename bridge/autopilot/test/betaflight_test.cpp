#include "bridge/autopilot/betaflight.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace isochron::autopilot {
namespace {

TEST(Betaflight, TheStateIsEighteenDoublesInTheirOrder) {
  VehicleState state;
  state.at = SimTime::from_ns(1'500'000'000);
  state.gyro = {1, 2, 3};
  state.accel = {4, 5, 6};
  state.attitude = {0.5, 0.5, -0.5, 0.5};
  state.velocity = {7, 8, 9};
  state.latitude = 47;
  state.longitude = 8;
  state.altitude = 500;
  state.air.pressure = 95000;
  Bytes bytes;
  write_fdm(state, bytes);
  ASSERT_EQ(bytes.size(), fdm_size);
  const std::array<double, 18> wanted{1.5, 1, 2, 3, 4, 5, 6, 0.5, 0.5, -0.5, 0.5, 8, 7, -9, 8, 47, 500, 95000};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(get<double>(bytes, 8 * i), wanted[i]) << i;
}

TEST(Betaflight, MotorsAreFourFloatsOrRawPulses) {
  Bytes bytes;
  write_motors({0, 0.25, 0.5, 1}, bytes);
  auto controls = read_motors(bytes);
  ASSERT_TRUE(controls.ok());
  EXPECT_EQ(controls->count, 4u);
  EXPECT_EQ(controls->channels[1], 0.25);

  bytes.clear();
  put(bytes, std::uint32_t{2});
  for (int i = 0; i < 16; ++i) put(bytes, 1100.0f + 100.0f * static_cast<float>(i));
  controls = read_motors(bytes);
  ASSERT_TRUE(controls.ok());
  EXPECT_EQ(controls->count, 2u);
  EXPECT_NEAR(controls->channels[1], 0.2, 1e-9);
}

TEST(Betaflight, WhatIsWrongWithAPacketIsSaid) {
  Bytes bytes;
  write_motors({0, 0, 0, 0}, bytes);
  EXPECT_EQ(read_motors(std::span(bytes).first(15)).error(), "it has 15 bytes; motors have 16, raw motors 68");
  bytes.assign(68, std::byte{0xff});
  EXPECT_EQ(read_motors(bytes).error(), "it has 65535 motors, 16 at most");
}

TEST(Betaflight, AMotorThatIsNoNumberIsFound) {
  Bytes bytes;
  write_motors({0, 0, std::numeric_limits<double>::quiet_NaN(), 1}, bytes);
  const auto controls = read_motors(bytes);
  ASSERT_TRUE(controls.ok());
  EXPECT_EQ(not_finite(*controls), std::size_t{2});
}

TEST(Betaflight, SticksAreATimeAndSixteenPulses) {
  Bytes bytes;
  Sticks sticks;
  sticks.channels[2] = 1000;
  write_sticks(SimTime::from_ns(250'000'000), sticks, bytes);
  ASSERT_EQ(bytes.size(), 40u);
  EXPECT_EQ(get<double>(bytes, 0), 0.25);
  EXPECT_EQ(get<std::uint16_t>(bytes, 12), 1000);
}

}  // namespace
}  // namespace isochron::autopilot
