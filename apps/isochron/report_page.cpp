#include "apps/isochron/report_page.hpp"

#include <algorithm>
#include <map>

#include "apps/isochron/report_aircraft.hpp"
#include "apps/isochron/report_chart.hpp"
#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_style.hpp"
#include "apps/isochron/report_vehicles.hpp"

namespace isochron::app {
namespace {

constexpr std::size_t most_scenario_bytes = 64U << 10U;

std::string legend(const std::vector<Curve>& curves, const std::vector<RunData>& runs) {
  std::string out = "<figcaption class=\"legend\">";
  for (const Curve& curve : curves) {
    out += "<span class=\"c" + std::to_string(curve.run % 8) + "\"><i></i>" + letter(curve.run) + " · " +
           escape(runs[curve.run].scenario) + ", " + escape(runs[curve.run].mode) + "</span>";
  }
  return out + "</figcaption>";
}

/// Whether one run drifts so much more than another that a plain axis would hide the lesser.
bool far_apart(const std::vector<Curve>& curves) {
  double least = 1e300, most = 0;
  for (const Curve& curve : curves) {
    double peak = 0;
    for (const Point& p : *curve.line) peak = std::max(peak, p.y);
    least = std::min(least, peak), most = std::max(most, peak);
  }
  return most > 20 * least && most > 1e-5;
}

std::string drift_section(const std::vector<RunData>& runs) {
  std::vector<Curve> curves;
  std::map<double, std::string> bounds;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].drift.empty()) continue;
    curves.push_back({i, &runs[i].drift});
    if (const auto bound = runs[i].bound_s(); bound && !(runs[i].ending && runs[i].ending->hil))
      bounds[*bound] += " " + letter(i);
  }
  if (curves.empty()) return "<h2>Drift</h2><p class=\"soft\">No drift is recorded in these journals.</p>";
  std::vector<Mark> marks;
  for (const auto& [bound, letters] : bounds) marks.push_back({bound, "allowed for" + letters});
  ChartText text{"drift over simulated time", "simulated time, s", "drift", far_apart(curves), true};
  return "<h2>Drift over time</h2><p class=\"soft\">How far the parts of a run were from each other in simulated time: "
         "the least is best. Every peak is kept." +
         std::string(text.log_y ? " The scale is logarithmic." : "") + "</p><figure>" +
         line_chart(curves, text, marks) + legend(curves, runs) + "</figure>";
}

std::string distance_table(const std::vector<Curve>& curves) {
  std::string rows;
  for (const Curve& curve : curves) {
    double least = 1e300, most = 0, sum = 0;
    for (const Point& p : *curve.line) least = std::min(least, p.y), most = std::max(most, p.y), sum += p.y;
    rows += "<tr><th scope=\"row\">" + letter(curve.run) + "</th>";
    for (const double value : {least, sum / static_cast<double>(curve.line->size()), most}) {
      rows += cell(number_text(value) + " m");
    }
    rows += "</tr>";
  }
  return table({"run", "#least", "#mean", "#most"}, rows);
}

std::string pair_section(const std::string& name, const std::vector<Curve>& curves, const std::vector<RunData>& runs) {
  const std::string over = "distance of " + name + " over simulated time";
  const std::string how_often = "how often " + name + " were at each distance";
  return "<h3>" + escape(name) + "</h3><figure>" +
         line_chart(curves, {over, "simulated time, s", "distance, m", false, false}) + legend(curves, runs) +
         "</figure><figure>" + histogram(curves, {how_often, "distance, m", "% of the time", false, false}) +
         legend(curves, runs) + "</figure>" + distance_table(curves);
}

std::string distance_section(const std::vector<RunData>& runs) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<Curve>> pairs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const PairDistance& pair : runs[i].pairs) {
      if (pair.line.empty()) continue;
      const std::string name = pair.a + " and " + pair.b;
      if (!pairs.contains(name)) order.push_back(name);
      pairs[name].push_back({i, &pair.line});
    }
  }
  if (order.empty()) return "";
  std::string out = "<h2>Distances</h2>";
  for (const std::string& name : order) out += pair_section(name, pairs[name], runs);
  return out;
}

std::string variable_section(const std::vector<RunData>& runs) {
  if (runs.empty() || runs[0].variables.empty()) return "";
  std::string out = "<h2>Variables</h2>";
  for (std::size_t v = 0; v < runs[0].variables.size(); ++v) {  // every run has those that were asked for
    std::vector<Curve> curves;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i].variables[v].line.empty()) curves.push_back({i, &runs[i].variables[v].line});
    }
    const std::string& name = runs[0].variables[v].name;
    out += "<h3>" + escape(name) + "</h3>";
    if (curves.empty()) {
      out += "<p class=\"soft\">It has no values.</p>";
      continue;
    }
    out += "<figure>" + line_chart(curves, {name + " over simulated time", "simulated time, s", name, false, false}) +
           legend(curves, runs) + "</figure><figure>" +
           histogram(curves, {"how often " + name + " had each value", name, "% of the time", false, false}) +
           legend(curves, runs) + "</figure>";
  }
  return out;
}

