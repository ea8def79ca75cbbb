#include "world/vehicle/tyre.hpp"

#include <cmath>

namespace isochron::world {

double magic_formula(const SlipCurve& curve, double peak, double slip) {
  const double bs = curve.b * slip;
  return peak * std::sin(curve.c * std::atan(bs - curve.e * (bs - std::atan(bs))));
}

double fiala_formula(const SlipCurve& curve, double peak, double load, double slip) {
  const double zeta = curve.stiffness * load * std::fabs(slip) / (3 * peak);
  const double left = zeta < 1 ? 1 - zeta : 0;
  return std::copysign(peak * (1 - left * left * left), slip);
}

TyreForce tyre_force(const TyreSettings& tyre, double load, double slip_along, double slip_across, double surface) {
  const double peak = tyre.friction * surface * load;
  const double slip = std::sqrt(slip_along * slip_along + slip_across * slip_across);
  if (!(peak > 0) || slip < 1e-12) return {};
  double along = 0, across = 0;
  if (tyre.model == TyreModel::magic) {
    along = magic_formula(tyre.along, peak, slip);
    across = magic_formula(tyre.across, peak, slip);
  } else {
    along = fiala_formula(tyre.along, peak, load, slip);
    across = fiala_formula(tyre.across, peak, load, slip);
  }
  return {along * slip_along / slip, across * slip_across / slip};
}

}  // namespace isochron::world
