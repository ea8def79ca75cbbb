#pragma once
// The Earth's magnetic field at a place: by the dipole of the World Magnetic Model 2025's first three coefficients, or
// by the whole model where GeographicLib finds its data file.

#include <string>

#include "core/result.hpp"
#include "world/geometry.hpp"
#include "world/sensors/spec.hpp"

namespace isochron::world {

/// East, north, up, in T. Degrees and m above the ellipsoid.
Vec3 dipole_field(double latitude, double longitude, double altitude);

/// As `options` say; else what is wrong, and what to do.
Result<Vec3, std::string> magnetic_field(const MagnetometerOptions& options);

}  // namespace isochron::world
