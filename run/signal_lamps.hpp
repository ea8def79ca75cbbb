#pragma once
// The lamps of signals as cameras see them: spheres (or what shapes they have) that the model names signal/HEAD/red, /yellow and
// /green. Those that are lit glow, the others are dark.
//
// Threads: the world's. Cost: nothing while no lamp changes.

#include <optional>
#include <string>
#include <vector>

#include "traffic/agent_parts.hpp"
#include "world/scene.hpp"

namespace isochron {

class SignalLamps {
 public:
  explicit SignalLamps(const std::vector<world::Geometry>& geometry);
  /// Heads that the board does not name stay as they are.
  void show(world::Scene& scene, const LampBoard& board);

 private:
  struct Bulb {
    std::uint32_t geometry = 0;
    std::string head, colour;
    world::Material lit, dark;
    std::optional<bool> on = std::nullopt;
  };
  std::vector<Bulb> bulbs_;
  LampBoard shown_;
};

}  // namespace isochron
