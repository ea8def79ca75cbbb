#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_page.hpp"

namespace isochron::app {
namespace {

std::string row(const AutopilotReport& a, std::size_t run) {
  return row_head(run, a.name) + "<td>" + escape(a.protocol + ", " + a.where) + "</td><td>" + escape(a.time) + "</td>" +
         cell(seconds_text(a.every_s)) + cell(a.frames) + cell(a.overruns) + cell(a.missed) +
         cell(seconds_text(a.response_mean_s)) + cell(seconds_text(a.response_most_s)) +
         cell(seconds_text(a.waited_s)) + cell(a.wrong + a.not_numbers) + cell(a.restarts) + cell(a.losses) + "</tr>";
}

}  // namespace

std::string autopilot_section(const std::vector<RunData>& runs) {
  std::string rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending) continue;
    for (const AutopilotReport& one : runs[i].ending->autopilots) rows += row(one, i);
  }
  if (rows.empty()) return "";
  return "<h2>Autopilots</h2><p class=\"soft\">A frame is one state told and its controls. In lock-step the world "
         "waits for them; in the simulated network a frame whose controls are not there when the next one is due is an "
         "overrun.</p>" +
         table({"run", "autopilot", "link", "time", "#frame", "#frames", "#overruns", "#missed", "#response",
                "#longest", "#the world waited", "#wrong packets", "#restarts", "#lost"},
               rows);
}

std::string wire_section(const std::vector<RunData>& runs) {
  std::string rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending) continue;
    for (const WireReport& w : runs[i].ending->wires) {
      rows += row_head(i, w.name) + "<td>" + escape(w.where) + "</td>" + cell(w.sent) + cell(w.unheard) +
              cell(w.taken) + cell(w.wrong) + "<td>" + escape(w.first_wrong) + "</td></tr>";
    }
  }
  if (rows.empty()) return "";
  return "<h2>Wires</h2><p class=\"soft\">Messages between robots and programs that know nothing of Isochron. Unheard: "
         "it "
         "was time to send one, and nobody was there or it did not fit.</p>" +
         table({"run", "wire", "port", "#sent", "#unheard", "#taken", "#not readable", "why the first was not"}, rows);
}

}  // namespace isochron::app
