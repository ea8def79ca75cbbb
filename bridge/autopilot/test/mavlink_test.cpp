#include "bridge/autopilot/mavlink.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bridge/autopilot/sha256.hpp"
#include "bridge/autopilot/test/mavlink_support.hpp"

namespace isochron::autopilot::mavlink {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[static_cast<int>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<int>(byte) & 15];
  }
  return text;
}
std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

SigningKey key_of(int first) {
  SigningKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(first + static_cast<int>(i));
  return key;
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(hex(Sha256().finish()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(Sha256().add(bytes_of("abc")).finish()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(Sha256().add(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")).finish()),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(Sha256().add(bytes_of(std::string(1000, 'a'))).finish()),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

TEST(Mavlink, EveryMessageComesBackAsItWas) {
  for_each_message(
      [](auto kind) {
        using M = decltype(kind);
        Sender sender(1, 200);
        Bytes bytes;
        sender.send(filled<M>(), bytes);
        Parser parser;
        parser.push(bytes);
        const auto frame = parser.next();
        ASSERT_TRUE(frame) << M::id;
        EXPECT_EQ(frame->system, 1);
        EXPECT_EQ(frame->component, 200);
        const auto message = as<M>(*frame);
        ASSERT_TRUE(message);
        EXPECT_EQ(numbers_of(*message), numbers_of(filled<M>())) << M::id;
        EXPECT_FALSE(parser.next());
      },
      All{});
}

TEST(Mavlink, ZerosAtTheEndAreNotSentAndAreThereAgain) {
  CommandAck ack;
  ack.command = 400;
  Bytes bytes;
  Sender(1, 1).send(ack, bytes);
  EXPECT_EQ(bytes.size(), 10u + 2 + 2);
  Parser parser;
  parser.push(bytes);
  const auto read = as<CommandAck>(*parser.next());
  EXPECT_EQ(read->command, 400);
  EXPECT_EQ(read->target_component, 0);
}

TEST(Mavlink, FramesAreFoundAmongRubbishAndInPieces) {
  std::mt19937 random(7);
  Bytes bytes;
  Sender sender(1, 1);
  int sent = 0;
  for (; sent < 200; ++sent) {
    for (std::size_t n = random() % 20; n > 0; --n) bytes.push_back(static_cast<std::byte>(random() % 0xfd));
    sender.send(filled<HilSensor>(sent + 1), bytes);
  }
  Parser parser;
  int found = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t part = std::min<std::size_t>(1 + random() % 50, bytes.size() - at);
    parser.push(std::span(bytes).subspan(at, part));
    at += part;
    while (const auto frame = parser.next()) {
      EXPECT_EQ(numbers_of(*as<HilSensor>(*frame)), numbers_of(filled<HilSensor>(found + 1)));
      ++found;
    }
  }
  EXPECT_EQ(found, sent);
  EXPECT_GT(parser.figures().skipped_bytes, 0u);
}

TEST(Mavlink, AFlippedBitIsNoticedAndTheNextFrameIsRead) {
  for (std::size_t bit = 0; bit < 8 * 20; ++bit) {
    Bytes bytes;
    Sender sender(1, 1);
    sender.send(filled<Heartbeat>(), bytes);
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    for (int i = 0; i < 20; ++i) sender.send(filled<CommandLong>(), bytes);  // a wrong length reaches into these
    Parser parser;
    parser.push(bytes);
    int commands = 0;
    while (const auto frame = parser.next()) {
      EXPECT_FALSE(as<Heartbeat>(*frame)) << bit;
      commands += as<CommandLong>(*frame).has_value() ? 1 : 0;
    }
    EXPECT_GE(commands, 10) << bit;
  }
}

TEST(Mavlink, MessagesThatWeDoNotKnowArePassedOver) {
  Bytes bytes{
      std::byte{0xfd}, std::byte{2},    {}, {}, {}, std::byte{1}, std::byte{1}, std::byte{0xee}, std::byte{0xee}, {},
      std::byte{0xfd}, std::byte{0xfd}, {}, {}};
  Sender(1, 1).send(filled<Heartbeat>(), bytes);
  Parser parser;
  parser.push(bytes);
  EXPECT_TRUE(as<Heartbeat>(*parser.next()));
  EXPECT_EQ(parser.figures().unknown, 1u);
}

TEST(Mavlink, WithAKeyOnlyWhatIsSignedWithItIsTaken) {
  const SigningKey key = key_of(1);
  Bytes bytes;
  Sender ours(1, 1, key), stranger(1, 1, key_of(2)), nobody(1, 1);
  ours.send(filled<Heartbeat>(), bytes);
  const Bytes first = bytes;
  stranger.send(filled<Heartbeat>(), bytes);
  nobody.send(filled<Heartbeat>(), bytes);
  bytes.insert(bytes.end(), first.begin(), first.end());  // said again
  Parser parser(key);
  parser.push(bytes);
  EXPECT_TRUE(parser.next());
  EXPECT_FALSE(parser.next());
  EXPECT_EQ(parser.figures().bad_signatures, 3u);

  Parser without;
  without.push(bytes);
  int all = 0;
  while (without.next()) ++all;
  EXPECT_EQ(all, 4);
}

TEST(Mavlink, TheStateIsToldInPx4sUnits) {
  VehicleState state;
  state.at = SimTime::from_ns(4'000'000);
  state.accel = {0, 0, -9.80665};
  state.fix = {true, true, 47.5, 8.25, 500, 0.5, 0.8, {3, 4, -1}};
  state.air = {true, 95000, 540, 12};
  state.magnetic = {0.2, 0, 0.4};
  state.magnetic_fresh = true;
  Bytes bytes;
  Sender sender(1, 1);
  send_state(state, {}, sender, bytes);
  Parser parser;
  parser.push(bytes);
  const auto sensor = as<HilSensor>(*parser.next());
  ASSERT_TRUE(sensor);
  EXPECT_EQ(sensor->time_usec, 4000u);
  EXPECT_EQ(sensor->abs_pressure, 950);
  EXPECT_EQ(sensor->fields_updated, 0b1101111111111u);
  const auto gps = as<HilGps>(*parser.next());
  ASSERT_TRUE(gps);
  EXPECT_EQ(gps->lat, 475'000'000);
  EXPECT_EQ(gps->vel, 500);
  EXPECT_EQ(gps->cog, 5313);
  EXPECT_EQ(gps->eph, 50);
  const auto truth = as<HilStateQuaternion>(*parser.next());
  ASSERT_TRUE(truth);
  EXPECT_EQ(truth->zacc, -1000);

  state.fix.fresh = state.air.fresh = state.magnetic_fresh = false;
  bytes.clear();
  send_state(state, {.truth = false}, sender, bytes);
  parser.push(bytes);
  EXPECT_EQ(as<HilSensor>(*parser.next())->fields_updated, 0b111111u);
  EXPECT_FALSE(parser.next());
}

TEST(Mavlink, ControlsAreArmedByTheirMode) {
  HilActuatorControls message;
  message.controls[3] = 0.5f;
  EXPECT_FALSE(controls_of(message).armed);
  message.mode = 129;
  EXPECT_TRUE(controls_of(message).armed);
  EXPECT_EQ(controls_of(message).channels[3], 0.5);
  message.controls[7] = std::nanf("");
  EXPECT_EQ(not_finite(controls_of(message)), std::size_t{7});
}

}  // namespace
}  // namespace isochron::autopilot::mavlink
