// Stations: what they say, what they make of what they hear. Everything goes through the codec.

#include <gtest/gtest.h>

#include "core/input_error.hpp"
#include "v2x/radio/boxes.hpp"
#include "v2x/station/roadside.hpp"
#include "v2x/station/vehicle.hpp"

namespace isochron::v2x {
namespace {

using namespace std::chrono_literals;

const GeoFrame madison(43.0731, -89.4009, 260);
SimTime at(SimSpan t) { return SimTime::zero() + t; }

IntersectionShape four_arms() {
  IntersectionShape shape;
  shape.name = "cross";
  shape.reference = {0, 0, 0};
  shape.lanes = {{"south_in", {{1.75, -13, 0}, {1.75, -120, 0}}, 1, {{1, 1}}},
                 {"north_out", {{1.75, 13, 0}, {1.75, 120, 0}}, 0, {}},
                 {"west_in", {{-13, -1.75, 0}, {-120, -1.75, 0}}, 2, {{3, 2}}},
                 {"east_out", {{13, -1.75, 0}, {120, -1.75, 0}}, 0, {}}};
  return shape;
}

std::vector<SignalPlan> plans(SignalState one, SignalState two, SimTime until, SimTime then) {
  const auto other = [](SignalState s) {
    return is_green(s) ? SignalState::stop_and_remain : SignalState::protected_movement_allowed;
  };
  return {{1, {{one, until}, {other(one), then}}}, {2, {{two, until}, {other(two), then}}}};
}
constexpr auto green = SignalState::protected_movement_allowed, red = SignalState::stop_and_remain;

VehicleMotion driving(SimTime t, const Vec3& p, double heading, double speed) {
  return {t, p, {speed * std::cos(heading), speed * std::sin(heading), 0}, heading, 0};
}
OwnPath straight(const Vec3& p, double heading, double speed) {
  OwnPath path;
  for (int i = 0; i < 80; ++i) path.points.push_back({p.x + i * std::cos(heading), p.y + i * std::sin(heading), 0});
  path.speed_m_s = speed;
  path.wanted_m_s = 13;
  return path;
}
constexpr double east = 0, north = std::numbers::pi / 2;

TEST(GeoFrame, TakesMetresToDegreesAndBack) {
  const Vec3 p{812.5, -341.25, 3};
  const auto c = madison.at(p);
  EXPECT_NEAR(distance(madison.from(c.latitude_deg, c.longitude_deg, c.elevation_m), p), 0, 1e-6);
  EXPECT_NEAR(madison.at({0, 111'113, 0}).latitude_deg - 43.0731, 1, 0.001);  // a degree of latitude there
  EXPECT_NEAR(compass(0), std::numbers::pi / 2, 1e-12);
  EXPECT_NEAR(compass(compass(2.5)), 2.5, 1e-12);
}

TEST(VehicleStation, SaysTenTimesASecondWhereItIs) {
  VehicleStation car({.id = 7, .name = "car"}, madison);
  int said = 0;
  SimTime last = SimTime::before_all();
  for (SimTime t; t < at(5s); t += 10ms) {
    const auto out = car.speak(driving(t, {t.seconds() * 10, -1.75, 0.5}, east, 10), 10ms);
    if (!out) continue;
    ++said;
    EXPECT_GE(out->at, t);
    EXPECT_LT(out->at, t + 10ms);
    EXPECT_TRUE(last == SimTime::before_all() || std::fabs((out->at - last).seconds() - 0.1) < 0.0151);
    last = out->at;
    const auto frame = decode(out->octets);
    ASSERT_TRUE(frame.ok());
    const BsmCore& core = std::get<Bsm>(frame->message).core;
    EXPECT_EQ(core.id, 7u);
    const Vec3 there = madison.from(*core.latitude_deg, *core.longitude_deg);
    EXPECT_NEAR(there.x, out->at.seconds() * 10, 0.02);
    EXPECT_NEAR(there.y, -1.75, 0.02);
    EXPECT_NEAR(*core.speed_m_s, 10, 0.011);
    EXPECT_NEAR(*core.heading_rad, std::numbers::pi / 2, 3e-4);
  }
  EXPECT_NEAR(said, 50, 2);
}

BsmCore said(VehicleStation& car, const VehicleMotion& motion) {
  const auto out = car.speak(motion, 200ms);
  EXPECT_TRUE(out);
  return std::get<Bsm>(decode(out->octets)->message).core;
}

TEST(VehicleStation, SaysWhatItsReceiverSaysAndHowSureThatIs) {
  VehicleStation car({.id = 7, .name = "car"}, madison);
  VehicleMotion motion = driving(at(1s), {0, 0, 0}, east, 0);
  motion.fix = PositionFix{at(950ms), true, {3, -2, 0}, 1.5, 0.5};
  const BsmCore core = said(car, motion);
  const Vec3 there = madison.from(*core.latitude_deg, *core.longitude_deg);
  EXPECT_NEAR(there.x, 3, 0.02);
  EXPECT_NEAR(there.y, -2, 0.02);
  EXPECT_NEAR(*core.accuracy.semi_major_m, 1.5, 0.03);
  EXPECT_NEAR(*core.accuracy.semi_minor_m, 0.5, 0.03);
  EXPECT_NEAR(*core.accuracy.orientation_rad, std::numbers::pi / 2, 1e-3);
  VehicleStation exact({.id = 8, .name = "exact"}, madison);
  EXPECT_EQ(*said(exact, driving(at(1s), {0, 0, 0}, east, 0)).accuracy.semi_major_m, 0);
}

TEST(VehicleStation, CarriesItsFixOnUntilItsNextOne) {
  VehicleStation car({.id = 7, .name = "car"}, madison);
  VehicleMotion motion = driving(at(1s), {0, 0, 0}, east, 10);
  motion.fix = PositionFix{at(900ms), true, {-1, 0, 0}, 1, 1};
  const auto out = car.speak(motion, 200ms);
  ASSERT_TRUE(out);
  const BsmCore core = std::get<Bsm>(decode(out->octets)->message).core;
  EXPECT_NEAR(madison.from(*core.latitude_deg, *core.longitude_deg).x, (out->at - at(1s)).seconds() * 10, 0.02);
}

TEST(VehicleStation, WithoutSatellitesItsPlaceIsUnavailable) {
  for (const PositionFix& fix : {PositionFix{at(1s), false}, PositionFix{at(-500ms), true}}) {
    VehicleStation car({.id = 7, .name = "car"}, madison), other({.id = 9, .name = "other"}, madison);
    VehicleMotion motion = driving(at(1s), {0, 0, 0}, east, 10);
    motion.fix = fix;
    const auto out = car.speak(motion, 200ms);
    ASSERT_TRUE(out);
    const BsmCore core = std::get<Bsm>(decode(out->octets)->message).core;
    EXPECT_FALSE(core.latitude_deg || core.longitude_deg || core.accuracy.semi_major_m);
    EXPECT_NEAR(*core.speed_m_s, 10, 0.02);
    other.hear(out->at + 1ms, out->octets);
    EXPECT_TRUE(other.neighbours().empty());
  }
}

TEST(VehicleStation, CanSayEveryHeading) {
  for (const double off : {-1e-4, -1e-5, -1e-9, 0.0, 1e-9, 1e-5, 1e-4}) {
    VehicleStation car({.id = 7, .name = "car"}, madison);
    const auto out = car.speak(driving(at(1s), {0, 0, 0}, north + off, 10), 100ms);
    ASSERT_TRUE(out);
    const double heading = *std::get<Bsm>(decode(out->octets)->message).core.heading_rad;
    EXPECT_NEAR(std::remainder(heading + off, 2 * std::numbers::pi), 0, 2e-4);
  }
}

TEST(VehicleStation, ManyDoNotBeginAtTheSameMoment) {
  std::vector<int> tenths(10);
  for (int i = 0; i < 200; ++i) {
    VehicleStation car({.id = 7, .name = "car" + std::to_string(i)}, madison);
    std::optional<Outgoing> out;
    for (SimTime t; !out; t += 10ms) out = car.speak(driving(t, {0, 0, 0}, east, 0), 10ms);
    ++tenths.at(static_cast<std::size_t>(out->at.since_zero() / SimSpan(10ms)));
  }
  for (const int n : tenths) EXPECT_GT(n, 5);
}

TEST(VehicleStation, SpeaksLessOftenInACrowd) {
  VehicleStation car({.id = 1, .name = "car"}, madison);
  for (std::uint32_t i = 0; i < 60; ++i) {
    VehicleStation other({.id = 100 + i, .name = "other"}, madison);
    SimTime t;
    for (;; t += 100ms) {
      if (const auto out = other.speak(driving(t, {double(i), 5, 0}, east, 0), 100ms)) {
        car.hear(out->at + 1ms, out->octets);
        break;
      }
    }
  }
  EXPECT_EQ(car.neighbours().size(), 60u);
  for (int i = 0; i < 200; ++i) car.observe(driving(at(200ms), {0, 0, 0}, east, 0), 0.1);
  EXPECT_NEAR(car.congestion().interval().seconds(), 0.24, 0.01);  // 100 ms · 60 / 25
  int straight = 0, circling = 0;
  for (SimTime t = at(1s); t < at(5s); t += 10ms) {
    straight += car.speak(driving(t, {t.seconds() * 30, 0, 0}, east, 30), 10ms) ? 1 : 0;
  }
  for (SimTime t = at(5s); t < at(9s); t += 10ms) {  // others, who go straight on, are soon wrong
    const double turned = t.seconds() * 6;
    circling += car.speak(driving(t, {5 * std::sin(turned), -5 * std::cos(turned), 0}, turned, 30), 10ms) ? 1 : 0;
  }
  EXPECT_NEAR(straight, 17, 3);
  EXPECT_GT(circling, 25);
}

TEST(VehicleStation, RefusesWhatIsOldOrUnreadable) {
  VehicleStation one({.id = 1, .name = "one"}, madison), other({.id = 2, .name = "other"}, madison);
  const auto out = one.speak(driving(at(1s), {0, 0, 0}, east, 10), 200ms);
  ASSERT_TRUE(out);
  other.hear(out->at + 3s, out->octets);
  EXPECT_EQ(other.heard().stale, 1u);
  other.hear(out->at + 2ms, Bytes{1, 2, 3});
  EXPECT_EQ(other.heard().unreadable, 1u);
  EXPECT_TRUE(other.neighbours().empty());
  other.hear(out->at + 2ms, out->octets);
  EXPECT_EQ(other.neighbours().size(), 1u);
}

TEST(RoadsideStation, SaysSpatTenTimesAndMapOnceASecond) {
  RoadsideStation light(four_arms(), madison, 30ms);
  int spats = 0, maps = 0;
  for (SimTime t; t < at(10s); t += 10ms) {
    for (const Outgoing& out : light.speak(t, 10ms, plans(green, red, at(20s), at(40s)))) {
      EXPECT_GE(out.at, t);
      EXPECT_LT(out.at, t + 10ms);
      const auto frame = decode(out.octets);
      ASSERT_TRUE(frame.ok()) << to_string(frame.error());
      (message_id(*frame) == id_spat ? spats : maps) += 1;
    }
  }
  EXPECT_EQ(spats, 100);
  EXPECT_EQ(maps, 10);
}

TEST(RoadsideStation, RefusesAnIntersectionThatNoMapCanHold) {
  IntersectionShape shape = four_arms();
  shape.lanes[0].nodes.resize(1);
  EXPECT_THROW(encode_map(shape, madison), InputError);
  shape = four_arms();
  shape.lanes[1].nodes[0].x = 1e6;
  EXPECT_THROW(encode_map(shape, madison), InputError);
}

/// A car that has heard a light.
class AtTheLight : public testing::Test {
 protected:
  void hear(SimTime t, SignalState one, SignalState two, SimTime until) {
    for (const Outgoing& out : light_.speak(t, 1s, plans(one, two, until, until + 20s))) {
      car_.hear(out.at + 1ms, out.octets);
      now_ = std::max(now_, out.at + 1ms);
    }
  }
  Advice advice(const Vec3& p, double heading, double speed) {
    return car_.advise(driving(now_, p, heading, speed), straight(p, heading, speed));
  }
  void other(const Vec3& p, double heading, double speed, double before_s = 0.01) {
    VehicleStation station({.id = 9, .name = "other"}, madison);
    SimTime t = now_ - SimSpan::from_seconds(before_s);
    for (; !said_; t += 1ms) {
      const auto out = station.speak(driving(t, p, heading, speed), 200ms);
      if (out) car_.hear(out->at + 1ms, out->octets);
      said_ = out.has_value();
    }
    now_ += 100ms;
    said_ = false;
  }
  RoadsideStation light_{four_arms(), madison};
  VehicleStation car_{{.id = 1, .name = "car"}, madison};
  SimTime now_;
  bool said_ = false;
};

TEST_F(AtTheLight, ASlowerApproachMeetsTheGreen) {
  hear(at(0s), red, green, at(10s));
  const Advice advised = advice({1.75, -90, 0}, north, 10);
  ASSERT_TRUE(advised.speed_m_s);
  // At that speed its nose is at the line a little after the signal turned.
  const double arrives = (90 - 13 - 2.25) / *advised.speed_m_s + now_.seconds();
  EXPECT_NEAR(arrives, 10 + GreenAdviceSettings{}.after_green_s, 0.15);
  EXPECT_NEAR(advised.green_in_s, 10 - now_.seconds(), 0.1);
}

TEST_F(AtTheLight, AGreenThatCanBeReachedIsDrivenAtAtTheLimit) {
  hear(at(0s), green, red, at(20s));
  const Advice advised = advice({1.75, -90, 0}, north, 10);
  ASSERT_TRUE(advised.speed_m_s);
  EXPECT_DOUBLE_EQ(*advised.speed_m_s, 13);
}

TEST_F(AtTheLight, NoAdviceForAnotherDirectionOrBeyondTheLine) {
  hear(at(0s), red, green, at(10s));
  EXPECT_FALSE(advice({1.75, -90, 0}, -north, 10).speed_m_s);
  EXPECT_FALSE(advice({1.75, 30, 0}, north, 10).speed_m_s);
  EXPECT_FALSE(advice({30, 30, 0}, north, 10).speed_m_s);
}

TEST_F(AtTheLight, AnOldSignalIsNoSignal) {
  hear(at(0s), red, green, at(10s));
  now_ += 2s;
  EXPECT_FALSE(advice({1.75, -90, 0}, north, 10).speed_m_s);
}

TEST_F(AtTheLight, WhoRunsTheRedIsWarnedOf) {
  hear(at(0s), green, red, at(20s));
  other({-22, -1.75, 0}, east, 14);  // too fast to stop for its red
  const Advice advised = advice({1.75, -22, 0}, north, 11);
  ASSERT_TRUE(advised.stop_within_m);
  EXPECT_EQ(advised.threat, 9u);
  EXPECT_GT(*advised.stop_within_m, 5);
  EXPECT_LT(*advised.stop_within_m, 22 - 2.25 - 1.75);
}

TEST_F(AtTheLight, WhoCanStopForItsRedIsNot) {
  hear(at(0s), green, red, at(20s));
  other({-60, -1.75, 0}, east, 12);
  EXPECT_FALSE(advice({1.75, -40, 0}, north, 10).stop_within_m);
}

TEST(CollisionWarning, OnlyCrossingTrafficAtTheSameTimeMatters) {
  const OwnPath own = straight({1.75, -30, 0}, north, 10);
  Expected other{{-30, -1.75, 0}, east, 10, 0};
  EXPECT_TRUE(find_threat(own, other));
  other.position.x = -70;  // seconds later
  EXPECT_FALSE(find_threat(own, other));
  other = {{-30, -1.75, 0}, east + std::numbers::pi, 10, 0};  // drives away
  EXPECT_FALSE(find_threat(own, other));
  other = {{5.25, -20, 0}, north, 10, 0};  // the next lane, the same way
  EXPECT_FALSE(find_threat(own, other));
  other = {{1.75, 20, 0}, -north, 10, 0};  // comes towards us
  EXPECT_FALSE(find_threat(own, other));
  other = {{-30, -1.75, 0}, east, 0, 0};  // stands
  EXPECT_FALSE(find_threat(own, other));
  other = {{0, -1.75, 0}, east, 0, 0};  // stands across the lane
  ASSERT_TRUE(find_threat(own, other));
  EXPECT_LT(find_threat(own, other)->stop_within_m, 30 - 1.75 - 0.9 - 2.25);
  other = {{1.75, -1.75, 0}, north, 0, 0};  // stands in the lane: whoever drives there sees it
  EXPECT_FALSE(find_threat(own, other));
  other = {{-30, -1.75, 0}, east, 10, -3};  // brakes, and stands in time
  EXPECT_FALSE(find_threat(own, other));
}

TEST(GreenAdvice, NeverAboveTheLimitAndNeverAtRed) {
  for (double distance = 5; distance < 200; distance += 7) {
    for (double begin = 0; begin < 30; begin += 1.3) {
      const GreenWindow windows[]{{begin, begin + 8}, {begin + 20, begin + 28}};
      const auto advice = speed_for_green(distance, 13, 13, windows);
      if (!advice) continue;
      EXPECT_LE(advice->speed_m_s, 13);
      const double arrives = distance / advice->speed_m_s;
      const bool first = arrives >= begin && arrives <= begin + 8, second = arrives >= begin + 20;
      EXPECT_TRUE(first || second) << distance << " m, green in " << begin << " s: arrives in " << arrives;
    }
  }
}

TEST(GreenAdvice, DoesNotSlowDownWhoMeetsTheGreenThatIs) {
  for (double distance = 5; distance < 200; distance += 7) {
    for (double speed = 2; speed <= 13; speed += 1) {
      const GreenWindow windows[]{{-3, distance / 13 + 8}, {distance / 13 + 20, distance / 13 + 28}};
      const auto advice = speed_for_green(distance, speed, 13, windows);
      ASSERT_TRUE(advice);
      EXPECT_EQ(*advice, (GreenAdvice{13, 0})) << distance << " m at " << speed << " m/s";
    }
  }
}

TEST(Boxes, BuildingsAndTallVehiclesHideLowOnesDoNot) {
  Boxes boxes;
  boxes.add_fixed({{26, 28, 9}, {1, 0, 0, 0}, {14, 16, 9}});
  const Vec3 on_east{60, 1.75, 1.5}, on_north{-1.75, 60, 1.5};
  EXPECT_FALSE(boxes.line_of_sight(on_east, on_north));
  EXPECT_FALSE(boxes.line_of_sight(on_north, on_east));
  EXPECT_TRUE(boxes.line_of_sight(on_east, {-60, 1.75, 1.5}));
  const auto truck = boxes.add_body({{{0, 0, 1}, {1, 0, 0, 0}, {4, 1.2, 1.5}}});
  boxes.move(truck, {0, 1.75, 0.5}, {1, 0, 0, 0});
  EXPECT_FALSE(boxes.line_of_sight(on_east, {-60, 1.75, 1.5}));
  EXPECT_TRUE(boxes.line_of_sight(on_east, {0.2, 1.75, 3.2}));  // the truck's own antenna
  const double half = std::numbers::pi / 4;
  boxes.move(truck, {0, 5.5, 0.5}, {std::cos(half), 0, 0, std::sin(half)});  // turned across
  EXPECT_FALSE(boxes.line_of_sight(on_east, {-60, 1.75, 1.5}));
  boxes.move(truck, {0, 5.5, 0.5}, {1, 0, 0, 0});
  EXPECT_TRUE(boxes.line_of_sight(on_east, {-60, 1.75, 1.5}));
}

}  // namespace
}  // namespace isochron::v2x
