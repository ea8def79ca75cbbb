// The bridge to nodes of ROS where the world is stepped, over a wire in memory: what is published when, and what a
// message does.

#include "run/ros_post.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "flow/wall_clock.hpp"

namespace isochron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// Keeps what is published; the other side of it is the test.
class MemoryWire final : public RosWire {
 public:
  struct Said {
    std::string topic;
    std::vector<std::byte> cdr;
  };
  MemoryWire() { last = this; }
  static MemoryWire* last;

  [[nodiscard]] std::string topic(const std::string& given, const std::string& entry, const Section&) const override {
    return given.empty() ? entry : given;
  }
  void open(News news) override { tell = std::move(news); }
  std::size_t advertise(const std::string& topic, const std::string&, const ros2::Qos&) override {
    topics.push_back(topic);
    return topics.size() - 1;
  }
  std::size_t subscribe(const std::string& topic, const std::string&, const ros2::Qos&, Take take) override {
    takes[topic] = std::move(take);
    return takes.size() - 1;
  }
  void start(const RosHost&) override {}
  void close() override { takes.clear(); }
  bool publish(std::size_t topic, std::size_t size, const Fill& fill) override {
    said.push_back({topics[topic], std::vector<std::byte>(size)});
    fill(said.back().cdr);
    return true;
  }
  [[nodiscard]] unsigned listeners(std::size_t) const override { return 1; }
  [[nodiscard]] unsigned speakers(std::size_t) const override { return 1; }
  [[nodiscard]] std::string where() const override { return ""; }

  template <Message M>
  std::vector<M> on(const std::string& topic) const {
    std::vector<M> all;
    for (const Said& one : said) {
      if (one.topic == topic) all.push_back(*cdr_read<M>(one.cdr));
    }
    return all;
  }
  /// The times of /clock, in ms.
  [[nodiscard]] std::vector<std::int64_t> clocks() const {
    std::vector<std::int64_t> all;
    for (const auto& clock : on<rosgraph_msgs::Clock>("/clock")) all.push_back(clock.clock.ns() / 1'000'000);
    return all;
  }
  /// The topics, in order.
  [[nodiscard]] std::vector<std::string> order() const {
    std::vector<std::string> all;
    for (const Said& one : said) all.push_back(one.topic);
    return all;
  }

  News tell;
  std::vector<std::string> topics;
  std::map<std::string, Take> takes;
  std::vector<Said> said;
};
MemoryWire* MemoryWire::last = nullptr;

std::unique_ptr<RosWire> memory_wire(const Ros2Section&) { return std::make_unique<MemoryWire>(); }

Scenario scenario_of(const std::string& ros2) {
  return read_scenario(
      "name: ros\nworld: {model: ships.xml, step: 10ms}\nrobots:\n  prey:\n    sensors:\n"
      "      imu: {type: imu, site: prey, every: 20ms, latency: 15ms}\n  predator: {}\nros2:\n" +
          ros2,
      "s.yaml", ISOCHRON_SOURCE_DIR "/models");
}

/// A run of the world, of which the test is the coordinator.
class Bridged : private programs::Desk::House {
 public:
  explicit Bridged(const std::string& ros2)
      : scenario_(scenario_of(ros2)),
        stage(scenario_),
        plant(stage, scenario_),
        desk_(plant, *this),
        post_(desk_, 0),
        post(scenario_, {"ros2", "ROS 2 nodes", *scenario_.ros2, memory_wire}, stage, plant),
        wire(*MemoryWire::last) {
    desk_.add({"ros2", "ros2", {}, "", 0, protocol::payload_max, false});
    post.record([this](std::size_t channel, SimTime at, std::span<const std::byte>) {
      noted.emplace_back(channel, at.ns() / 1'000'000);
    });
    post.open(watch, clock_);
    (void)plant.advance_to(SimTime::zero()).ok();
  }

  /// So many steps, and what is exchanged at each; time begins `ahead` of the world's.
  void run(int steps, SimSpan ahead = {}) {
    for (int i = 0; i < steps; ++i) {
      const SimTime now = plant.time() + ahead;
      post.exchange(post_, now, now + stage.step());
      desk_.apply(now + stage.step());
      ASSERT_TRUE(plant.advance_to(plant.time() + stage.step()).ok());
    }
  }
  template <Message M>
  void hear(const std::string& topic, const M& message) {
    wire.takes.at(topic)(cdr_bytes(message));
  }
  struct Write {
    std::int64_t at_ms;
    std::string what;
    friend bool operator==(const Write&, const Write&) = default;
  };

 private:
  Scenario scenario_;

