#pragma once
// Where a sensor sits: a body and a pose in its frame, from whichever of body, site or camera the spec names.

#include "world/engine.hpp"
#include "world/scene.hpp"
#include "world/scene_frame.hpp"
#include "world/sensors/spec.hpp"

namespace isochron::world {

struct Mount {
  std::uint32_t body = 0;
  Pose local;

  [[nodiscard]] Pose pose(const Engine& engine) const { return compose(engine.motion(body).pose, local); }
  /// What its rays pass through: its own body, unless that is the world itself.
  [[nodiscard]] std::uint32_t unseen() const { return body == 0 ? Scene::no_body : body; }
};

/// Requires: check() found nothing.
Mount mount_of(const SensorSpec& spec, const Catalog& catalog);

}  // namespace isochron::world
