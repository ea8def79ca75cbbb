#pragma once
// What the numbers of /world/state are called in the journal (journal/names.hpp): prey.position.x, elbow.position,
// car03/steer.command.

#include "journal/mcap_format.hpp"
#include "world/engine.hpp"

namespace isochron {

/// Metadata of the channel /world/state. `whole` has the actuators and sensors of vehicles too.
mcap::TextMap state_names(const world::Catalog& whole);

}  // namespace isochron
