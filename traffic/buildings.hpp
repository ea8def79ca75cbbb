#pragma once
// What hides one from another: boxes around the shapes of a model, for eyes and for antennas.

#include <optional>
#include <vector>

#include "v2x/radio/boxes.hpp"
#include "world/engine.hpp"

namespace isochron {

/// A shape's bounding box, in the frame of its body; nothing for what cannot hide anybody.
[[nodiscard]] std::optional<v2x::Box> box_of(const world::Geometry& geometry);
/// Whatever stands fixed and is larger than a metre each way.
[[nodiscard]] std::vector<v2x::Box> buildings_of(const world::Engine& engine);

}  // namespace isochron
