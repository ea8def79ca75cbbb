// Worlds with many agents, as scenarios describe them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "msg/ros_messages.hpp"
#include "run/agent_world.hpp"

namespace isochron {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

Scenario read(const std::string& agents) {
  return read_scenario(
      "name: test\nworld: {model: crossing.xml, step: 5ms}\ntime: {mode: heartbeat}\nagents:\n" + agents, "test.yaml",
      ISOCHRON_SOURCE_DIR "/models");
}

std::string complaint(const std::string& agents) {
  try {
    check_agents(read(agents));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(AgentsSection, SaysEveryMistakeWithItsPlace) {
  const std::string text = complaint(
      "  members:\n"
      "    car01: {kind: car, client: a}\n"
      "    anna: {kind: pedestrian, client: a}\n"
      "    lamps: {kind: lights, client: a, phases: [{lasts: 1s, green: [south]}]}\n"
      "    car02: {kind: car, client: b, path: [[0, 0], [1, 0]], obeys: lamps/sout}\n");
  EXPECT_THAT(text, HasSubstr("test.yaml:6:"));
  EXPECT_THAT(text, HasSubstr("car `car01` needs a path"));
  EXPECT_THAT(text, HasSubstr("pedestrian `anna` needs a schedule"));
  EXPECT_THAT(text, HasSubstr("there is no signal `lamps/sout`"));
  EXPECT_THAT(text, HasSubstr("lamps/south"));
  EXPECT_THAT(text, HasSubstr("needs `stop`"));
}

TEST(AgentsSection, KnowsTheModelsBodies) {
  EXPECT_THAT(complaint("  members:\n    cone9: {kind: passive, client: a}\n"), HasSubstr("no body `cone9`"));
  EXPECT_THAT(complaint("  members:\n    tree: {kind: passive, client: a}\n"), HasSubstr("cannot move"));
  EXPECT_EQ(complaint("  members:\n    tree: {kind: scenery, client: a}\n"), "");
}

TEST(AgentsSection, TheHeartbeatIsAMultipleOfTheStep) {
  EXPECT_THAT(complaint("  heartbeat: 7ms\n  members:\n    cone1: {kind: passive, client: a}\n"),
              HasSubstr("multiple"));
}

TEST(AgentsSection, LinksMayBeBadInWords) {
  const Scenario scenario =
      read("  members:\n    tree: {kind: scenery, client: a}\nfaults: {loss: 5%, delay: 20ms±5, reorder: true}\n");
  const link::Faults faults = to_faults(scenario.faults, scenario.seed);
  EXPECT_DOUBLE_EQ(faults.loss, 0.05);
  EXPECT_EQ(faults.delay, WallSpan(20ms));
  EXPECT_EQ(faults.jitter, WallSpan(5ms));
  EXPECT_TRUE(faults.reorder);
}

TEST(Signals, ChangeByTheirPhasesOverAndOver) {
  const Scenario scenario = read(
      "  members:\n    s: {kind: lights, client: a, phases: [{lasts: 2s, green: [n]}, {lasts: 1s, yellow: [n]}, "
      "{lasts: 2s, green: [e]}]}\n");
  const Signals signals("s", scenario.agents->members[0].second.phases);
  LampBoard board;
  EXPECT_EQ(signals.show(SimTime::zero() + SimSpan(1500ms), board), SimTime::zero() + SimSpan(2s));
  EXPECT_EQ(board["s/n"], Lamp::green);
  EXPECT_EQ(board["s/e"], Lamp::red);
  signals.show(SimTime::zero() + SimSpan(7500ms), board);
  EXPECT_EQ(board["s/n"], Lamp::yellow);
}

/// How far a cone is moved by a visitor that stands where it stands.
double pushed(bool collide) {
  const Scenario scenario = read(std::string("  collide: ") + (collide ? "true" : "false") +
                                 "\n  guests: [visitor1]\n  members:\n    cone1: {kind: passive, client: a}\n");
  AgentWorld world(scenario, "a");
  AgentState before, after, visitor;
  world.fill(0, before);
  visitor.name = "somebody else's car";
  visitor.position = {before.position[0] + 2.0, before.position[1], 0.7};
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(world.place(visitor));
    EXPECT_TRUE(world.take_step().ok());
  }
  world.fill(0, after);
  return std::hypot(after.position[0] - before.position[0], after.position[1] - before.position[1]);
}

/// What a rangefinder at the front of client a's car reads while client b's is so far ahead; nothing = b is not there.
double range_to(std::optional<double> ahead) {
  const Scenario scenario = read(
      "  members:\n    car01: {kind: car, client: a, path: [[1.75, -24], [1.75, 100]], speed: 0.001}\n"
      "    car02: {kind: car, client: b, path: [[1.75, 0], [1.75, 100]]}\n"
      "robots: {car01: {sensors: {ahead: {type: range, every: 10ms, position: [2.3, 0, 0], range: {max: 60}}}}}\n");
  AgentWorld world(scenario, "a");
  AgentState other;
  other.name = "car02";
  other.orientation = {std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
  for (int i = 0; i < 20; ++i) {
    if (ahead) {
      other.position = {1.75, -24 + *ahead, 0.54};
      EXPECT_TRUE(world.place(other));
    } else {
      world.remove("car02");
    }
    EXPECT_TRUE(world.take_step().ok());
  }
  const world::Reading* reading = world.stage().sensors().find("car01", "ahead")->latest_at(world.time());
  sensor_msgs::Range range;
  EXPECT_TRUE(reading != nullptr && reading->decode(range));
  return range.range;
}

TEST(AgentWorld, SensorsSeeOthersAgentsWhereTheyAre) {
  EXPECT_NEAR(range_to(15), 15 - 2.3 - 2.25, 0.2);  // from bumper to bumper
  EXPECT_NEAR(range_to(30), 30 - 2.3 - 2.25, 0.2);
  EXPECT_GT(range_to(std::nullopt), 55) << "its body is out of the way";
}

/// How many of a camera's pixels show client b's car, which is so far ahead of client a's.
std::size_t pixels_of_other(double ahead) {
  const Scenario scenario = read(
      "  members:\n    car01: {kind: car, client: a, path: [[1.75, -24], [1.75, 100]], speed: 0.001}\n"
      "    car02: {kind: car, client: b, path: [[1.75, 0], [1.75, 100]]}\n"
      "robots: {car01: {sensors: {eye: {type: camera, every: 10ms, position: [2.3, 0, 0.6], "
      "picture: {width: 64, height: 48, colour: false, segmentation: true, segment_bodies: true}}}}}\n");
  AgentWorld world(scenario, "a");
  AgentState other;
  other.name = "car02";
  other.orientation = {std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
  other.position = {1.75, -24 + ahead, 0.54};
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(world.place(other));
    EXPECT_TRUE(world.take_step().ok());
  }
  const world::Reading* reading = world.stage().sensors().find("car01", "eye")->latest_at(world.time());
  sensor_msgs::Image image;
  if (reading == nullptr || !reading->decode(image)) return 0;
  const auto body = *world.stage().world().catalog().body("car02") + 1;
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < image.data.size(); i += 2) {
    count += image.data[i] + 256U * image.data[i + 1] == body ? 1 : 0;
  }
  return count;
}

TEST(AgentWorld, CamerasSeeOthersAgentsSmallerTheFartherTheyAre) {
  const std::size_t near = pixels_of_other(10), far = pixels_of_other(30);
  EXPECT_GT(near, 60U);
  EXPECT_GT(far, 5U);
  EXPECT_GT(near, 3 * far);
  EXPECT_EQ(pixels_of_other(-30), 0U) << "behind its back";
}

TEST(AgentWorld, GivesWayToWhoComesTowardsIt) {
  // car01 turns left across the lane of car17, which client b simulates.
  const Scenario scenario = read(
      "  members:\n    car01: {kind: car, client: a, model: kinematic, speed: 8, path: [[1.75, -24], [1.75, -6], [0, "
      "0], "
      "[-10, 1.75], [-80, 1.75]], gives_way: {before: [1.75, -6], to: [{from: [-1.75, 13], meets: [-1.75, 0.5]}]}}\n"
      "    car17: {kind: car, client: b, path: [[-1.75, 24], [-1.75, -100]]}\n");
  const auto arrived = [&](double begins, double speed) {  // how far west car01 gets in thirteen seconds
    AgentWorld world(scenario, "a");
    AgentState other, own;
    other.name = "car17";
    other.orientation = {std::sqrt(0.5), 0, 0, -std::sqrt(0.5)};
    double nearest = 1e9;
    for (int i = 0; i < 2600; ++i) {
      other.position = {-1.75, begins - speed * world.time().seconds(), 0.54};
      other.linear = {0, -speed, 0};
      EXPECT_TRUE(world.place(other));
      EXPECT_TRUE(world.take_step().ok());
      world.fill(0, own);
      nearest = std::min(nearest, std::hypot(own.position[0] - other.position[0], own.position[1] - other.position[1]));
    }
    EXPECT_GT(nearest, 2.6) << "it ran into who has the right of way";
    return -own.position[0];
  };
  const double alone = arrived(400, 0);
  EXPECT_GT(alone, 10) << "nobody comes";
  EXPECT_LT(arrived(60, 12), alone - 5) << "one comes, and it waits";
  EXPECT_GT(arrived(40, 0), alone - 1) << "one stands and waits for something else";
  EXPECT_LT(arrived(0.5, 0), 0) << "one stands where it would have to drive";
}

TEST(AgentsSection, GivingWayIsForCarsAndToSomebody) {
  const std::string text = complaint(
      "  members:\n"
      "    car01: {kind: car, client: a, path: [[0, 0], [1, 0]], gives_way: {before: [0, 0], to: []}}\n"
      "    anna: {kind: pedestrian, client: a, schedule: [{at: 0s, position: [0, 0]}], "
      "gives_way: {before: [0, 0], to: [{from: [1, 1], meets: [1, 1]}]}}\n");
  EXPECT_THAT(text, HasSubstr("gives way to nobody"));
  EXPECT_THAT(text, HasSubstr("only cars give way"));
  EXPECT_THAT(text, HasSubstr("the same place"));
}

TEST(AgentWorld, WheelsGoWithTheBodyThatTheyHangOn) {
  const Scenario scenario = read(
      "  members:\n    cone1: {kind: passive, client: a}\n"
      "    car02: {kind: car, client: b, path: [[0, 0], [1, 0]]}\n");
  AgentWorld world(scenario, "a");
  world::Engine& engine = world.stage().world().engine();
  const std::uint32_t body = *engine.catalog().body("car02"), wheel = *engine.catalog().body("car02/wheel_fl");
  AgentState other;
  other.name = "car02";
  other.position = {50, 60, 0.54};
  ASSERT_TRUE(world.place(other));
  const auto at = engine.motion(wheel).pose.position, from = engine.motion(body).pose.position;
  EXPECT_NEAR(at[0] - from[0], 1.25, 0.01) << "ahead by the front axle, whichever way it faces";
  EXPECT_NEAR(at[1] - from[1], 0.77, 0.01);
}

TEST(AgentWorld, OthersCollideAsTheScenarioSays) {
  EXPECT_GT(pushed(true), 0.05);
  EXPECT_LT(pushed(false), 0.01);
}

TEST(AgentWorld, ACarObeysItsSignalWhoeverSwitchesIt) {
  const Scenario scenario = read(
      "  members:\n"
      "    s: {kind: lights, client: b, phases: [{lasts: 1s, green: [south]}]}\n"
      "    car01: {kind: car, client: a, model: kinematic, path: [[1.75, -30], [1.75, 90]], speed: 12, obeys: s/south, "
      "stop: [1.75, -16]}\n");
  AgentWorld world(scenario, "a");
  AgentState lights, car;
  lights.name = "s";
  lights.kind = static_cast<std::uint8_t>(AgentKind::lights);
  lights.heads = {"s/south"};
  const auto drive = [&](Lamp lamp, SimSpan span) {
    lights.lamps = {static_cast<std::uint8_t>(lamp)};
    for (const SimTime until = world.time() + span; world.time() < until;) {
      world.place(lights);
      ASSERT_TRUE(world.take_step().ok());
    }
    world.fill(0, car);
  };
  drive(Lamp::red, 6s);
  EXPECT_LT(car.position[1], -15) << "waits at the line";
  EXPECT_NEAR(car.linear[1], 0, 0.2);
  drive(Lamp::green, 6s);
  EXPECT_GT(car.position[1], 0) << "goes on";
}

TEST(AgentWorld, APedestrianKeepsItsScheduleAlsoWhenItsClientJoinsLate) {
  const Scenario scenario = read(
      "  members:\n    anna: {kind: pedestrian, client: a, schedule: [{at: 0s, position: [0, 0]}, {at: 10s, position: "
      "[10, 0]}]}\n");
  AgentWorld world(scenario, "a");
  world.skip_to(SimTime::zero() + SimSpan(5s));
  AgentState anna;
  world.fill(0, anna);
  EXPECT_NEAR(anna.position[0], 5, 1e-9);
  EXPECT_NEAR(anna.linear[0], 1, 1e-9);
}

}  // namespace
}  // namespace isochron
