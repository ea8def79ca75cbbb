// Radio as scenarios describe it: what is refused, what lights tell, and what drivers do with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/build_parts.hpp"
#include "run/agent_world.hpp"
#include "traffic/v2x_security.hpp"

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

std::string complaint_without_agents(const std::string& rest) {
  try {
    check_v2x(read_scenario("name: test\nworld: {model: crossing.xml, step: 5ms}\ntime: {mode: callback}\n" + rest,
                            "test.yaml", ISOCHRON_SOURCE_DIR "/models"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(V2xSection, WithoutAgentsRobotsHaveRadios) {
  EXPECT_THAT(complaint_without_agents("v2x: {medium: ideal}\n"), HasSubstr("and there are none"));
  EXPECT_EQ(complaint_without_agents("v2x: {medium: ideal}\nrobots: {anna: {}, car01: {}}\n"), "");
  EXPECT_THAT(complaint_without_agents("v2x: {equipped: [ana]}\nrobots: {anna: {}}\n"),
              HasSubstr("there is no robot `ana`"));
  EXPECT_THAT(complaint_without_agents("v2x: {intersections: {s: {lanes: {}}}}\nrobots: {anna: {}}\n"),
              HasSubstr("kind lights called `s`"));
}

TEST(V2xSection, AttacksAndUnitsAreRefusedWithTheirPlace) {
  const std::string text = complaint(
      "  attacks:\n    - {kind: ghosts, count: 0}\n    - {kind: falsify}\n    - {kind: jam, at: [0, 0], copies: 3}\n"
      "    - {kind: drop, insider: true}\n    - {kind: falsify, speed: 400, from: 3s, until: 2s}\n"
      "  unit: {every: 1ms, power: 90}\n  units: {car77: {congestion: false, slowest: 1s}}\n"
      "  security: {without: [nobody]}\n");
  for (const char* sentence :
       {"needs `at`", "must be from 1 to 100", "has nothing to say", "`copies` does nothing for an attack of kind jam",
        "`insider` does nothing for an attack of kind drop", "0 to 163 m/s", "must be after `from`", "10ms or more",
        "-20 to 50 dBm", "there is no car `car77`", "does nothing without congestion control",
        "there is no station `nobody`"}) {
    EXPECT_THAT(text, HasSubstr(sentence));
  }
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
  const Signals signals("s", scenario.agents->members[0].second.phases);
  const v2x::SignalPlan plan = signal_plan(signals, "south", 1, SimTime::zero() + SimSpan(24s));
  ASSERT_GE(plan.spans.size(), 3u);
  EXPECT_EQ(plan.spans[0].state, v2x::SignalState::protected_movement_allowed);
  EXPECT_EQ(plan.spans[0].until, SimTime::zero() + SimSpan(30s));
  EXPECT_EQ(plan.spans[1].state, v2x::SignalState::protected_clearance);
  EXPECT_EQ(plan.spans[1].until, SimTime::zero() + SimSpan(32s));
  EXPECT_EQ(plan.spans[2].until, SimTime::zero() + SimSpan(40s));
  const v2x::SignalPlan east = signal_plan(signals, "east", 2, SimTime::zero() + SimSpan(1s));
  EXPECT_EQ(east.spans[0].until, SimTime::zero() + SimSpan(12s));  // one red, though two phases
}

TEST(SignalPlan, AnActuatedPhaseHasAnEarliestAndALatestEnd) {
  const Scenario scenario = read_scenario(
      "name: test\nworld: {model: crossing.xml, step: 5ms}\ntime: {mode: heartbeat}\nagents:\n  members:\n"
      "    s: {kind: lights, client: a, phases: [{lasts: 5s, most: 20s, detectors: [[0, 0]], green: [n]}, "
      "{lasts: 3s, yellow: [n]}, {lasts: 10s, green: [e]}]}\n",
      "test.yaml", ISOCHRON_SOURCE_DIR "/models");
  const Signals signals("s", scenario.agents->members[0].second.phases);
  const v2x::SignalPlan east = signal_plan(signals, "e", 1, SimTime::zero() + SimSpan(1s));
  EXPECT_EQ(east.spans[0].until, SimTime::zero() + SimSpan(8s));
  EXPECT_EQ(east.spans[0].latest, SimTime::zero() + SimSpan(23s));
  EXPECT_EQ(east.spans[1].latest, SimTime::zero() + SimSpan(33s));
}

/// What the lights' SPaT says of each group at the beginning.
std::map<int, v2x::SignalState> told(const std::string& lanes_text) {
  const Scenario scenario = read("  medium: ideal\n" + lanes_text);
  AgentWorld world(scenario, "a");
  std::map<int, v2x::SignalState> states;
  for (int i = 0; i < 20; ++i) {
    for (const v2x::AirSend& send : world.report_radio(10ms).sends) {
      const auto frame = v2x::decode(send.octets);
      const auto* spat = std::get_if<v2x::Spat>(&frame->message);
      if (spat == nullptr) continue;
      for (const v2x::MovementState& movement : spat->intersections[0].movements) {
        states[movement.signal_group] = movement.events[0].state;
      }
    }
    for (int k = 0; k < 2; ++k) EXPECT_TRUE(world.take_step().ok());
  }
  return states;
}

TEST(V2xUnit, SaysPermissiveForTurnsThatYieldAndProtectedForTheOthers) {
  const std::string two =
      "  intersections:\n    s:\n      lanes:\n"
      "        in: {nodes: [[1.75, -13], [1.75, -110]], head: south, to: [out, west], yields: [west]}\n"
      "        out: {nodes: [[1.75, 13], [1.75, 110]]}\n        west: {nodes: [[-13, 1.75], [-110, 1.75]]}\n";
  const auto states = told(two);
  ASSERT_EQ(states.size(), 3u) << "south, east, and those who turn left from the south";
  EXPECT_EQ(states.at(1), v2x::SignalState::protected_movement_allowed);
  EXPECT_EQ(states.at(2), v2x::SignalState::stop_and_remain);
  EXPECT_EQ(states.at(3), v2x::SignalState::permissive_movement_allowed);
  EXPECT_THAT(complaint("  intersections: {s: {lanes: {in: {nodes: [[0, 0], [0, 90]], head: south, yields: [out]}, "
                        "out: {nodes: [[0, 0], [9, 0]]}}}}\n"),
              HasSubstr("does not lead to `out`"));
}

/// The client `a` alone with an ideal air, from some time on for so many heartbeats; `look` sees its car after each.
void drive(const std::string& options, SimSpan from, int heartbeats,
           const std::function<void(const AgentWorld&, const AgentState& car)>& look) {
  const Scenario scenario = read("  medium: ideal\n" + options + lanes);
  AgentWorld world(scenario, "a");
  world.skip_to(SimTime::zero() + from);
  v2x::Air air(air_settings(scenario));
  AgentState car;
  for (int i = 0; i < heartbeats; ++i) {
    air.hear(world.report_radio(10ms));
    v2x::AirNews news;
    air.advance(world.time() + 10ms, [&](v2x::AirDelivery&& d) { news.deliveries.push_back(std::move(d)); });
    world.radio()->hear(std::move(news));
    for (int k = 0; k < 2; ++k) EXPECT_TRUE(world.take_step().ok());
    world.fill(1, car);
    look(world, car);
  }
}

double speed_of(const AgentState& car) { return std::hypot(car.linear[0], car.linear[1]); }

/// How fast the car was at most in four seconds.
double fastest(const std::string& options, SimSpan from) {
  double most = 0;
  drive(options, from, 400, [&](const AgentWorld&, const AgentState& car) { most = std::max(most, speed_of(car)); });
  return most;
}

/// What client a's car says of its place in two seconds: how far from where it is, and how sure it says it is.
struct Said {
  double off_most = 0, off_mean = 0, sure_m = -1;
  int unavailable = 0;
};
Said places_said(const std::string& robots) {
  const Scenario scenario = read("  medium: ideal\n" + lanes + robots);
  AgentWorld world(scenario, "a");
  const v2x::GeoFrame frame(scenario.v2x->latitude, scenario.v2x->longitude, scenario.v2x->altitude);
  Said found;
  int count = 0;
  for (int i = 0; i < 200; ++i) {
    AgentState car;
    world.fill(1, car);
    for (const v2x::AirSend& send : world.report_radio(10ms).sends) {
      if (send.from != "car01") continue;
      const auto message = v2x::decode(send.octets);
      const v2x::BsmCore& core = std::get<v2x::Bsm>(message->message).core;
      if (!core.latitude_deg) {
        ++found.unavailable;
        continue;
      }
      const v2x::Vec3 there = frame.from(*core.latitude_deg, *core.longitude_deg);
      const double later = (send.at - world.time()).seconds();
      const double off = std::hypot(there.x - car.position[0] - later * car.linear[0],
                                    there.y - car.position[1] - later * car.linear[1]);
      found.off_most = std::max(found.off_most, off);
      found.off_mean += off;
      ++count;
      found.sure_m = core.accuracy.semi_major_m.value_or(-1);
    }
    for (int k = 0; k < 2; ++k) EXPECT_TRUE(world.take_step().ok());
  }
  found.off_mean /= std::max(count, 1);
  return found;
}
std::string with_gps(const std::string& options) {
  return "robots: {c: {body: car04, sensors: {gps: {type: gps, every: 100ms, position: [-1, 0, 0.95], "
         "gps: {latitude: 43.0731, longitude: -89.4009, altitude: 260, " +
         options + "}}}}}\n";
}

TEST(V2xUnit, ACarWithAReceiverSaysWhatItsReceiverSays) {
  const Said truth = places_said("");
  EXPECT_LT(truth.off_most, 0.03);
  EXPECT_EQ(truth.sure_m, 0);
  const Said exact = places_said(with_gps("horizontal_noise: 0, vertical_noise: 0"));
  EXPECT_LT(exact.off_most, 0.2) << "of its middle, wherever the antenna is; it speeds up between two readings";
  const Said noisy = places_said(with_gps("horizontal_noise: 2"));
  EXPECT_GT(noisy.off_mean, 0.8);
  EXPECT_GT(noisy.sure_m, 1.5);
  EXPECT_EQ(truth.unavailable, 0);
}

TEST(V2xSection, AReceiverHasTheOriginThatMessagesHave) {
  EXPECT_THAT(complaint(lanes + "robots: {c: {body: car04, sensors: {gps: {type: gps, every: 100ms}}}}\n"),
              HasSubstr("origin elsewhere"));
}

/// What client a's car sends in half a second.
std::vector<v2x::AirSend> sent(const std::string& options) {
  const Scenario scenario = read("  medium: ideal\n" + options + lanes);
  AgentWorld world(scenario, "a");
  std::vector<v2x::AirSend> all;
  for (int i = 0; i < 50; ++i) {
    for (v2x::AirSend& send : world.report_radio(10ms).sends) {
      if (send.from == "car01") all.push_back(std::move(send));
    }
    for (int k = 0; k < 2; ++k) EXPECT_TRUE(world.take_step().ok());
  }
  return all;
}

TEST(V2xUnit, IsSetByTheScenario) {
  EXPECT_NEAR(static_cast<double>(sent("").size()), 5, 1);
  EXPECT_NEAR(static_cast<double>(sent("  unit: {every: 50ms}\n").size()), 10, 1.5);
  EXPECT_EQ(sent("  units: {car01: {says: nothing}}\n").size(), 0u);
  const auto quieter = sent("  unit: {power: 12}\n  units: {car01: {power: 7, says: psm}}\n");
  ASSERT_FALSE(quieter.empty());
  EXPECT_EQ(quieter[0].power_dbm, 7);
  const auto frame = v2x::decode(quieter[0].octets);
  ASSERT_TRUE(frame.ok());
  EXPECT_TRUE(std::holds_alternative<v2x::Psm>(frame->message));
}

TEST(V2xUnit, SignsWhatItSaysAndTakesWhatIsSigned) {
  if (!has_part("OpenSSL")) GTEST_SKIP() << "this build has no OpenSSL";
  const auto messages = sent("  security: {}\n");
  ASSERT_FALSE(messages.empty());
  const auto first = v2x::open_envelope(messages[0].octets);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(first->signed_part.has_value());
  EXPECT_EQ(first->signed_part->signer, v2x::SignerKind::certificate);
  EXPECT_EQ(v2x::open_envelope(messages[1].octets)->signed_part->signer, v2x::SignerKind::digest);
  EXPECT_TRUE(v2x::decode(first->message).ok());
  EXPECT_FALSE(v2x::is_envelope(sent("  security: {without: [car01]}\n").at(0).octets));
  const Scenario scenario = read("  security: {revoked: [car09]}\n");
  V2xSecurity here(scenario), there(scenario);
  const v2x::Bytes bsm = first->message;
  const SimTime now = SimTime::zero() + SimSpan(3s);
  const v2x::Bytes said = here.signed_by("car01", now, bsm);
  EXPECT_EQ(there.believed("car02", now, said), std::optional(bsm));
  const v2x::Bytes again = here.signed_by("car01", now, bsm);  // by its digest
  EXPECT_EQ(there.believed("car02", now, again), std::optional(bsm));
  EXPECT_EQ(there.believed("car03", now, again), std::nullopt) << "it has not heard the certificate";
  EXPECT_EQ(there.believed("car02", now + 1s, again), std::nullopt) << "replayed";
  EXPECT_EQ(there.believed("car02", now, bsm), std::nullopt) << "not signed";
  EXPECT_EQ(there.believed("car02", now, here.signed_by("car09", now, bsm)), std::nullopt) << "revoked";
  EXPECT_EQ(there.refused(), 4u);
}

TEST(V2xUnit, WhoKnowsWhenItTurnsGreenDoesNotBrakeForTheRed) {
  // Red for some 5 s more: who is told rolls up to the line and over it; who is not stops, and starts from rest.
  const auto slowest = [](const std::string& options) {
    double least = 1e9, at_last = 0;
    int heartbeats = 0;
    drive(options, 12s, 1400, [&](const AgentWorld& world, const AgentState& car) {
      if (heartbeats++ > 200) least = std::min(least, speed_of(car));
      at_last = car.position[1];
      const bool red = world.time() > SimTime::zero() + SimSpan(12s) && world.time() < SimTime::zero() + SimSpan(20s);
      EXPECT_FALSE(red && at_last > -13 && at_last < 0) << "over the line at red";
    });
    EXPECT_GT(at_last, 0) << "it got through";
    return least;
  };
  const double told = slowest(""), deaf = slowest("  deaf: [car01]\n");
  EXPECT_GT(told, 2);
  EXPECT_GT(told, deaf + 0.3);
}

TEST(V2xUnit, ADriverTakesTheAdviceUnlessDeaf) {
  // The signal is red for 7 s more: slowly.
  const double advised = fastest("", 13s), deaf = fastest("  deaf: [car01]\n", 13s);
  EXPECT_LT(advised, deaf - 0.5);
}

}  // namespace
}  // namespace isochron
