#include "world/vehicle/tyre.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace isochron::world {
namespace {

constexpr double load = 4000;

class Tyre : public testing::TestWithParam<TyreModel> {
 protected:
  TyreSettings tyre_ = [] {
    TyreSettings t;
    t.model = GetParam();
    return t;
  }();
};
INSTANTIATE_TEST_SUITE_P(Models, Tyre, testing::Values(TyreModel::magic, TyreModel::fiala),
                         [](const auto& i) { return i.param == TyreModel::magic ? "Magic" : "Fiala"; });

TEST_P(Tyre, StaysInsideTheFrictionCircleAndReachesIt) {
  double most = 0;
  for (double sx = -1; sx <= 1; sx += 0.02) {
    for (double sy = -1; sy <= 1; sy += 0.02) {
      const TyreForce f = tyre_force(tyre_, load, sx, sy, 0.8);
      const double size = std::hypot(f.along, f.across);
      EXPECT_LE(size, 0.8 * load * (1 + 1e-12));
      most = std::max(most, size);
    }
  }
  EXPECT_GT(most, 0.99 * 0.8 * load);
}

TEST_P(Tyre, IsOddInTheSlip) {
  const TyreForce a = tyre_force(tyre_, load, 0.03, -0.07, 1), b = tyre_force(tyre_, load, -0.03, 0.07, 1);
  EXPECT_DOUBLE_EQ(a.along, -b.along);
  EXPECT_DOUBLE_EQ(a.across, -b.across);
  EXPECT_GT(a.along, 0);
  EXPECT_LT(a.across, 0);
}

TEST_P(Tyre, IsZeroWithoutLoadSlipOrFriction) {
  for (const TyreForce f :
       {tyre_force(tyre_, 0, 0.1, 0.1, 1), tyre_force(tyre_, load, 0, 0, 1), tyre_force(tyre_, load, 0.1, 0.1, 0)}) {
    EXPECT_EQ(f.along, 0);
    EXPECT_EQ(f.across, 0);
  }
}

TEST_P(Tyre, LosesSideForceWhenItDrives) {
  const double alone = tyre_force(tyre_, load, 0, 0.05, 1).across;
  const double together = tyre_force(tyre_, load, 0.1, 0.05, 1).across;
  EXPECT_LT(together, alone);
}

TEST(MagicFormula, HasTheSlopeBcdAtZero) {
  const SlipCurve c{12, 1.65, 0.4, 0};
  const double slope = magic_formula(c, load, 1e-6) / 1e-6;
  EXPECT_NEAR(slope, 12 * 1.65 * load, 1e-3 * slope);
}

TEST(MagicFormula, PeaksAtDWhereTheFormulaSays) {
  // The sine is one where C atan(Bx − E(Bx − atan Bx)) = π/2; with E = 0 that is x = tan(π/2C)/B.
  const SlipCurve c{12, 1.65, 0, 0};
  const double peak_at = std::tan(M_PI / 2 / 1.65) / 12;
  EXPECT_NEAR(magic_formula(c, load, peak_at), load, 1e-9 * load);
  EXPECT_LT(magic_formula(c, load, 0.8 * peak_at), load);
  EXPECT_LT(magic_formula(c, load, 1.3 * peak_at), load);
}

TEST(MagicFormula, FallsToItsAsymptote) {
  const SlipCurve c{12, 1.65, 0, 0};
  EXPECT_NEAR(magic_formula(c, load, 1e6), load * std::sin(1.65 * M_PI / 2), 1);
}

TEST(FialaFormula, IsTheCubicBelowFullSlidingAndFlatAbove) {
  const SlipCurve c{0, 0, 0, 14};
  const double mu = 0.9, peak = mu * load, stiffness = 14 * load;
  const double sliding = 3 * peak / stiffness;
  for (const double s : {0.01, 0.05, 0.1, 0.15}) {
    // As Fiala writes it out: C s − C² s²/(3 µF) + C³ s³/(27 µ²F²).
    const double cs = stiffness * s;
    const double expected = cs - cs * cs / (3 * peak) + cs * cs * cs / (27 * peak * peak);
    EXPECT_NEAR(fiala_formula(c, peak, load, s), expected, 1e-9 * expected);
  }
  EXPECT_NEAR(fiala_formula(c, peak, load, sliding), peak, 1e-9);
  EXPECT_EQ(fiala_formula(c, peak, load, -2 * sliding), -peak);
  EXPECT_NEAR(fiala_formula(c, peak, load, 1e-7) / 1e-7, stiffness, 1e-3 * stiffness);
}

}  // namespace
}  // namespace isochron::world
