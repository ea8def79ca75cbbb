#include "world/sensors/mount.hpp"

#include "core/ensure.hpp"

namespace isochron::world {
namespace {

Mount base_of(const SensorSpec& spec, const Catalog& catalog) {
  if (!spec.camera.empty()) {
    const auto camera = catalog.camera(spec.camera);
    ENSURE(camera.has_value(), "a sensor on an unknown camera was not checked");
    return {catalog.cameras[*camera].body, catalog.cameras[*camera].local};
  }
  if (!spec.site.empty()) {
    const auto site = catalog.site(spec.site);
    ENSURE(site.has_value(), "a sensor on an unknown site was not checked");
    return {catalog.sites[*site].body, catalog.sites[*site].local};
  }
  const auto body = catalog.body(spec.body);
  ENSURE(body.has_value(), "a sensor on an unknown body was not checked");
  return {*body, Pose{}};
}

}  // namespace

Mount mount_of(const SensorSpec& spec, const Catalog& catalog) {
  Mount mount = base_of(spec, catalog);
  mount.local = compose(mount.local, spec.offset);
  return mount;
}

}  // namespace isochron::world
