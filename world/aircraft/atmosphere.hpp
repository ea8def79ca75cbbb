#pragma once
// The International Standard Atmosphere up to 20 km: what pressure, temperature and density there are at a height above
// mean sea level, and back. Heights are taken as geopotential ones; at 1 km that is 16 cm off.

#include <cmath>

namespace isochron::world::isa {

inline constexpr double sea_level_pressure = 101325;     // Pa
inline constexpr double sea_level_temperature = 288.15;  // K
inline constexpr double sea_level_density = 1.225;       // kg/m³
inline constexpr double gas_constant = 287.05287;        // J/(kg K), of dry air
inline constexpr double lapse = 0.0065;                  // K/m, up to the tropopause
inline constexpr double tropopause = 11000;              // m; above it the temperature stays
inline constexpr double gravity = 9.80665;
inline constexpr double exponent = gravity / (lapse * gas_constant);

inline double temperature(double height) { return sea_level_temperature - lapse * std::fmin(height, tropopause); }

inline double pressure(double height) {
  const double below = sea_level_pressure * std::pow(temperature(height) / sea_level_temperature, exponent);
  if (height <= tropopause) return below;
  return below * std::exp(-gravity * (height - tropopause) / (gas_constant * temperature(tropopause)));
}

inline double density(double height) { return pressure(height) / (gas_constant * temperature(height)); }

/// The height at which this pressure is the standard one.
inline double altitude(double pressure_pa) {
  const double top = pressure(tropopause);
  if (pressure_pa >= top) {
    return sea_level_temperature / lapse * (1 - std::pow(pressure_pa / sea_level_pressure, 1 / exponent));
  }
  return tropopause - gas_constant * temperature(tropopause) / gravity * std::log(pressure_pa / top);
}

}  // namespace isochron::world::isa
