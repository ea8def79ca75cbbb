// Drivers, walkers and signals of a shared world: what they see, when they act, and what they keep to.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "run/agent_world.hpp"

namespace isochron {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr SimTime at(SimSpan span) { return SimTime::zero() + span; }

Scenario read(const std::string& agents, int seed = 1) {
  return read_scenario("name: test\nseed: " + std::to_string(seed) +
                           "\nworld: {model: crossing.xml, step: 5ms}\ntime: {mode: heartbeat}\nagents:\n" + agents,
                       "test.yaml", ISOCHRON_SOURCE_DIR "/models");
}
std::string complaint(const std::string& agents) {
  try {
    check_agents(read(agents));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

double speed_of(const AgentState& car) { return std::hypot(car.linear[0], car.linear[1]); }
AgentState of(const AgentWorld& world, std::size_t own) {
  AgentState state;
  world.fill(own, state);
  return state;
}

/// Client a's world, step by step; `look` sees it after each.
void drive(AgentWorld& world, SimSpan span, const std::function<void()>& look) {
  for (const SimTime end = world.time() + span; world.time() < end;) {
    ASSERT_TRUE(world.take_step().ok());
    look();
  }
}

/// One behind another that brakes with 6 m/s² after thirty seconds: when it begins to brake itself, how hard at most, and how
/// far apart they come to stand.
struct Following {
  double begins_s = -1, hardest = 0, gap = 0;
};
Following follow(const std::string& kind, int seed = 1) {
  const Scenario scenario = read("  members:\n    car01: {kind: car, client: a, model: kinematic, driver: " + kind +
                                     ", speed: 14, path: [[1.75, -110], [1.75, 900]]}\n"
                                     "    car02: {kind: car, client: b, path: [[0, 0], [1, 0]]}\n",
                                 seed);
  AgentWorld world(scenario, "a");
  AgentState leader;
  leader.name = "car02";
  leader.orientation = {std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
  double y = of(world, 0).position[1] + 30, v = 12, before = 0;
  Following found;
  drive(world, 42s, [&] {
    const double t = world.time().seconds();
    if (t > 30) v = std::max(0.0, v - 6 * 0.005);
    y += v * 0.005;
    leader.position = {1.75, y, 0.54};
    leader.linear = {0, v, 0};
    EXPECT_TRUE(world.place(leader));
    const double now = speed_of(of(world, 0)), braking = (before - now) / 0.005;
    before = now;
    if (t > 30 && found.begins_s < 0 && braking > 1.5) found.begins_s = t - 30;
    if (t > 1) found.hardest = std::max(found.hardest, braking);
  });
  found.gap = y - of(world, 0).position[1] - 4.5;
  return found;
}

TEST(Drivers, AHumanActsAReactionTimeLaterAndNobodyBrakesHarderThanDriversDo) {
  const Following ideal = follow("ideal"), human = follow("human");
  EXPECT_GE(ideal.begins_s, 0);
  const double reaction = temper_of(DriverKind::human, 1, "car01").reaction.seconds();
  EXPECT_GE(human.begins_s, reaction);
  EXPECT_LT(human.begins_s, reaction + 1.5);
  for (const Following& each : {ideal, human}) {
    EXPECT_GT(each.gap, 0.3) << "they do not touch";
    EXPECT_LT(each.gap, 8);
    EXPECT_LT(each.hardest, 8.2);
  }
}

TEST(Drivers, HumansDifferBySeedAndNameAndRepeat) {
  const Following one = follow("human", 1), again = follow("human", 1), other = follow("human", 2);
  EXPECT_EQ(one.gap, again.gap);
  EXPECT_NE(one.gap, other.gap);
  EXPECT_NE(temper_of(DriverKind::human, 1, "car01").reaction, temper_of(DriverKind::human, 1, "car02").reaction);
  EXPECT_EQ(temper_of(DriverKind::ideal, 1, "car01").reaction, SimSpan::zero());
}

TEST(Awareness, AHumanSeesWhoIsInSightAReactionTimeLater) {
  const auto engine = world::load_engine("mujoco", ISOCHRON_SOURCE_DIR "/models/crossing.xml");
  const std::uint32_t own = *engine->catalog().body("car01"), other = *engine->catalog().body("car02");
  v2x::Boxes buildings;
  buildings.add_fixed({{20, 10, 5}, {1, 0, 0, 0}, {5, 5, 5}});
  const SimSpan period = 20ms;
  Awareness awareness({{own}, {other}}, buildings, period);
  Temper temper = temper_of(DriverKind::human, 1, "car01");
  const std::size_t human = awareness.add(own, temper, RandomStream(1, "eyes"));
  const std::size_t ideal = awareness.add(own, Temper{}, RandomStream(1, "eyes"));
  // The other one comes out from behind the building, sideways; the time of the engine passes by steps.
  double shown_at = -1, seen_at = -1, known_at = -1;
  for (int i = 0; i < 400; ++i) {
    const double t = i * 0.02, y = 30 - 5 * t;
    engine->set_motion(own, {{{0, 0, 0.5}, {1, 0, 0, 0}}, {}, {}});
    engine->set_motion(other, {{{40, y, 0.5}, {1, 0, 0, 0}}, {0, -5, 0}, {}});
    awareness.remember(*engine);
    if (shown_at < 0 && buildings.line_of_sight({0, 0, 1.1}, {40, y, 1.1})) shown_at = t;
    if (known_at < 0 && !awareness.of(ideal).empty()) known_at = t;
    if (seen_at < 0 && !awareness.of(human).empty()) {
      seen_at = t;
      EXPECT_NEAR(awareness.of(human)[0].motion.pose.position[1], y, 3) << "where it is by now, not where it was";
    }
    ASSERT_TRUE(engine->step(period).ok());
  }
  EXPECT_EQ(known_at, 0) << "who is ideal knows it from the beginning";
  EXPECT_GT(shown_at, 0.5);
  EXPECT_GE(seen_at, shown_at + temper.reaction.seconds() - 0.03);
  EXPECT_LE(seen_at, shown_at + temper.reaction.seconds() + 2.5) << "eyes may be elsewhere for a moment";
}

/// A car at 12 m/s whose signal turns yellow when it is so far before its line: how hard it brakes, and where it is after
/// six seconds.
struct Yellow {
  double hardest = 0, past_line = 0;
};
Yellow meets_yellow(double metres, const std::string& kind) {
  // It has 110 m to its line, less what the yellow takes place before.
  const std::string green = std::to_string(static_cast<int>((110 - metres) / 12 * 1000)) + "ms";
  const Scenario scenario = read(
      "  routes:\n    south: {path: [[300, -126], [300, 200]], obeys: s/south, stop: [300, -16]}\n"
      "  members:\n    s: {kind: lights, client: a, phases: [{lasts: " +
      green +
      ", green: [south]}, {lasts: 3500ms, yellow: [south]}, {lasts: 60s, green: [east]}]}\n"
      "    car01: {kind: car, client: a, model: kinematic, driver: " +
      kind + ", trips: [{at: 0s, route: south, speed: 12}]}\n");
  AgentWorld world(scenario, "a");
  Yellow found;
  double before = 12;
  drive(world, SimSpan::from_seconds((110 - metres) / 12 + 6), [&] {
    const double now = speed_of(of(world, 1));
    if (world.time() > at(1s)) found.hardest = std::max(found.hardest, (before - now) / 0.005);
    before = now;
  });
  found.past_line = of(world, 1).position[1] + 13;
  return found;
}

TEST(RightOfWay, AtYellowWhoCanStopInComfortStopsAndWhoCannotDrivesOn) {
  for (const char* kind : {"ideal", "human"}) {
    const Yellow far = meets_yellow(50, kind), near = meets_yellow(14, kind);
    EXPECT_LT(far.past_line, 0) << kind;
    EXPECT_LT(far.hardest, 3.6) << kind;
    EXPECT_GT(near.past_line, 20) << kind;
    EXPECT_LT(near.hardest, 1) << kind;
  }
}

TEST(RightOfWay, NobodyEntersACrossingThatItCannotLeave) {
  const Scenario scenario = read(
      "  members:\n    car01: {kind: car, client: a, model: kinematic, speed: 10, path: [[1.75, -30], [1.75, 90]], "
      "obeys: s/south, stop: [1.75, -16], clear: [1.75, 13]}\n"
      "    s: {kind: lights, client: a, phases: [{lasts: 60s, green: [south]}]}\n"
      "    car02: {kind: car, client: b, path: [[0, 0], [1, 0]]}\n");
  AgentWorld world(scenario, "a");
  AgentState other;
  other.name = "car02";
  other.orientation = {std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
  other.position = {1.75, 18, 0.54};  // right behind the crossing
  drive(world, 10s, [&] { EXPECT_TRUE(world.place(other)); });
  EXPECT_LT(of(world, 0).position[1], -13) << "it waits at its line, though that is green";
  other.position[1] = 60;
  drive(world, 8s, [&] { EXPECT_TRUE(world.place(other)); });
  EXPECT_GT(of(world, 0).position[1], 0);
}

TEST(Trips, ACarEntersAtItsTimeLeavesAtTheEndAndComesAgain) {
  const Scenario scenario = read(
      "  routes:\n    north: {path: [[300, -60], [300, 60]]}\n    east: {path: [[240, 0], [360, 0]]}\n"
      "  members:\n    car01: {kind: car, client: a, model: kinematic, trips: [{at: 1s, route: north, speed: 12}, "
      "{at: 5s, route: east, speed: 12}]}\n"
      "    car03: {kind: car, client: a, trips: [{at: 1s, route: north, speed: 12}]}\n");
  AgentWorld world(scenario, "a");
  std::vector<double> entered;
  bool there = false;
  double nearest = 1e9;
  AgentState before = of(world, 0);
  drive(world, 30s, [&] {
    const AgentState one = of(world, 0), two = of(world, 1);
    const bool now = one.position[0] < 1000;
    const double way = std::hypot(one.position[0] - before.position[0], one.position[1] - before.position[1]);
    if (now && way > 20) entered.push_back(world.time().seconds());
    there = now;
    before = one;
    nearest = std::min(nearest, std::hypot(one.position[0] - two.position[0], one.position[1] - two.position[1]));
  });
  ASSERT_EQ(entered.size(), 2u);
  EXPECT_NEAR(entered[0], 1, 0.05);
  EXPECT_GT(entered[1], 10) << "it is under way until then, though it was due earlier";
  EXPECT_FALSE(there) << "it has left";
  EXPECT_GT(nearest, 5) << "the other one entered when there was room";
  EXPECT_GT(of(world, 1).position[0], 1000) << "a car with full dynamics has left too";
}

TEST(Trips, MistakesHavePlacesAndSentences) {
  const std::string text = complaint(
      "  routes:\n    north: {path: [[1, 1], [1, 1]], clear: [1, 1]}\n"
      "  members:\n    car01: {kind: car, client: a, speed: 3, trips: [{at: 2s, route: nord}, {at: 1s, route: "
      "north}]}\n"
      "    anna: {kind: pedestrian, client: a, path: [[0, 0], [1, 0]], schedule: [{at: 0s, position: [0, 0]}]}\n"
      "    s: {kind: lights, client: a, phases: [{lasts: 5s, green: [n], most: 3s}]}\n");
  EXPECT_THAT(text, HasSubstr("there is no route `nord`"));
  EXPECT_THAT(text, HasSubstr("times of trips must grow"));
  EXPECT_THAT(text, HasSubstr("two points of a path are the same"));
  EXPECT_THAT(text, HasSubstr("`clear` needs `stop`"));
  EXPECT_THAT(text, HasSubstr("leave `speed` out"));
  EXPECT_THAT(text, HasSubstr("a schedule, or a path"));
  EXPECT_THAT(text, HasSubstr("`most` is less than `lasts`"));
  EXPECT_THAT(text, HasSubstr("both `most` and `detectors`"));
}

/// Anna crosses the road; a car comes from so far away (or stands there). When she is across, and how near they came.
struct Crossed {
  double across_s = -1, nearest = 1e9;
};
Crossed cross(double away, double speed) {
  const Scenario scenario = read(
      "  members:\n    anna: {kind: pedestrian, client: a, path: [[-9, -8], [-4, -8], [4, -8], [9, -8]], "
      "crosses: [{from: [-3.5, -8], to: [3.5, -8]}]}\n"
      "    car02: {kind: car, client: b, path: [[0, 0], [1, 0]]}\n");
  AgentWorld world(scenario, "a");
  AgentState car;
  car.name = "car02";
  car.orientation = {std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
  Crossed found;
  drive(world, 25s, [&] {
    car.position = {1.75, -8 - away + speed * world.time().seconds(), 0.54};
    car.linear = {0, speed, 0};
    EXPECT_TRUE(world.place(car));
    const AgentState anna = of(world, 0);
    if (found.across_s < 0 && anna.position[0] > 3.5) found.across_s = world.time().seconds();
    const double dx = std::max(0.0, std::fabs(anna.position[0] - car.position[0]) - 0.9);
    const double dy = std::max(0.0, std::fabs(anna.position[1] - car.position[1]) - 2.25);
    found.nearest = std::min(found.nearest, std::hypot(dx, dy));
  });
  return found;
}

TEST(Pedestrian, LooksBeforeItCrosses) {
  const Crossed alone = cross(300, 0), comes = cross(85, 12), stands = cross(30, 0);
  EXPECT_GT(alone.across_s, 5);
  EXPECT_LT(alone.across_s, 12);
  EXPECT_GT(comes.across_s, alone.across_s + 1) << "it waits until the car is by";
  EXPECT_GT(comes.nearest, 0.5);
  EXPECT_NEAR(stands.across_s, alone.across_s, 1);
}

TEST(Pedestrian, WaitsForItsSignal) {
  const Scenario scenario = read(
      "  members:\n    anna: {kind: pedestrian, client: a, speed: 1.2, path: [[-6, -8], [6, -8]], "
      "crosses: [{from: [-3.5, -8], to: [3.5, -8], obeys: s/walk}]}\n"
      "    s: {kind: lights, client: a, phases: [{lasts: 8s, green: [south]}, {lasts: 20s, green: [walk]}]}\n");
  AgentWorld world(scenario, "a");
  drive(world, 8s, [&] { EXPECT_LT(of(world, 0).position[0], -3.3); });
  drive(world, 8s, [] {});
  EXPECT_GT(of(world, 0).position[0], 3.5);
}

TEST(Signals, AnActuatedPhaseLastsAsLongAsCarsCome) {
  const Scenario scenario = read(
      "  members:\n    s: {kind: lights, client: a, phases: [{lasts: 5s, most: 20s, gap: 2s, detectors: [[0, 0]], "
      "green: [n]}, {lasts: 4s, green: [e]}]}\n");
  const auto green_for = [&](const std::function<bool(double)>& car_at) {
    Signals signals("s", scenario.agents->members[0].second.phases);
    LampBoard board;
    for (double t = 0; t < 60; t += 0.02) {
      signals.advance(at(SimSpan::from_seconds(t)), [&](const auto&) { return car_at(t); });
      signals.show(at(SimSpan::from_seconds(t)), board);
      if (board["s/n"] != Lamp::green) return t;
    }
    return 60.0;
  };
  EXPECT_NEAR(green_for([](double) { return false; }), 5, 0.05) << "nobody comes";
  EXPECT_NEAR(green_for([](double t) { return t < 8; }), 10, 0.05) << "the last one, and the gap";
  EXPECT_NEAR(green_for([](double) { return true; }), 20, 0.05) << "no longer than the most";
}

}  // namespace
}  // namespace isochron
