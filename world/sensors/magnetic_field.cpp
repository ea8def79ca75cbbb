#include "world/sensors/magnetic_field.hpp"

#include <GeographicLib/MagneticModel.hpp>
#include <cmath>

#include "world/sensors/repeatable.hpp"

namespace isochron::world {
namespace {

constexpr double degree = 3.14159265358979323846 / 180;
constexpr double radius = 6371200;  // m, of the models
constexpr double nano = 1e-9;
// nT, of 2025.
constexpr double g10 = -29351.8, g11 = -1410.8, h11 = 4545.4;

/// To 10 pT: libm's last bits do not show.
double rounded_field(double tesla) { return std::round(tesla * 1e11) * 1e-11; }

}  // namespace

Vec3 dipole_field(double latitude, double longitude, double altitude) {
  const SinCos lat = repeatable_sincos(latitude * degree), lon = repeatable_sincos(longitude * degree);
  const double near = radius / (radius + altitude), scale = near * near * near;
  const double equator = g11 * lon.cos + h11 * lon.sin;
  const double north = -g10 * lat.cos + equator * lat.sin;
  const double east = g11 * lon.sin - h11 * lon.cos;
  const double down = -2 * (g10 * lat.sin + equator * lat.cos);
  return {scale * east * nano, scale * north * nano, -scale * down * nano};
}

Result<Vec3, std::string> magnetic_field(const MagnetometerOptions& o) {
  if (o.field) return *o.field;
  if (o.model == MagneticSource::dipole) return dipole_field(o.latitude, o.longitude, o.altitude);
  try {
    const GeographicLib::MagneticModel model(o.data);
    double east = 0, north = 0, up = 0;
    model(o.year, o.latitude, o.longitude, o.altitude, east, north, up);
    return Vec3{rounded_field(east * nano), rounded_field(north * nano), rounded_field(up * nano)};
  } catch (const std::exception& error) {
    return fail("there is no magnetic model `" + o.data + "`: " + error.what() +
                "; get it with geographiclib-get-magnetic, or use `model: dipole`");
  }
}

}  // namespace isochron::world
