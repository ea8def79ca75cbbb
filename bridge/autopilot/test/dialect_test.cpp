#include "bridge/autopilot/dialect.hpp"

#include <gtest/gtest.h>

#include "bridge/autopilot/ardupilot.hpp"

namespace isochron::autopilot {
namespace {

Bytes servos(std::uint32_t frame) {
  ServoPacket packet;
  packet.frame_rate = 400;
  packet.frame = frame;
  Bytes bytes;
  write_servos(packet, bytes);
  return bytes;
}

Bytes controls_for(std::uint64_t time_usec, mavlink::Sender& sender) {
  mavlink::HilActuatorControls message;
  message.time_usec = time_usec;
  message.mode = 129;
  Bytes bytes;
  sender.send(message, bytes);
  return bytes;
}

TEST(Dialect, ArdupilotSpeaksFirstAndIsAnsweredWithALine) {
  const auto dialect = make_dialect(ArdupilotSetup{});
  EXPECT_TRUE(dialect->speaks_first());
  EXPECT_TRUE(dialect->hear(servos(0)).controls);
  std::vector<Packet> packets;
  dialect->tell({}, packets);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].beyond, 0);
  EXPECT_EQ(packets[0].bytes.front(), std::byte{'\n'});
}

TEST(Dialect, ArdupilotThatRepeatsAFrameAsksForItsStateAgain) {
  const auto dialect = make_dialect(ArdupilotSetup{});
  EXPECT_EQ(dialect->hear(servos(5)).rate, 400u);
  const Heard again = dialect->hear(servos(5));
  EXPECT_TRUE(again.asks_again);
  EXPECT_FALSE(again.controls);
  EXPECT_EQ(dialect->hear(servos(9)).skipped, 3u);
  EXPECT_TRUE(dialect->hear(servos(0)).restarted);
  dialect->begin_again();
  EXPECT_FALSE(dialect->hear(servos(0)).restarted);
}

TEST(Dialect, Px4AnswersAllFromItsFirstControlsOn) {
  const auto dialect = make_dialect(Px4Setup{});
  mavlink::Sender px4(1, 1);
  EXPECT_TRUE(dialect->streams());
  EXPECT_FALSE(dialect->answers_all());
  std::vector<Packet> packets;
  VehicleState state;
  state.at = SimTime::from_ns(8'000'000);
  dialect->tell(state, packets);
  const Heard heard = dialect->hear(controls_for(8000, px4));
  ASSERT_TRUE(heard.controls);
  EXPECT_TRUE(heard.controls->armed);
  EXPECT_EQ(heard.of, state.at);
  EXPECT_TRUE(dialect->answers_all());
  EXPECT_FALSE(dialect->hear(controls_for(9'999'999, px4)).of) << "of a state that it was never told";
}

TEST(Dialect, Px4sCommandsAreAcknowledged) {
  const auto dialect = make_dialect(Px4Setup{});
  mavlink::Sender px4(3, 1);
  mavlink::CommandLong command;
  command.command = 511;
  Bytes bytes;
  px4.send(command, bytes);
  const Heard heard = dialect->hear(bytes);
  ASSERT_EQ(heard.replies.size(), 1u);
  mavlink::Parser parser;
  parser.push(heard.replies[0].bytes);
  const auto ack = mavlink::as<mavlink::CommandAck>(*parser.next());
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->command, 511);
  EXPECT_EQ(ack->result, 0);
  EXPECT_EQ(ack->target_system, 3);
}

TEST(Dialect, WhatIsNoMavlinkIsSaidOnce) {
  const auto dialect = make_dialect(Px4Setup{});
  const std::string text = "GET / HTTP/1.1\r\n";
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(dialect->hear(bytes).wrong, std::vector<std::string>{"16 bytes that belong to no MAVLink frame"});
  EXPECT_TRUE(dialect->hear({}).wrong.empty());
}

TEST(Dialect, BetaflightIsToldOnTheNextPortAndItsSticksOnTheOneAfter) {
  const auto dialect = make_dialect(BetaflightSetup{Sticks{}});
  std::vector<Packet> packets;
  dialect->tell({}, packets);
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].beyond, 1);
  EXPECT_EQ(packets[0].bytes.size(), fdm_size);
  EXPECT_EQ(packets[1].beyond, 2);
}

}  // namespace
}  // namespace isochron::autopilot