std::string schedule_section(const std::vector<RunData>& runs, const ScheduleWindow& window) {
  const Schedule schedule = schedule_of(runs, window);
  if (schedule.marks == 0) {
    return "<h2>Schedule</h2><p class=\"soft\">No activations are recorded: controllers in libraries are called by the "
           "world and leave none.</p>";
  }
  return "<h2>Schedule</h2><p class=\"soft\">Bars: a program had its core (on a board or on the wall clock: from "
         "its release to the last thing that it was seen doing for it); a thin line before: it was ready and waited "
         "for "
         "who had the core; a red end: it was preempted. Lines between programs: messages. Ticks: logs, answers that "
         "were held, faults (red). Hover says who and how long. Wheel or + and − zoom, drag or arrows move." +
         std::string(schedule.joined ? " Neighbouring activations are joined where there are too many (lighter bars); "
                                       "--from and --to show a part in full."
                                     : "") +
         "</p><figure><p><button id=\"zoom-in\">zoom in</button><button id=\"zoom-out\">zoom out</button><button "
         "id=\"zoom-all\">all</button> <span id=\"schedule-note\" class=\"soft\" aria-live=\"polite\"></span></p>"
         "<canvas id=\"schedule\" role=\"img\" tabindex=\"0\" aria-label=\"timeline of program activations\"></canvas>"
         "<noscript>The schedule is drawn by a script.</noscript></figure>"
         "<script type=\"application/json\" id=\"schedule-data\">" +
         schedule.json + "</script><script>" + report_script + "</script>";
}

std::string wall_section(const std::vector<RunData>& runs) {
  std::vector<std::pair<std::size_t, std::vector<WallShare>>> shares;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].ending) shares.emplace_back(i, runs[i].ending->shares);
  }
  if (shares.empty()) return "";
  std::string out =
      "<h2>Where the wall time went</h2><figure>" + stacked_bars(shares) + "<figcaption class=\"legend\">";
  for (std::size_t i = 0; i < shares.front().second.size(); ++i) {
    out += "<span class=\"s" + std::to_string(i) + "\"><i></i>" + escape(shares.front().second[i].what) + "</span>";
  }
  return out + "</figcaption></figure>";
}

std::string scenario_section(const std::vector<RunData>& runs) {
  std::string out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string& text = runs[i].scenario_text;
    if (text.empty()) continue;
    out += "<details><summary>run " + letter(i) + ": the scenario, as it was read</summary><pre>" +
           escape(std::string_view(text).substr(0, most_scenario_bytes)) +
           (text.size() > most_scenario_bytes ? "\n…" : "") + "</pre></details>";
  }
  return out.empty() ? "" : "<h2>Scenarios</h2><div class=\"wide\">" + out + "</div>";
}

/// Which runs are the same, record by record.
std::string sameness(const std::vector<RunData>& runs) {
  std::map<std::string, std::string> letters;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].digest_complete) letters[runs[i].digest] += " " + letter(i);
  }
  std::string out;
  for (const auto& [digest, who] : letters) {
    if (who.size() > 2) out += "<p><strong>The same run, record by record:" + who + ".</strong></p>";
  }
  return out;
}

}  // namespace

std::string page_around(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width,initial-scale=1\"><title>" +
         escape(title) + " – Isochron</title><style>" + report_style + "</style></head><body><main><h1>" +
         escape(title) +
         "</h1><p class=\"soft\">Made by isochron " ISOCHRON_VERSION
         " from the journals that the runs "
         "left.</p>" +
         body + "</main></body></html>\n";
}

std::string report_page(const std::vector<RunData>& runs, const ScheduleWindow& window, const std::string& scatter) {
  const std::string title = runs.size() == 1 ? "Run of " + runs[0].scenario : std::to_string(runs.size()) + " runs";
  return page_around(title, sameness(runs) + verdict_section(runs) + expectation_section(runs) +
                                comparison_section(runs) + scatter + drift_section(runs) + distance_section(runs) +
                                vehicle_section(runs) + aircraft_section(runs) + variable_section(runs) +
                                schedule_section(runs, window) + program_section(runs) + hil_section(runs) +
                                autopilot_section(runs) + wire_section(runs) + agents_section(runs) +
                                v2x_section(runs) + wall_section(runs) + scenario_section(runs));
}

}  // namespace isochron::app
