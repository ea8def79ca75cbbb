// The robot stands, is pushed, steps and walks; and its controller neither allocates nor depends on luck.

#include <gtest/gtest.h>

#include "experiments/atlas/test/rig.hpp"

namespace atlas {
namespace {

TEST(Atlas, StandsStill) {
  Rig rig;
  ASSERT_TRUE(rig.run(3));
  EXPECT_NEAR(rig.pelvis()[1], 0, 0.01);
  EXPECT_NEAR(rig.pelvis()[2], 0.93, 0.01);
  EXPECT_EQ(rig.controller.failures(), 0U);
}

TEST(Atlas, FallsWithoutItsController) {
  Rig rig(/*delay_ms=*/1'000'000);
  EXPECT_FALSE(rig.run(3));
}

TEST(Atlas, TakesAPushFromEachSide) {
  for (const auto& [x, y] : {std::pair{120.0, 0.0}, {-80.0, 0.0}, {0.0, 150.0}, {0.0, -150.0}}) {
    Rig rig;
    ASSERT_TRUE(rig.run(1.5));
    rig.push(x, y);
    ASSERT_TRUE(rig.run(0.2)) << x << " " << y;
    rig.push(0, 0);
    EXPECT_TRUE(rig.run(2.5)) << x << " " << y;
    EXPECT_NEAR(rig.pelvis()[1], 0, 0.05) << x << " " << y;
  }
}

TEST(Atlas, FallsWhenPushedTooHard) {
  Rig rig;
  rig.push(600, 0);
  EXPECT_FALSE(rig.run(2));
}

TEST(Atlas, LiftsItsFeetWhenItStepsInPlace) {
  Rig rig;
  ASSERT_TRUE(rig.run(1));
  rig.order = {1, 2, 0};
  const double floor = rig.foot(left)[2];
  double highest[2] = {0, 0};
  for (int i = 0; i < 45; ++i) {
    ASSERT_TRUE(rig.run(0.1)) << rig.now();
    for (const Side side : {left, right}) highest[side] = std::max(highest[side], rig.foot(side)[2] - floor);
  }
  EXPECT_GT(highest[left], 0.03);
  EXPECT_GT(highest[right], 0.03);
  EXPECT_TRUE(rig.controller.plan().standing(rig.now()));
  EXPECT_NEAR(rig.pelvis()[0], 0.02, 0.02);
}

TEST(Atlas, Walks) {
  Rig rig;
  ASSERT_TRUE(rig.run(0.5));
  rig.order = {1, 4, 0.25};
  ASSERT_TRUE(rig.run(8.5)) << rig.now();
  EXPECT_NEAR(rig.pelvis()[0], 0.75 + 0.018, 0.03);
  EXPECT_NEAR(rig.foot(left)[0], rig.foot(right)[0], 0.02);
}

TEST(Atlas, ObeysAnOrderOnceEvenIfItCameWhileStepping) {
  Rig rig;
  rig.order = {1, 2, 0.1};
  ASSERT_TRUE(rig.run(1));
  rig.order = {2, 2, 0.1};  // waits until the first is done
  ASSERT_TRUE(rig.run(9));
  EXPECT_NEAR(rig.pelvis()[0], 0.2 + 0.018, 0.03);
}

TEST(Atlas, SwingsEachArmWithTheOppositeFoot) {
  Rig rig;
  ASSERT_TRUE(rig.run(0.5));
  rig.order = {1, 4, 0.25};
  double with_opposite = 0, feet = 0, hands = 0, widest = 0;
  for (int i = 0; i < 70; ++i) {
    ASSERT_TRUE(rig.run(0.1)) << rig.now();
    const double ahead = rig.foot(left)[0] - rig.foot(right)[0], swung = rig.hand(right)[0] - rig.hand(left)[0];
    with_opposite += ahead * swung;
    feet += ahead * ahead;
    hands += swung * swung;
    widest = std::max(widest, std::abs(swung));
  }
  EXPECT_GT(widest, 0.03) << "metres between the hands";
  EXPECT_GT(with_opposite / std::sqrt(feet * hands), 0.7);
}

TEST(Atlas, StepsWhereSomebodyPlacedItsFeet) {
  Rig rig;
  ASSERT_TRUE(rig.run(0.5));
  const auto l = rig.controller.model().sole(left).position, r = rig.controller.model().sole(right).position;
  rig.order.number = 1;
  rig.order.placed = 3;
  rig.order.places = {
      {{right, r.x() + 0.2, r.y() - 0.03}, {left, l.x() + 0.3, l.y() + 0.02}, {right, r.x() + 0.3, r.y()}}};
  ASSERT_TRUE(rig.run(8)) << rig.now();
  EXPECT_NEAR(rig.controller.model().sole(left).position.x(), l.x() + 0.3, 0.03);
  EXPECT_NEAR(rig.controller.model().sole(left).position.y(), l.y() + 0.02, 0.03);
  EXPECT_NEAR(rig.controller.model().sole(right).position.x(), r.x() + 0.3, 0.03);
  const Standing standing = rig.controller.standing_of(rig.now());
  EXPECT_EQ(standing.obeyed, 1U);
  EXPECT_EQ(standing.walking, 0);
}

TEST(Atlas, RefusesAFootstepOutOfReach) {
  Rig rig;
  ASSERT_TRUE(rig.run(0.5));
  const auto l = rig.controller.model().sole(left).position;
  for (const Footstep bad :
       {Footstep{left, l.x() + 1, l.y()}, {left, l.x(), l.y() - 0.3}, {left, std::nan(""), l.y()}}) {
    ++rig.order.number;
    rig.order.placed = 1;
    rig.order.places[0] = bad;
    ASSERT_TRUE(rig.run(0.5));
    EXPECT_EQ(rig.controller.standing_of(rig.now()).refused, rig.order.number);
    EXPECT_TRUE(rig.controller.plan().standing(rig.now()));
  }
  rig.order = {9, 2, 0.1};
  ASSERT_TRUE(rig.run(6)) << "the next order is obeyed";
  EXPECT_EQ(rig.controller.standing_of(rig.now()).obeyed, 9U);
}

TEST(Atlas, StandsFrozenWhileNobodyControlsItAndGoesOn) {
  Rig rig;
  ASSERT_TRUE(rig.run(0.5));
  rig.order = {1, 2, 0.2};
  ASSERT_TRUE(rig.run(6));
  rig.order = {2, 0, 0, /*freeze=*/5};
  ASSERT_TRUE(rig.run(0.1));
  EXPECT_EQ(rig.controller.standing_of(rig.now()).obeyed, 2U);
  const auto before = rig.pelvis();
  ASSERT_TRUE(rig.freeze(5)) << rig.now();
  EXPECT_NEAR(rig.pelvis()[0], before[0], 0.02);
  EXPECT_NEAR(rig.pelvis()[2], before[2], 0.01);
  rig.order = {3, 2, 0.2};
  ASSERT_TRUE(rig.run(6)) << "it walks again";
  EXPECT_NEAR(rig.pelvis()[0], before[0] + 0.2, 0.05);
}

TEST(Atlas, FallsFrozenWhenPushedHard) {
  Rig rig;
  ASSERT_TRUE(rig.run(1));
  rig.push(500, 0);
  EXPECT_FALSE(rig.freeze(3)) << "nobody balances it";
}

TEST(Atlas, RepeatsBitForBit) {
  const auto once = [] {
    Rig rig;
    rig.run(0.3);
    rig.push(50, 50);
    rig.run(0.3);
    return rig.state.positions;
  };
  EXPECT_EQ(once(), once());
}

TEST(Estimator, KnowsWhereTheRobotIsWhileItWalks) {
  Rig rig;
  rig.order = {1, 2, 0.2};
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(rig.run(0.1));
    const Estimate& estimate = rig.estimator.estimate();
    for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(estimate.position[axis], rig.pelvis()[axis], 0.005);
  }
}

TEST(PointFilter, FollowsAPointWithBothMeasurements) {
  PointFilter filter;
  filter.reset(Vector3::Zero());
  const Vector3 velocity(0.5, -0.2, 0.1);
  for (int i = 1; i <= 2000; ++i) {
    filter.predict(Vector3::Zero(), 1, 1e-3);
    filter.correct_position(velocity * i * 1e-3, 0.002);
  }
  EXPECT_LT((filter.velocity() - velocity).norm(), 0.01);
  EXPECT_LT((filter.position() - 2 * velocity).norm(), 0.001);
}

TEST(PointFilter, IsLessSureWhileItOnlyPredicts) {
  PointFilter filter;
  filter.reset(Vector3::Zero());
  const double before = filter.covariance()(0, 0);
  for (int i = 0; i < 100; ++i) filter.predict(Vector3::Zero(), 1, 1e-3);
  EXPECT_GT(filter.covariance()(0, 0), before);
}

TEST(StepPlan, PreviewEndsWhereTheWeightEnds) {
  StepPlan plan({0, 0.1, 0}, {0, -0.1, 0});
  EXPECT_LT((plan.preview(5, 3.3) - Vector2(0, 0)).norm(), 1e-9);
  ASSERT_TRUE(plan.step(1, 2, 0.2, {0, 0.1, 0}, {0, -0.1, 0}));
  EXPECT_FALSE(plan.standing(2));
  EXPECT_FALSE(plan.step(2, 1, 0, {0, 0.1, 0}, {0, -0.1, 0})) << "there are steps to take";
  EXPECT_LT((plan.preview(10, 3.3) - Vector2(0.2, 0)).norm(), 1e-9);
}

TEST(StepPlan, PreviewSolvesThePendulum) {
  StepPlan plan({0, 0.1, 0}, {0, -0.1, 0});
  plan.step(0.5, 4, 0.2, {0, 0.1, 0}, {0, -0.1, 0});
  const double omega = 3.3, dt = 1e-4;
  for (double t = 0; t < 8; t += 0.1) {  // ξ̇ = ω(ξ − p)
    const Vector2 slope = (plan.preview(t + dt, omega) - plan.preview(t - dt, omega)) / (2 * dt);
    const Vector2 right_side = omega * (plan.preview(t, omega) - plan.pressure(t));
    EXPECT_LT((slope - right_side).norm(), 0.02) << t;
  }
}

TEST(StepPlan, SwingBeginsAndEndsOnTheFloorAtRest) {
  StepTimes times;
  StepPlan plan({0, 0.1, 0}, {0, -0.1, 0}, times);
  plan.step(0, 2, 0.2, {0, 0.1, 0}, {0, -0.1, 0});
  const double begin = times.shift_s, end = begin + times.swing_s;
  EXPECT_FALSE(plan.swing(begin - 1e-6).active);
  const Swing first = plan.swing(begin), last = plan.swing(end - 1e-9);
  ASSERT_TRUE(first.active && last.active);
  EXPECT_EQ(first.side, left);
  EXPECT_LT((first.position - Vector3(0, 0.1, 0)).norm(), 1e-6);
  EXPECT_LT((last.position - Vector3(0.2, 0.1, 0)).norm(), 1e-6);
  EXPECT_LT(first.velocity.norm() + last.velocity.norm(), 1e-5);
  EXPECT_NEAR(plan.swing(begin + times.swing_s / 2).position.z(), times.lift_m, 1e-6);
}

}  // namespace
}  // namespace atlas
