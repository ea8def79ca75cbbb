#pragma once
// The world as sensors see it at one instant: an engine between two steps, and the scene of its shapes. The scene is
// brought up to that state when the first ray is asked for, so that worlds without rays pay nothing.
//
// Requires: the engine does not step while the view lives.

#include "core/ensure.hpp"
#include "world/engine.hpp"
#include "world/scene.hpp"
#include "world/world.hpp"

namespace isochron::world {

class WorldView {
 public:
  /// Without a scene, only sensors that cast no rays may look.
  explicit WorldView(const Engine& engine, Scene* scene = nullptr) : engine_(engine), scene_(scene) {}
  /// With the parts of a world: what they say can be sensed, too.
  explicit WorldView(const World& world, Scene* scene = nullptr)
      : engine_(world.engine()), scene_(scene), world_(&world) {}

  [[nodiscard]] SimTime time() const { return engine_.time(); }
  [[nodiscard]] const Engine& engine() const { return engine_; }
  /// By its index in the catalog that the sensor was made with: the engine's, or World::whole_catalog().
  [[nodiscard]] std::span<const double> model_sensor(std::uint32_t index) const {
    return world_ != nullptr ? world_->reading(index) : engine_.sensor(index);
  }
  [[nodiscard]] const Scene& scene() const {
    ENSURE(scene_ != nullptr, "a sensor that casts rays in a world without a scene");
    if (!current_) bring_up();
    return *scene_;
  }

 private:
  void bring_up() const {
    const auto bodies = static_cast<std::uint32_t>(engine_.catalog().bodies.size());
    for (std::uint32_t body = 1; body < bodies; ++body) scene_->place(body, engine_.motion(body).pose);
    scene_->commit();
    current_ = true;
  }
  const Engine& engine_;
  Scene* scene_;
  const World* world_ = nullptr;
  mutable bool current_ = false;
};

}  // namespace isochron::world