 public:
  Stage stage;
  WorldPlant plant;
  std::vector<Write> writes;
  std::vector<std::pair<std::size_t, std::int64_t>> noted;  // channel, ms
  RunWatch watch;

 private:
  void tell(std::uint32_t, programs::Happening::Kind kind, SimTime at, std::uint32_t about, std::span<const std::byte>,
            SimTime) override {
    if (kind == programs::Happening::Kind::write)
      writes.push_back({at.ns() / 1'000'000, plant.variables()[about].name});
  }
  void message(std::uint32_t, std::uint32_t, SimTime) override {}
  programs::Desk desk_;
  programs::Post post_;
  WallClock clock_;

 public:
  RosPost post;
  MemoryWire& wire;
};

TEST(RosPost, TicksHaveTheirOwnPeriodAndEachItsTime) {
  Bridged run("  every: 4ms\n  publish:\n    odom: {topic: /odom, variable: prey/pose}\n");
  run.run(3);
  EXPECT_THAT(run.wire.clocks(), ElementsAre(0, 4, 8, 12, 16, 20, 24, 28));
  std::vector<std::int64_t> stamps;
  for (const auto& odom : run.wire.on<nav_msgs::Odometry>("/odom"))
    stamps.push_back(odom.header.stamp.ns() / 1'000'000);
  EXPECT_EQ(stamps, run.wire.clocks());
}

TEST(RosPost, AReadingIsPublishedWhenItIsThereAndBeforeTheClockSaysSo) {
  Bridged run("  every: 5ms\n  publish:\n    imu: {topic: /imu, from: prey/imu.reading}\n");
  run.run(2);
  EXPECT_THAT(run.wire.order(), ElementsAre("/clock", "/clock", "/clock", "/imu", "/clock"));
  run.run(3);
  std::vector<std::int64_t> stamps;
  for (const auto& imu : run.wire.on<sensor_msgs::Imu>("/imu")) stamps.push_back(imu.header.stamp.ns() / 1'000'000);
  EXPECT_THAT(stamps, ElementsAre(0, 20));
}

TEST(RosPost, ABlindSensorIsSilent) {
  Bridged run("  publish:\n    imu: {topic: /imu, from: prey/imu.reading}\n");
  run.run(5);
  EXPECT_EQ(run.wire.on<sensor_msgs::Imu>("/imu").size(), 2U);
  run.stage.faults().add({.at = run.plant.time(), .what = "blind", .about = "prey/imu", .seconds = 0.1});
  run.run(10);  // one was on its way
  EXPECT_EQ(run.wire.on<sensor_msgs::Imu>("/imu").size(), 2U);
  run.run(4);
  EXPECT_GT(run.wire.on<sensor_msgs::Imu>("/imu").size(), 2U);
}

TEST(RosPost, AMessageActsAtTheNextTickAndItsDelayLater) {
  Bridged run(
      "  every: 10ms\n  subscribe:\n"
      "    push: {topic: /push, as: geometry_msgs/Wrench, to: predator/wrench}\n"
      "    fly: {topic: /fly, as: std_msgs/Float64, delay: 25ms, drives: [{field: data, actuator: prey/fy, gain: "
      "2}]}\n");
  run.run(1);
  run.hear("/push", geometry_msgs::Wrench{{1, 0, 0}, {}});
  run.hear("/fly", std_msgs::Float64{0.5});
  run.run(2);
  using Write = Bridged::Write;
  EXPECT_THAT(run.writes, ElementsAre(Write{10, "predator/wrench"}, Write{35, "prey/fy"}));
  EXPECT_THAT(run.noted,
              ElementsAre(std::pair<std::size_t, std::int64_t>(0, 10), std::pair<std::size_t, std::int64_t>(1, 35)));
  const auto commanded = [&run] {
    double value = 0;
    const auto fy = std::ranges::find(run.plant.variables(), "prey/fy", &programs::Variable::name);
    run.plant.read(static_cast<std::uint32_t>(fy - run.plant.variables().begin()), run.plant.time(),
                   std::as_writable_bytes(std::span(&value, 1)));
    return value;
  };
  EXPECT_EQ(commanded(), 0);  // it is 30 ms
  run.run(1);
  EXPECT_EQ(commanded(), 1);
}

TEST(RosPost, WhatIsNoCommandIsSaidOnceAndDoesNothing) {
  Bridged run("  subscribe:\n    push: {topic: /push, as: std_msgs/Float64MultiArray, to: predator/wrench}\n");
  run.hear("/push", std_msgs::Float64MultiArray{{}, {1, 2, 3}});
  run.hear("/push", std_msgs::Float64MultiArray{{}, {1, 2, 3}});
  run.run(3);
  EXPECT_THAT(run.writes, IsEmpty());
  const auto logs = std::ranges::count(run.noted, std::size_t{1}, [](const auto& note) { return note.first; });
  EXPECT_EQ(logs, 1);
}

