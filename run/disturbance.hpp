#pragma once
// Pushes that a person gives to bodies while a run goes on, and wind or walls that the scenario did not have at its
// start; they come on top of whatever else acts. Without any it does nothing, to the bit.

#include <algorithm>
#include <memory>
#include <vector>

#include "world/part.hpp"

namespace isochron {

class Disturbance final : public world::Part {
 public:
  /// From the next step on, until simulated time `until`.
  void push(std::uint32_t body, const world::Vec3& force, SimTime until) { pushes_.push_back({body, force, until}); }

  /// From the next step on.
  void add(std::unique_ptr<world::Part> field) { fields_.push_back(std::move(field)); }

  void act(world::Engine& engine, SimSpan dt, world::Wrenches& wrenches) override {
    for (const auto& field : fields_) field->act(engine, dt, wrenches);
    std::erase_if(pushes_, [&](const Push& push) { return engine.time() >= push.until; });
    for (const Push& push : pushes_) wrenches.add(push.body, {push.force, {}});
  }

 private:
  struct Push {
    std::uint32_t body;
    world::Vec3 force;
    SimTime until;
  };
  std::vector<Push> pushes_;
  std::vector<std::unique_ptr<world::Part>> fields_;
};

}  // namespace isochron
