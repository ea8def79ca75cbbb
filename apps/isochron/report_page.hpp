#pragma once
// The report of some runs as one HTML page that needs nothing else: verdicts first, then what they rest on.

#include <string>
#include <vector>

#include "apps/isochron/report_data.hpp"
#include "apps/isochron/report_schedule.hpp"

namespace isochron::app {

std::string report_page(const std::vector<RunData>& runs, const ScheduleWindow& window);

// Its parts; each is empty if there is nothing to show.
std::string verdict_section(const std::vector<RunData>& runs);
std::string comparison_section(const std::vector<RunData>& runs);
std::string program_section(const std::vector<RunData>& runs);
/// Hardware in the loop: who was held, for whom, and how long.
std::string hil_section(const std::vector<RunData>& runs);

}  // namespace isochron::app
