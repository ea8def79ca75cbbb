// From a command to what the motor does.

#include "world/actuators/actuator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace isochron::world {
namespace {

using testing::HasSubstr;

std::vector<ActuatorInfo> with_motor(double low = 0, double high = 0) { return {{"pump", 0, 0}, {"motor", low, high}}; }
ActuatorSpec motor() {
  ActuatorSpec spec;
  spec.robot = "robot", spec.name = "motor", spec.place = {"walk.yaml", 3, 1};
  return spec;
}
SimTime at_ms(std::int64_t ms) { return SimTime::from_ns(ms * 1'000'000); }
SimSpan ms(std::int64_t n) { return std::chrono::milliseconds(n); }

TEST(Actuator, HoldsACommandUntilTheNext) {
  Actuator actuator(motor(), with_motor());
  EXPECT_EQ(actuator.index(), 1U);
  EXPECT_EQ(actuator.value_at(at_ms(0)), 0);
  ASSERT_TRUE(actuator.command(at_ms(10), 3).ok());
  EXPECT_EQ(actuator.value_at(at_ms(9)), 0);
  EXPECT_EQ(actuator.value_at(at_ms(10)), 3);
  EXPECT_EQ(actuator.value_at(at_ms(5000)), 3);
}

TEST(Actuator, IsTheRobotsOwnWhereTheModelHasSuch) {
  EXPECT_EQ(Actuator(motor(), {{"motor", 0, 0}, {"robot/motor", 0, 0}}).index(), 1U);
}

TEST(Actuator, ACommandIsFeltAfterExactlyItsDelay) {
  auto spec = motor();
  spec.delay = ms(25);
  Actuator actuator(spec, with_motor());
  for (std::int64_t t = 0; t < 100; ++t) {
    ASSERT_TRUE(actuator.command(at_ms(t), static_cast<double>(t)).ok());
    EXPECT_EQ(actuator.value_at(at_ms(t)), t < 25 ? 0 : static_cast<double>(t - 25));
  }
  ASSERT_TRUE(actuator.command(at_ms(200), 7).ok());
  EXPECT_EQ(actuator.value_at(SimTime::from_ns(224'999'999)), 99);
  EXPECT_EQ(actuator.value_at(at_ms(225)), 7);
}

TEST(Actuator, OfSeveralCommandsAtOneTimeTheLastHolds) {
  auto spec = motor();
  spec.on_their_way = 1, spec.delay = ms(5);
  Actuator actuator(spec, with_motor());
  for (const double value : {1.0, 2.0, 3.0}) ASSERT_TRUE(actuator.command(at_ms(0), value).ok());
  EXPECT_EQ(actuator.value_at(at_ms(5)), 3);
}

TEST(Actuator, SaturatesAtItsOwnLimitsOrTheModels) {
  Actuator of_model(motor(), with_motor(-2, 2));
  ASSERT_TRUE(of_model.command(at_ms(0), 99).ok());
  EXPECT_EQ(of_model.value_at(at_ms(0)), 2);
  auto spec = motor();
  spec.low = -1, spec.high = 1.5;
  Actuator own(spec, with_motor(-2, 2));
  ASSERT_TRUE(own.command(at_ms(0), 99).ok());
  EXPECT_EQ(own.value_at(at_ms(0)), 1.5);
  ASSERT_TRUE(own.command(at_ms(1), -99).ok());
  EXPECT_EQ(own.value_at(at_ms(1)), -1);
}

TEST(Actuator, MovesNoFasterThanItsRate) {
  auto spec = motor();
  spec.rate = 10;
  Actuator actuator(spec, with_motor());
  ASSERT_TRUE(actuator.command(at_ms(0), 1).ok());
  EXPECT_NEAR(actuator.value_at(at_ms(30)), 0.3, 1e-12);
  EXPECT_NEAR(actuator.value_at(at_ms(60)), 0.6, 1e-12);
  ASSERT_TRUE(actuator.command(at_ms(70), 0).ok());
  EXPECT_NEAR(actuator.value_at(at_ms(90)), 0.5, 1e-12) << "0.7 at 70 ms, then down";
  EXPECT_EQ(actuator.value_at(at_ms(500)), 0);
}

TEST(Actuator, LagsBehindExponentially) {
  auto spec = motor();
  spec.lag = ms(50);
  Actuator actuator(spec, with_motor());
  ASSERT_TRUE(actuator.command(at_ms(0), 2).ok());
  for (const std::int64_t t : {10, 50, 200}) {
    EXPECT_NEAR(actuator.value_at(at_ms(t)), 2 * (1 - std::exp(-static_cast<double>(t) / 50)), 1e-12);
  }
}

TEST(Actuator, RateLimitAndLagTogetherAreSolvedExactly) {
  auto spec = motor();
  spec.lag = ms(50), spec.rate = 10, spec.delay = ms(7);
  Actuator often(spec, with_motor()), seldom(spec, with_motor());
  for (Actuator* actuator : {&often, &seldom}) {
    ASSERT_TRUE(actuator->command(at_ms(0), 1).ok());
    ASSERT_TRUE(actuator->command(at_ms(40), -1).ok());
  }
  // By hand: small Euler steps of the same two equations.
  double u = 0, y = 0;
  constexpr double h = 1e-6;
  for (int i = 0; i < 150'000; ++i) {
    const double t = i * h;
    const double target = t < 0.007 ? 0 : t < 0.047 ? 1 : -1;
    y += h * (u - y) / 0.05;
    u += std::clamp(target - u, -10 * h, 10 * h);
    if (i % 10'000 == 0) often.value_at(SimTime::from_ns(static_cast<std::int64_t>(i) * 1000));
  }
  EXPECT_NEAR(often.value_at(at_ms(150)), y, 1e-4);
  EXPECT_NEAR(seldom.value_at(at_ms(150)), often.value_at(at_ms(150)), 1e-12);
}

TEST(Actuator, ComesInSteps) {
  auto spec = motor();
  spec.resolution = 0.25;
  Actuator actuator(spec, with_motor());
  ASSERT_TRUE(actuator.command(at_ms(0), 0.9).ok());
  EXPECT_EQ(actuator.value_at(at_ms(0)), 1.0);
}

TEST(Actuator, RefusesWhatIsNotANumberByName) {
  Actuator actuator(motor(), with_motor());
  ASSERT_TRUE(actuator.command(at_ms(0), 4).ok());
  for (const double bad : {std::nan(""), double{INFINITY}, -double{INFINITY}}) {
    const auto result = actuator.command(at_ms(3), bad);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(to_string(result.error()), "actuator motor at 3ms: the command is not a number");
  }
  EXPECT_EQ(actuator.value_at(at_ms(10)), 4) << "the last good command holds";
}

TEST(Actuator, RefusesMoreCommandsThanItHoldsAndGoesOn) {
  auto spec = motor();
  spec.delay = ms(100), spec.on_their_way = 4;
  Actuator actuator(spec, with_motor());
  for (std::int64_t t = 0; t < 4; ++t) ASSERT_TRUE(actuator.command(at_ms(t), 1.0 + static_cast<double>(t)).ok());
  const auto fifth = actuator.command(at_ms(4), 5);
  ASSERT_FALSE(fifth.ok());
  EXPECT_EQ(fifth.error().why, CommandRefused::Why::too_many);
  EXPECT_EQ(actuator.value_at(at_ms(103)), 4);
  EXPECT_TRUE(actuator.command(at_ms(103), 6).ok());
}

TEST(ActuatorCheck, NamesTheMissingActuatorAndBadNumbers) {
  auto spec = motor();
  spec.actuator = "mottor", spec.rate = NAN, spec.delay = -ms(1), spec.low = 2, spec.high = 1;
  const auto mistakes = check(spec, with_motor());
  ASSERT_EQ(mistakes.size(), 4U);
  EXPECT_EQ(to_string(mistakes[0]),
            "walk.yaml:3:1: actuator `robot/motor`: the model has no actuator `mottor`; did you mean `motor`?");
  EXPECT_THROW(Actuator(spec, with_motor()), InputError);
}

}  // namespace
}  // namespace isochron::world
