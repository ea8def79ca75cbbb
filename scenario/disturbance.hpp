#pragma once
// Pushes that a person gives to bodies while a run goes on; they come on top of whatever else acts. Without a push it
// does nothing, to the bit.

#include <algorithm>
#include <vector>

#include "world/part.hpp"

namespace isochron {

class Disturbance final : public world::Part {
 public:
  /// From the next step on, until simulated time `until`.
  void push(std::uint32_t body, const world::Vec3& force, SimTime until) { pushes_.push_back({body, force, until}); }

  void act(world::Engine& engine, SimSpan, world::Wrenches& wrenches) override {
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
};

}  // namespace isochron
