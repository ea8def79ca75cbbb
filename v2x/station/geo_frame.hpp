#pragma once
// Metres around a place on the earth: x east, y north, z up, as the world has them; messages carry degrees. Flat within
// the few kilometres that a radio reaches: at 1 km the error is some centimetres.

#include <cmath>
#include <numbers>

#include "v2x/radio/geometry.hpp"

namespace isochron::v2x {

class GeoFrame {
 public:
  GeoFrame(double latitude_deg, double longitude_deg, double altitude_m = 0)
      : latitude_(latitude_deg), longitude_(longitude_deg), altitude_(altitude_m) {
    // Radii of curvature of the WGS 84 ellipsoid, along the meridian and across it.
    constexpr double a = 6378137.0, e2 = 6.69437999014e-3, degree = std::numbers::pi / 180;
    const double s = std::sin(latitude_deg * degree), w = 1 - e2 * s * s;
    north_m_per_deg_ = degree * a * (1 - e2) / (w * std::sqrt(w));
    east_m_per_deg_ = degree * a / std::sqrt(w) * std::cos(latitude_deg * degree);
  }

  struct Coordinates {
    double latitude_deg, longitude_deg, elevation_m;
  };
  [[nodiscard]] Coordinates at(const Vec3& p) const {
    return {latitude_ + p.y / north_m_per_deg_, longitude_ + p.x / east_m_per_deg_, altitude_ + p.z};
  }
  /// On the ground.
  [[nodiscard]] Vec3 from(double latitude_deg, double longitude_deg) const {
    return from(latitude_deg, longitude_deg, altitude_);
  }
  [[nodiscard]] Vec3 from(double latitude_deg, double longitude_deg, double elevation_m) const {
    return {(longitude_deg - longitude_) * east_m_per_deg_, (latitude_deg - latitude_) * north_m_per_deg_,
            elevation_m - altitude_};
  }

 private:
  double latitude_, longitude_, altitude_;
  double north_m_per_deg_, east_m_per_deg_;
};

/// From the mathematician's angle (from east, counter-clockwise) to the sailor's (from north, clockwise, 0 … 2π), and
/// back the same way.
inline double compass(double angle_rad) {
  constexpr double whole = 2 * std::numbers::pi;
  const double turned = std::numbers::pi / 2 - angle_rad;
  const double folded = turned - whole * std::floor(turned / whole);
  return folded >= whole ? 0 : folded;
}

}  // namespace isochron::v2x
