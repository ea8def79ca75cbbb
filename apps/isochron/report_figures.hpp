#pragma once
// The figures that a run attaches to its journal (report.json, see run/run_report.cpp) and the scenario it ran.
// Both come from a file that anybody may have written: what is missing or of another type is left at its default.

#include <string>

#include "apps/isochron/report_data.hpp"

namespace isochron::app {

/// Fills ending, notes and the run's name; leaves a banner if the text is no JSON object.
void take_figures(const std::string& json, RunData& run);
/// Fills the quantum and the executor of flows, with the scenario's default where the text does not say.
void take_scenario(const std::string& yaml, RunData& run);

}  // namespace isochron::app
