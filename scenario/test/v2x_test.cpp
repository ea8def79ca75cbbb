// Radio as scenarios describe it: what is refused, what lights tell, and what drivers do with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/agent_world.hpp"

namespace isochron {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

const std::string members =
    "  members:\n"
    "    s: {kind: lights, client: a, phases: [{lasts: 10s, green: [south]}, {lasts: 2s, yellow: [south]}, "
    "{lasts: 8s, green: [east]}]}\n"
    "    car01: {kind: car, client: a, body: car04, model: kinematic, path: [[1.75, -60], [1.75, 90]], speed: 12, "
    "obeys: s/south, stop: [1.75, -16]}\n"
    "    car09: {kind: car, client: b, path: [[30, 1.75], [-110, 1.75]], speed: 12}\n";

Scenario read(const std::string& v2x) {
  return read_scenario("name: test\nworld: {model: crossing.xml, step: 5ms}\ntime: {mode: heartbeat}\nagents:\n" +
                           members + "v2x:\n" + v2x,
                       "test.yaml", ISOCHRON_SOURCE_DIR "/models");
}
std::string complaint(const std::string& v2x) {
  try {
    check_agents(read(v2x));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}
const std::string lanes =
    "  intersections:\n    s:\n      lanes:\n"
    "        in: {nodes: [[1.75, -13], [1.75, -110]], head: south, to: [out]}\n"
    "        out: {nodes: [[1.75, 13], [1.75, 110]]}\n";

TEST(V2xSection, SaysEveryMistakeWithItsPlace) {
  const std::string text = complaint(
      "  equipped: [car1]\n  deaf: [s]\n  loss: 0.3\n  attacks: [{kind: drop, victims: [car10]}]\n"
      "  intersections:\n    t:\n      lanes: {in: {nodes: [[0, 0]], head: soth, to: [away]}}\n");
  EXPECT_THAT(text, HasSubstr("test.yaml:10:"));
  EXPECT_THAT(text, HasSubstr("there is no car `car1`"));
  EXPECT_THAT(text, HasSubstr("there is no car `s`"));
  EXPECT_THAT(text, HasSubstr("there is no station `car10`"));
  EXPECT_THAT(text, HasSubstr("kind lights called `t`"));
  EXPECT_THAT(text, HasSubstr("needs two nodes"));
  EXPECT_THAT(text, HasSubstr("there is no signal `soth`"));
  EXPECT_THAT(text, HasSubstr("there is no lane `away`"));
  EXPECT_EQ(complaint(lanes), "");
}

TEST(V2xSection, WhatNoMapCanHoldIsRefused) {
  EXPECT_THAT(complaint("  intersections: {s: {lanes: {in: {nodes: [[0, 0], [0, 9000]], head: south}}}}\n"),
              HasSubstr("is outside"));
}

TEST(V2xSection, NeedsAgents) {
  const Scenario scenario = read_scenario(
      "name: test\nworld: {model: crossing.xml, step: 5ms}\ntime: {mode: callback}\nv2x: {medium: ideal}\n",
      "test.yaml", ISOCHRON_SOURCE_DIR "/models");
  EXPECT_THROW(check_v2x(scenario), InputError);
}

TEST(Air, TakesStationsBuildingsAndVehiclesFromTheScenario) {
  const v2x::AirSettings air = air_settings(read(lanes + "  attacks: [{kind: delay, victims: [car09], by: 1s}]\n"));
  ASSERT_EQ(air.stations.size(), 3u);
  EXPECT_TRUE(air.stations[0].fixed);
  EXPECT_EQ(air.stations[2].name, "car09");
  EXPECT_GE(air.buildings.size(), 1u);
  ASSERT_EQ(air.bodies.size(), 2u);
  EXPECT_GE(air.bodies[0].boxes.size(), 2u);
  ASSERT_EQ(air.attacks.size(), 1u);
  EXPECT_EQ(air.attacks[0].victims, std::vector<v2x::StationId>{2});
}

TEST(SignalPlan, TellsWhatComesNext) {
  const Scenario scenario = read(lanes);
  const auto& phases = scenario.agents->members[0].second.phases;
  const v2x::SignalPlan plan = signal_plan(phases, "south", 1, SimTime::zero() + SimSpan(24s));
  ASSERT_GE(plan.spans.size(), 3u);
  EXPECT_EQ(plan.spans[0].state, v2x::SignalState::protected_movement_allowed);
  EXPECT_EQ(plan.spans[0].until, SimTime::zero() + SimSpan(30s));
  EXPECT_EQ(plan.spans[1].state, v2x::SignalState::protected_clearance);
  EXPECT_EQ(plan.spans[1].until, SimTime::zero() + SimSpan(32s));
  EXPECT_EQ(plan.spans[2].until, SimTime::zero() + SimSpan(40s));
  const v2x::SignalPlan east = signal_plan(phases, "east", 2, SimTime::zero() + SimSpan(1s));
  EXPECT_EQ(east.spans[0].until, SimTime::zero() + SimSpan(12s));  // one red, though two phases
}

/// The client `a` alone with an ideal air; how fast its car was at most in some seconds.
double fastest(const std::string& options, SimSpan from) {
  const Scenario scenario = read("  medium: ideal\n" + options + lanes);
  AgentWorld world(scenario, "a");
  world.skip_to(SimTime::zero() + from);
  v2x::Air air(air_settings(scenario));
  AgentState car;
  double most = 0;
  for (int i = 0; i < 400; ++i) {
    air.hear(world.report_radio(10ms));
    v2x::AirNews news;
    air.advance(world.time() + 10ms, [&](v2x::AirDelivery&& d) { news.deliveries.push_back(std::move(d)); });
    world.radio()->hear(std::move(news));
    for (int k = 0; k < 2; ++k) EXPECT_TRUE(world.take_step().ok());
    world.fill(1, car);
    most = std::max(most, std::hypot(car.linear[0], car.linear[1]));
  }
  return most;
}

TEST(V2xUnit, ADriverTakesTheAdviceUnlessDeaf) {
  // The signal is red for 7 s more: slowly.
  const double advised = fastest("", 13s), deaf = fastest("  deaf: [car01]\n", 13s);
  EXPECT_LT(advised, deaf - 0.5);
}

}  // namespace
}  // namespace isochron
