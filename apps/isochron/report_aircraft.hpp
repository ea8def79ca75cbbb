#pragma once
// What aircraft did, from /aircraft/NAME: how far, how high and how fast they flew, how far they leaned, what it cost
// their batteries, and their heights over time.
//
// Cost: keeps a few thousand points and a dozen numbers of each aircraft, however long the run was.

#include <string>
#include <vector>

#include "apps/isochron/report_data.hpp"

namespace isochron {
class McapReader;
}

namespace isochron::app {

/// Fills RunData::aircraft.
void load_aircraft(McapReader& reader, RunData& run);
/// Empty if no run had any.
std::string aircraft_section(const std::vector<RunData>& runs);

}  // namespace isochron::app
