#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_page.hpp"

namespace isochron::app {
namespace {

std::string cell(const std::string& text) { return "<td class=\"n\">" + escape(text) + "</td>"; }

std::string row(const AutopilotFigures& a, std::size_t run) {
  return "<tr><td>" + letter(run) + "</td><th scope=\"row\">" + escape(a.name) + "</th><td>" +
         escape(a.protocol + ", " + a.where) + "</td><td>" + escape(a.time) + "</td>" + cell(seconds_text(a.every_s)) +
         cell(std::to_string(a.frames)) + cell(std::to_string(a.overruns)) + cell(std::to_string(a.missed)) +
         cell(seconds_text(a.response_mean_s)) + cell(seconds_text(a.response_most_s)) +
         cell(seconds_text(a.world_waited_s)) + cell(std::to_string(a.wrong)) + cell(std::to_string(a.restarts)) +
         cell(std::to_string(a.losses)) + "</tr>";
}

}  // namespace

std::string autopilot_section(const std::vector<RunData>& runs) {
  std::string rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending) continue;
    for (const AutopilotFigures& one : runs[i].ending->autopilots) rows += row(one, i);
  }
  if (rows.empty()) return "";
  return "<h2>Autopilots</h2><p class=\"soft\">A frame is one state told and its controls. In lock-step the world "
         "waits "
         "for them; in the simulated network a frame whose controls are not there when the next one is due is an "
         "overrun.</p><div class=\"wide\"><table><thead><tr><th>run</th><th>autopilot</th><th>link</th><th>time</th>"
         "<th class=\"n\">frame</th><th class=\"n\">frames</th><th class=\"n\">overruns</th><th "
         "class=\"n\">missed</th><th class=\"n\">response</th><th class=\"n\">longest</th><th class=\"n\">the world "
         "waited</th><th class=\"n\">wrong packets</th><th class=\"n\">restarts</th><th class=\"n\">lost</th></tr>"
         "</thead><tbody>" +
         rows + "</tbody></table></div>";
}

}  // namespace isochron::app
