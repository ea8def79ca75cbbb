#pragma once
// The attacks of a scenario's `v2x` as an air carries them out.
//
// Threads: any; no state.

#include <map>
#include <string>

#include "scenario/scenario.hpp"
#include "v2x/comm/air.hpp"

namespace isochron {

/// The station by which the i-th attack's ghosts speak; it is no client's.
std::string attackers_name(std::size_t attack);
/// Adds them to an air that has its stations, whose numbers are `ids`; ghosts have a station more.
void add_attacks(const Scenario& scenario, v2x::AirSettings& air, const std::map<std::string, v2x::StationId>& ids);

}  // namespace isochron
