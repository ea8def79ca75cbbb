#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_page.hpp"

namespace isochron::app {
namespace {

std::string cell(const std::string& text) { return "<td class=\"n\">" + escape(text) + "</td>"; }

std::string row(const TargetFigures& t, std::size_t run) {
  return "<tr><td>" + letter(run) + "</td><th scope=\"row\">" + escape(t.name) + "</th>" +
         cell(seconds_text(t.executed_s)) + cell(std::to_string(t.holds)) + cell(seconds_text(t.held_s)) +
         cell(seconds_text(t.held_most_s)) + cell(seconds_text(t.by_world_s)) + cell(seconds_text(t.by_targets_s)) +
         cell(seconds_text(t.by_pace_s)) + cell(seconds_text(t.world_waited_s)) +
         cell(seconds_text(t.latency_s) + " ± " + seconds_text(t.jitter_s)) + cell(std::to_string(t.late)) +
         cell(std::to_string(t.clock_faults)) + cell(std::to_string(t.losses)) + "</tr>";
}

}  // namespace

std::string hil_section(const std::vector<RunData>& runs) {
  std::string rows, verdicts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending || !runs[i].ending->hil) continue;
    const HilFigures& hil = *runs[i].ending->hil;
    verdicts +=
        "<p>Run " + letter(i) + ": " + escape(hil.verdict) + "; time on the link was " + escape(hil.link) + ".</p>";
    for (const TargetFigures& target : hil.targets) rows += row(target, i);
  }
  if (verdicts.empty()) return "";
  return "<h2>Hardware in the loop</h2>" + verdicts +
         "<p class=\"soft\">A hold is what a target waited for an answer beyond the simulated time that passed for it; "
         "each one is in the journal under /hil/holds.</p><div class=\"wide\"><table><thead><tr><th>run</th>"
         "<th>target</th><th class=\"n\">executed</th><th class=\"n\">holds</th><th class=\"n\">held</th>"
         "<th class=\"n\">longest</th><th class=\"n\">for the world</th><th class=\"n\">for other targets</th>"
         "<th class=\"n\">for the pace</th><th class=\"n\">the world waited</th><th class=\"n\">link, there and "
         "back</th><th class=\"n\">late</th><th class=\"n\">clock faults</th><th class=\"n\">lost</th></tr></thead>"
         "<tbody>" +
         rows + "</tbody></table></div>";
}

}  // namespace isochron::app