TEST(RosPost, TheNewestStayWhereMoreComesThanTheDepth) {
  Bridged run("  subscribe:\n    n: {topic: /n, as: std_msgs/Float64, qos: {depth: 2}}\n");
  for (int i = 0; i < 5; ++i) run.hear("/n", std_msgs::Float64{1.0 * i});
  run.run(1);
  EXPECT_EQ(run.noted.size(), 2U);
}

/// A client that joins a shared world late: its world begins at zero, and its time does not.
TEST(RosPost, StampsAreThoseOfTheRunNotOfItsWorld) {
  Bridged run(
      "  publish:\n    imu: {topic: /imu, from: prey/imu.reading}\n"
      "    tf: {topic: /tf, from: world.tf}\n    odom: {topic: /odom, variable: prey/pose}\n");
  run.run(5, 3s);
  EXPECT_THAT(run.wire.clocks(), ElementsAre(3000, 3010, 3020, 3030, 3040));
  EXPECT_EQ(run.wire.on<sensor_msgs::Imu>("/imu").front().header.stamp, SimTime::zero() + SimSpan(3s));
  EXPECT_EQ(run.wire.on<tf2_msgs::TFMessage>("/tf").front().transforms.front().header.stamp,
            SimTime::zero() + SimSpan(3s));
  EXPECT_EQ(run.wire.on<nav_msgs::Odometry>("/odom").back().header.stamp, SimTime::zero() + SimSpan(3040ms));
}

std::string complaint(const std::string& ros2) {
  try {
    Bridged run(ros2);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RosPost, SaysWhatIsWrongWithItsPlace) {
  EXPECT_THAT(complaint("  publish:\n    imu: {from: prey/imu.readin}\n"),
              HasSubstr("s.yaml:10:17: there is no flow `prey/imu.readin`"));
  EXPECT_THAT(complaint("  publish:\n    x: {from: a.b}\n    y: {variable: prey/posee}\n"), HasSubstr("prey/pose"));
  EXPECT_THAT(complaint("  every: 10ms\n  clock: 15ms\n"), HasSubstr("s.yaml:10:10"));
  EXPECT_THAT(complaint("  subscribe:\n    w: {as: std_msgs/Float64, to: prey/wrench}\n"),
              HasSubstr("takes 6 numbers"));
  EXPECT_THAT(complaint("  subscribe:\n    w: {as: std_msgs/Float64, drives: [{field: dat, actuator: prey/fx}]}\n"),
              HasSubstr("has no field `dat`"));
}

Scenario shared(const std::string& ros2) {
  return read_scenario(
      "name: shared\nworld: {model: crossing.xml, step: 5ms}\ntime: {mode: heartbeat}\nagents:\n  members:\n"
      "    car01: {kind: car, client: a}\n    car02: {kind: car, client: b}\n    car09: {kind: car, client: b, path: "
      "[[0, 0], [9, 0]]}\n"
      "robots: {first: {body: car01}}\nros2:\n" +
          ros2,
      "s.yaml", ISOCHRON_SOURCE_DIR "/models");
}

TEST(RosClient, IsTheOneThatSimulatesWhatIsNamed) {
  const auto client = [](const std::string& ros2) {
    const Scenario scenario = shared(ros2);
    return ros_client(scenario, *scenario.ros2);
  };
  EXPECT_EQ(client("  publish: {p: {variable: first/pose}}\n"), "a");
  EXPECT_EQ(client("  subscribe: {p: {as: std_msgs/Float64, drives: [{field: data, actuator: car02/steer}]}}\n"), "b");
  EXPECT_EQ(client("  publish: {p: {from: world.tf}}\n"), "a");
  try {
    client("  publish:\n    p: {variable: first/pose}\n    q: {variable: car02/steer}\n");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("s.yaml:13:19: `car02/steer` is of client `b`, and `first/pose` of client `a`"));
  }
}

TEST(RosClient, WhoDrivesACarIsSeenFromItsControls) {
  const Scenario scenario =
      shared("  subscribe: {p: {as: std_msgs/Float64, drives: [{field: data, actuator: car02/steer}]}}\n");
  EXPECT_TRUE(ros_drives(scenario, "car02"));
  EXPECT_FALSE(ros_drives(scenario, "car01"));
  EXPECT_FALSE(ros_drives(scenario, "car0"));
}

}  // namespace
}  // namespace isochron
