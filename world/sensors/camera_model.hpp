#pragma once
// The numbers of a pinhole camera, as vision code needs them: a point (x right, y down, z ahead) is seen at
// column cx + focal · x / z, row cy + focal · y / z, where pixel (c, r) covers [c, c+1) × [r, r+1).

#include "world/sensors/spec.hpp"

namespace isochron::world {

struct PinholeModel {
  double focal = 0;  // pixels
  double cx = 0;
  double cy = 0;
};

/// Requires: check() found nothing.
PinholeModel pinhole_of(const SensorSpec& spec, const Catalog& catalog);

}  // namespace isochron::world
