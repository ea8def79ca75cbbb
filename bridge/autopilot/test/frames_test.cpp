#include "bridge/autopilot/frames.hpp"

#include <gtest/gtest.h>

namespace isochron::autopilot {
namespace {

constexpr double half_pi = 1.5707963267948966;
Quat about(double x, double y, double z, double angle) {
  const double s = std::sin(angle / 2);
  return {std::cos(angle / 2), x * s, y * s, z * s};
}
void expect_near(const Vec3& a, const Vec3& b) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a[i], b[i], 1e-12) << i;
}

TEST(Frames, EastNorthUpIsNorthEastDownTheOtherWayRound) {
  expect_near(ned_of_enu({1, 2, 3}), {2, 1, -3});
  expect_near(ned_of_enu(ned_of_enu({1, 2, 3})), {1, 2, 3});
  expect_near(frd_of_flu({1, 2, 3}), {1, -2, -3});
}

TEST(Frames, ABodyThatLooksEastHasAHeadingOfNinetyDegrees) {
  expect_near(euler_of(ned_frd_of_enu_flu({1, 0, 0, 0})), {0, 0, half_pi});
  expect_near(euler_of(ned_frd_of_enu_flu(about(0, 0, 1, half_pi))), {0, 0, 0});
}

TEST(Frames, RightWingDownIsAPositiveRollAndNoseUpAPositivePitch) {
  const Quat north = about(0, 0, 1, half_pi);
  expect_near(euler_of(ned_frd_of_enu_flu(product(north, about(1, 0, 0, 0.3)))), {0.3, 0, 0});
  expect_near(euler_of(ned_frd_of_enu_flu(product(north, about(0, 1, 0, -0.2)))), {0, 0.2, 0});
}

TEST(Frames, AVectorOfTheBodyIsTheSameArrowInBothWorlds) {
  const Quat ours = product(about(0, 0, 1, 0.7), product(about(0, 1, 0, 0.4), about(1, 0, 0, -1.1)));
  const Quat theirs = ned_frd_of_enu_flu(ours);
  const Vec3 flu{0.3, -1.2, 2.1};
  expect_near(ned_of_enu(rotate(ours, flu)), rotate(theirs, frd_of_flu(flu)));
  expect_near(rotate_back(theirs, rotate(theirs, flu)), flu);
  const Quat back = ned_frd_of_enu_flu(theirs);
  expect_near(rotate(back, flu), rotate(ours, flu));
}

}  // namespace
}  // namespace isochron::autopilot
