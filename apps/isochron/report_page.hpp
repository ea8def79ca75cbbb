#pragma once
// The report of some runs as one HTML page that needs nothing else: verdicts first, then what they rest on.

#include <string>
#include <vector>

#include "apps/isochron/report_data.hpp"
#include "apps/isochron/report_schedule.hpp"

namespace isochron::app {

/// `scatter` is the section of that name (report_scatter.hpp), or empty.
std::string report_page(const std::vector<RunData>& runs, const ScheduleWindow& window, const std::string& scatter);
/// A page with this inside.
std::string page_around(const std::string& title, const std::string& body);

// Its parts; each is empty if there is nothing to show.
std::string verdict_section(const std::vector<RunData>& runs);
std::string comparison_section(const std::vector<RunData>& runs);
std::string program_section(const std::vector<RunData>& runs);
/// "" where nothing was expected.
std::string expectation_section(const std::vector<RunData>& runs);
/// Hardware in the loop: who was held, for whom, and how long.
std::string hil_section(const std::vector<RunData>& runs);
std::string autopilot_section(const std::vector<RunData>& runs);
/// What went over the wires of robots; "" where none has any.
std::string wire_section(const std::vector<RunData>& runs);
/// Radio between agents: delivery by distance, latency, and how busy the channel was.
std::string v2x_section(const std::vector<RunData>& runs);
/// Many agents: how each client kept up with the others.
std::string agents_section(const std::vector<RunData>& runs);

}  // namespace isochron::app
