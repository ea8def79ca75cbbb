#pragma once
// What vehicles did, from /vehicles/NAME: how far and how fast they drove, how hard they accelerated and braked, what
// their wheels and springs went through, and their speeds over time.
//
// Cost: keeps a few thousand points and a dozen numbers of each vehicle, however long the run was.

#include <memory>
#include <string>
#include <vector>

#include "apps/isochron/report_data.hpp"

namespace isochron {
class McapReader;
}

namespace isochron::app {

/// Fills RunData::vehicles.
void load_vehicles(McapReader& reader, RunData& run);
/// Empty if no run had any.
std::string vehicle_section(const std::vector<RunData>& runs);

}  // namespace isochron::app
