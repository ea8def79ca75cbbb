#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_page.hpp"

namespace isochron::app {
namespace {

std::string row(const HilTargetReport& t, std::size_t run) {
  return row_head(run, t.name) + cell(seconds_text(t.executed_s)) + cell(t.holds) + cell(seconds_text(t.held_s)) +
         cell(seconds_text(t.held_most_s)) + cell(seconds_text(t.held_by_world_s)) +
         cell(seconds_text(t.held_by_targets_s)) + cell(seconds_text(t.held_by_pace_s)) +
         cell(seconds_text(t.world_waited_s)) + cell(seconds_text(t.latency_s) + " ± " + seconds_text(t.jitter_s)) +
         cell(t.late) + cell(t.clock_faults) + cell(seconds_text(t.beyond_s)) +
         (t.held ? cell("") : cell(seconds_text(t.apart_mean_s) + ", " + seconds_text(t.apart_most_s))) +
         cell(t.losses) + "</tr>";
}

}  // namespace

std::string hil_section(const std::vector<RunData>& runs) {
  std::string rows, verdicts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending || !runs[i].ending->hil) continue;
    const HilReport& hil = *runs[i].ending->hil;
    verdicts += "<p>Run " + letter(i) + ": " + escape(hil.verdict) + "; time on the link was " + escape(hil.link_cost) +
                ".</p>";
    for (const HilTargetReport& target : hil.targets) rows += row(target, i);
  }
  if (verdicts.empty()) return "";
  return "<h2>Hardware in the loop</h2>" + verdicts +
         "<p class=\"soft\">A hold is what a target waited for an answer beyond the simulated time that passed for it; "
         "each one is in the journal under /hil/holds.</p>" +
         table({"run", "target", "#executed", "#holds", "#held", "#longest", "#for the world", "#for other targets",
                "#for the pace", "#the world waited", "#link, there and back", "#late", "#clock faults",
                "#beyond pings", "#free: clock and simulated time apart, mean, most", "#lost"},
               rows);
}

}  // namespace isochron::app
