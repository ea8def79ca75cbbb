#include "bridge/ros2/player.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "core/input_error.hpp"
#include "flow/run.hpp"
#include "flow/system.hpp"
#include "journal/mcap_writer.hpp"
#include "msg/ros_command_messages.hpp"

namespace isochron::ros2 {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t recorded_at = 1'700'000'000'000'000'000;  // as rosbag2 has it: since 1970

/// As rosbag2 writes definitions: comments, constants, and names of the same package without it.
const std::string point_stamped =
    "# a point\nstd_msgs/Header header\nPoint point\nuint8 KIND=3\n"
    "================================================================================\n"
    "MSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n"
    "================================================================================\n"
    "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
    "================================================================================\n"
    "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n";

class Listener final : public flow::UserNode {
 public:
  struct Heard {
    SimTime at;
    geometry_msgs::PointStamped message;
  };
  explicit Listener(std::vector<Heard>& heard) : heard_(heard) { input<&Listener::take>("points"); }

 private:
  void take(const geometry_msgs::PointStamped& message, SimTime at) { heard_.push_back({at, message}); }
  std::vector<Heard>& heard_;
};

class PlayerTest : public testing::Test {
 protected:
  PlayerTest() : bag_(std::filesystem::path(testing::TempDir()) / ("bag" + std::to_string(getpid()))) {
    std::filesystem::create_directories(bag_);
  }
  ~PlayerTest() override { std::filesystem::remove_all(bag_); }

  /// One file of the bag, with points at these times.
  void write(const std::string& name, const std::vector<std::uint64_t>& times_ms, const std::string& encoding = "cdr") {
    auto file = disk_.create((bag_ / name).string());
    McapWriter writer(**file, {"ros2", "rosbag2"});
    writer.start();
    const auto schema = writer.schema("geometry_msgs/msg/PointStamped", "ros2msg", point_stamped);
    const auto channel = writer.channel("/robot/points", encoding, schema, {});
    for (const std::uint64_t ms : times_ms) {
      const auto cdr = cdr_bytes(geometry_msgs::PointStamped{{SimTime::from_ns(5), "map"}, {double(ms), 0, 0}});
      const std::uint64_t at = recorded_at + ms * 1'000'000;
      writer.message({channel, 0, at, at, {cdr.data(), cdr.size()}});
    }
    ASSERT_TRUE(writer.finish().ok());
  }
  std::vector<Listener::Heard> play(PlaySpec spec) {
    std::vector<Listener::Heard> heard;
    spec.path = bag_.string();
    flow::System system;
    system.add("bag", std::make_unique<Player>(spec));
    system.add("listener", std::make_unique<Listener>(heard));
    system.connect("bag.robot_points", "listener.points");
    flow::Options options;
    options.until = SimTime::zero() + SimSpan(10s);
    const flow::FlowOutcome outcome = flow::run(system, options);
    EXPECT_TRUE(outcome.complete);
    return heard;
  }

  PosixDisk disk_;
  std::filesystem::path bag_;
};

TEST_F(PlayerTest, MessagesComeAtTheirTimesFromTheBeginningOfTheBag) {
  write("b_0.mcap", {0, 10, 10, 500});
  write("b_1.mcap", {1000});
  const auto heard = play({});
  ASSERT_EQ(heard.size(), 5U);
  EXPECT_EQ(heard[0].at, SimTime::zero());
  EXPECT_EQ(heard[1].at, SimTime::zero() + SimSpan(10ms));
  EXPECT_EQ(heard[2].at, SimTime::zero() + SimSpan(10ms) + SimSpan(1ns)) << "two at one time keep their order";
  EXPECT_EQ(heard[4].at, SimTime::zero() + SimSpan(1s)) << "of the second file";
  EXPECT_EQ(heard[4].message.point.x, 1000);
  EXPECT_EQ(heard[4].message.header.frame_id, "map");
  EXPECT_EQ(heard[4].message.header.stamp, SimTime::from_ns(5)) << "as recorded";
}

TEST_F(PlayerTest, BeginsLaterRunsFasterAndStampsAnew) {
  write("b_0.mcap", {0, 100, 300});
  PlaySpec spec;
  spec.from = 100ms;
  spec.speed = 2;
  spec.restamp = true;
  const auto heard = play(spec);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0].at, SimTime::zero());
  EXPECT_EQ(heard[1].at, SimTime::zero() + SimSpan(100ms));
  EXPECT_EQ(heard[1].message.header.stamp, heard[1].at);
}

TEST_F(PlayerTest, WhatCannotBePlayedIsRefused) {
  EXPECT_THROW(Player({bag_.string()}), InputError) << "no .mcap inside";
  EXPECT_THROW(Player({(bag_ / "none.mcap").string()}), InputError);
  write("b_0.mcap", {0}, "json");
  EXPECT_THROW(Player({bag_.string(), {{"p", "/robot/points"}}}), InputError);
  EXPECT_THROW(Player({bag_.string(), {{"p", "/other"}}}), InputError);
}

}  // namespace
}  // namespace isochron::ros2
