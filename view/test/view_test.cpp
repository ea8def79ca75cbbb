#include <gtest/gtest.h>

#include "core/cdr.hpp"
#include "view/decimate.hpp"
#include "view/live_tap.hpp"
#include "view/outbox.hpp"
#include "view/poses.hpp"
#include "view/web_server.hpp"
#include "world/messages.hpp"

namespace isochron::view {
namespace {

using namespace std::chrono_literals;

TEST(Outbox, ALaterMessageTakesThePlaceOfTheOneUnderItsKey) {
  Outbox box(1000);
  EXPECT_TRUE(box.put({"old frame", true, 1}));
  EXPECT_FALSE(box.put({"status", false, 2}));
  EXPECT_FALSE(box.put({"new frame", true, 1}));
  EXPECT_EQ(box.take()->bytes, "new frame");
  EXPECT_EQ(box.take()->bytes, "status");
  EXPECT_FALSE(box.take());
  EXPECT_EQ(box.dropped(), 1U);
}

TEST(Outbox, WhenItIsFullTheOldestGoFirst) {
  Outbox box(10);
  for (const char* text : {"aaaa", "bbbb", "cccc", "dddd"}) box.put({text, false, 0});
  EXPECT_LE(box.bytes(), 10U);
  EXPECT_EQ(box.take()->bytes, "cccc");
  EXPECT_EQ(box.dropped(), 2U);
}

TEST(Decimator, KeepsTheLeastAndTheGreatestOfEachBucket) {
  Decimator line(0, 10, 10);
  for (int i = 0; i < 10'000; ++i) line.add(i * 1e-3, i == 4321 ? 99 : i == 8765 ? -99 : i % 7);
  const PlotLine plot = line.finish();
  EXPECT_LE(plot.times.size(), 20U);
  EXPECT_EQ(*std::max_element(plot.values.begin(), plot.values.end()), 99);
  EXPECT_EQ(*std::min_element(plot.values.begin(), plot.values.end()), -99);
  EXPECT_TRUE(std::is_sorted(plot.times.begin(), plot.times.end()));
}

TEST(Decimator, LeavesAShortSeriesAsItIs) {
  Decimator line(0, 10, 1000);
  for (int i = 0; i < 10; ++i) line.add(i, i * i);
  EXPECT_EQ(line.finish().values, (std::vector<double>{0, 1, 4, 9, 16, 25, 36, 49, 64, 81}));
}

TEST(WebTarget, PathAndQueryAreDecoded) {
  const WebRequest request = parse_target("/tok/api/series?topic=%2Fworld%2Fstate&field=bodies%5B3%5D&empty&x=1+2");
  EXPECT_EQ(request.path, "/tok/api/series");
  EXPECT_EQ(request.query.at("topic"), "/world/state");
  EXPECT_EQ(request.query.at("field"), "bodies[3]");
  EXPECT_EQ(request.query.at("empty"), "");
  EXPECT_EQ(request.query.at("x"), "1 2");
}

TEST(WebTarget, BadEscapesAreLeftAsTheyAre) {
  EXPECT_EQ(parse_target("/a%2").path, "/a%2");
  EXPECT_EQ(parse_target("/a%zz?%").query.count("%"), 1U);
}

std::vector<std::byte> transforms_of(int bodies) {
  tf2_msgs::TFMessage message;
  for (int i = 0; i < bodies; ++i) {
    message.transforms.push_back(
        {{SimTime::from_ns(5), "world"}, "body " + std::to_string(i), {{i + 0.5, 2, 3}, {0, 0, 0, 1}}});
  }
  std::vector<std::byte> bytes(cdr_size(message));
  cdr_write(message, bytes);
  return bytes;
}

TEST(Poses, AreReadFromTransforms) {
  Poses poses;
  ASSERT_TRUE(read_transforms(transforms_of(3), poses));
  ASSERT_EQ(poses.names, (std::vector<std::string>{"body 0", "body 1", "body 2"}));
  EXPECT_EQ(poses.values[7], 1.5F);
  EXPECT_EQ(poses.values[13], 1.0F);
}

TEST(Poses, BytesThatEndEarlyAreRefusedAndNothingIsReadBeyondThem) {
  const auto bytes = transforms_of(2);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Poses poses;
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(read_transforms(cut, poses)) << size;
  }
}

ChannelDefinition channel_named(const char* topic) { return {topic, {"test/msg/T", "float64 x", "ros2msg"}, {}}; }

TEST(LiveTap, KeepsTheNewestAndQueuesWhatIsFollowed) {
  LiveTap tap;
  tap.defined(0, channel_named("/a"));
  tap.defined(1, channel_named("/b"));
  const std::string payload = "12345678";
  const auto bytes = std::as_bytes(std::span(payload));
  tap.keep(0);
  tap.follow(1);
  for (int i = 0; i < 3; ++i) {
    tap.recorded(0, SimTime::from_ns(i), bytes);
    tap.recorded(1, SimTime::from_ns(10 + i), bytes);
  }
  EXPECT_EQ(tap.newest(0).ns(), 2);
  EXPECT_EQ(tap.kept(0).time.ns(), 2);
  EXPECT_TRUE(tap.kept(1).payload.empty());
  const auto records = tap.take();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records.front().time.ns(), 10);
  tap.unfollow(1);
  tap.recorded(1, SimTime::from_ns(20), bytes);
  EXPECT_TRUE(tap.take().empty());
}

TEST(LiveTap, WhatNobodyTakesIsForgottenOldestFirst) {
  LiveTap tap;
  tap.defined(0, channel_named("/a"));
  tap.follow(0);
  const std::string payload(1U << 20U, 'x');
  for (int i = 0; i < 40; ++i) tap.recorded(0, SimTime::from_ns(i), std::as_bytes(std::span(payload)));
  EXPECT_EQ(tap.forgotten(), 24U);
  const auto records = tap.take();
  ASSERT_EQ(records.size(), 16U);
  EXPECT_EQ(records.back().time.ns(), 39);
}

}  // namespace
}  // namespace isochron::view
