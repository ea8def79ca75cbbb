#pragma once
// The signalled junctions of a road network as a scenario has them: `agents: {members: …}` of kind lights with their
// phases, and `v2x: {intersections: …}` with the lanes that MAP messages tell. Heads are called by the numbers of their
// links, as traffic simulators know them.

#include <array>
#include <string>

#include "road/network.hpp"

namespace isochron::road {

/// YAML to go on with; "" where the network has no signals.
std::string intersections_text(const Network& network, const std::array<double, 2>& origin);

}  // namespace isochron::road
