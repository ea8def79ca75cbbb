#include "world/sensors/camera_model.hpp"

#include "world/sensors/repeatable.hpp"

namespace isochron::world {

PinholeModel pinhole_of(const SensorSpec& spec, const Catalog& catalog) {
  double fov = spec.picture.vertical_fov > 0 ? spec.picture.vertical_fov : 0.8;
  if (!(spec.picture.vertical_fov > 0) && !spec.camera.empty()) {
    fov = catalog.cameras[*catalog.camera(spec.camera)].vertical_fov;
  }
  const SinCos half = repeatable_sincos(0.5 * fov);
  return {0.5 * spec.picture.height * half.cos / half.sin, 0.5 * spec.picture.width, 0.5 * spec.picture.height};
}

}  // namespace isochron::world
