#include "bridge/autopilot/ardupilot.hpp"

#include <gtest/gtest.h>

namespace isochron::autopilot {
namespace {

Bytes servos(std::size_t channels) {
  ServoPacket packet;
  packet.frame_rate = 400;
  packet.frame = 0x01020304;
  packet.channels = channels;
  for (std::size_t i = 0; i < channels; ++i) packet.pulses[i] = static_cast<std::uint16_t>(1000 + 10 * i);
  Bytes bytes;
  write_servos(packet, bytes);
  return bytes;
}

TEST(Ardupilot, SixteenAndThirtyTwoChannelsAreRead) {
  for (const std::size_t channels : {16u, 32u}) {
    const auto packet = read_servos(servos(channels));
    ASSERT_TRUE(packet.ok());
    EXPECT_EQ(packet->channels, channels);
    EXPECT_EQ(packet->frame_rate, 400);
    EXPECT_EQ(packet->frame, 0x01020304u);
    EXPECT_EQ(packet->pulses[channels - 1], 1000 + 10 * (channels - 1));
  }
}

TEST(Ardupilot, APacketIsAsItsSourcesLayItOut) {
  const Bytes bytes = servos(16);
  ASSERT_EQ(bytes.size(), 40u);
  const std::array<int, 12> wanted{0x1a, 0x48, 0x90, 0x01, 0x04, 0x03, 0x02, 0x01, 0xe8, 0x03, 0xf2, 0x03};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(static_cast<int>(bytes[i]), wanted[i]) << i;
  EXPECT_EQ(servos(32).size(), 72u);
}

TEST(Ardupilot, WhatIsWrongWithAPacketIsSaid) {
  Bytes bytes = servos(16);
  EXPECT_EQ(read_servos(std::span(bytes).first(5)).error(), "it has 5 bytes and needs 8 at least");
  EXPECT_EQ(read_servos(std::span(bytes).first(39)).error(), "it has 39 bytes; with 16 channels it has 40");
  bytes.resize(1400);
  EXPECT_EQ(read_servos(bytes).error(), "it has 1400 bytes; with 16 channels it has 40");
  bytes = servos(16);
  bytes[0] = std::byte{0};
  EXPECT_EQ(read_servos(bytes).error(), "its magic is 18432, not 18458 (16 channels) or 29569 (32)");
}

TEST(Ardupilot, PulsesAreFromZeroToOneAndNoPulseIsZero) {
  ServoPacket packet;
  packet.pulses = {0, 1000, 1500, 2000, 2500};
  const Controls controls = controls_of(packet);
  EXPECT_EQ(controls.count, 16u);
  EXPECT_EQ(controls.channels[0], 0);
  EXPECT_EQ(controls.channels[1], 0);
  EXPECT_EQ(controls.channels[2], 0.5);
  EXPECT_EQ(controls.channels[3], 1);
  EXPECT_EQ(controls.channels[4], 1);
}

TEST(Ardupilot, TheLineHasWhatTheVehicleHas) {
  VehicleState state;
  state.at = SimTime::from_ns(2'500'000);
  state.gyro = {0.1, -0.2, 0.3};
  state.accel = {0, 0, -9.80665};
  state.position = {1, 2, -3};
  state.velocity = {0.5, 0, 0};
  std::string line;
  write_line(state, {}, line);
  EXPECT_EQ(line,
            "\n{\"timestamp\":0.0025,\"imu\":{\"gyro\":[0.1,-0.2,0.3],\"accel_body\":[0,0,-9.80665]},"
            "\"position\":[1,2,-3],\"attitude\":[0,0,0],\"quaternion\":[1,0,0,0],\"velocity\":[0.5,0,0]}\n");
  state.ranges[1] = 4.5;
  state.airspeed = 12;
  state.vane = VehicleState::Vane{0.5, 7};
  line.clear();
  write_line(state, {.no_time_sync = true}, line);
  EXPECT_NE(line.find(",\"rng_2\":4.5,\"windvane\":{\"direction\":0.5,\"speed\":7},\"airspeed\":12,"
                      "\"no_time_sync\":true}\n"),
            std::string::npos)
      << line;
}

TEST(Ardupilot, FramesThatRepeatSkipOrBeginAgainAreToldApart) {
  using Kind = FrameCount::Kind;
  FrameCount count;
  EXPECT_EQ(count.take(100), Kind::first);
  EXPECT_EQ(count.take(101), Kind::next);
  EXPECT_EQ(count.take(101), Kind::repeated);
  EXPECT_EQ(count.take(105), Kind::skipped);
  EXPECT_EQ(count.take(0), Kind::restarted);
  EXPECT_EQ(count.take(UINT32_MAX), Kind::restarted);
  EXPECT_EQ(count.take(0), Kind::next);
}

}  // namespace
}  // namespace isochron::autopilot
