#include "world/aircraft/air.hpp"

#include <algorithm>
#include <cmath>

namespace isochron::world {
namespace {

constexpr double foot = 0.3048;
constexpr double slowest = 0.5;  // m/s: in still air the pattern drifts by at least this fast

}  // namespace

GustSize low_altitude_gusts(double wind_at_6m, double height) {
  const double h = std::clamp(height / foot, 10.0, 1000.0);
  const double shape = 0.177 + 0.000823 * h;
  const double up = 0.1 * wind_at_6m;
  const double level = up / std::pow(shape, 0.4);
  const double level_length = h / std::pow(shape, 1.2) * foot;
  return {{level, level, up}, {level_length, level_length, h * foot}};
}

/// z₁' = −z₁/τ + noise, z₂' = (z₁ − z₂)/τ, with x = dt/τ; the stationary covariance is s²(1, ½; ½, ½) with s² = ½.
double Gusts::TwoPoles::step(double x, RandomStream& random) {
  constexpr double s2 = 0.5;
  const double a = std::exp(-x), a2 = a * a;
  const double q11 = s2 * (1 - a2);
  const double q12 = s2 * (0.5 - a2 * (0.5 + x));
  const double q22 = s2 * (0.5 - a2 * (0.5 + x + x * x));
  const double root = std::sqrt(q11);
  const double lower = root > 0 ? q12 / root : 0;
  const double n1 = random.normal(), n2 = random.normal();
  second = a * (second + x * first) + lower * n1 + std::sqrt(std::max(0.0, q22 - lower * lower)) * n2;
  first = a * first + root * n1;
  constexpr double root_3 = 1.7320508075688772;
  return root_3 * first + (1 - root_3) * second;
}

Vec3 Gusts::step(const GustSize& size, double airspeed, double dt) {
  const double way = std::max(airspeed, slowest) * dt;
  const double keep = std::exp(-way / size.length[0]);
  along_ = keep * along_ + std::sqrt(1 - keep * keep) * random_.normal();
  return {size.deviation[0] * along_, size.deviation[1] * across_.step(way / size.length[1], random_),
          size.deviation[2] * up_.step(way / size.length[2], random_)};
}

}  // namespace isochron::world
