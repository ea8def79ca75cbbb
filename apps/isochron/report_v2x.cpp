#include "apps/isochron/report_chart.hpp"
#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_page.hpp"

namespace isochron::app {
namespace {

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

std::string listed(const std::vector<std::pair<std::string, std::uint64_t>>& counts) {
  std::string text;
  for (const auto& [what, n] : counts) {
    if (n > 0) text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + what;
  }
  return text;
}

std::string row(const V2xFigures& v, std::size_t run) {
  return "<tr><td>" + letter(run) + "</td><td>" + escape(listed(v.by_type)) + "</td><td>" +
         escape(listed(v.receptions)) + "</td>" + cell(seconds_text(v.latency_mean_s)) +
         cell(seconds_text(v.latency_p99_s)) + cell(seconds_text(v.latency_max_s)) + cell(percent(v.busy_mean)) +
         cell(percent(v.busy_max)) + "</tr>";
}

}  // namespace

std::string v2x_section(const std::vector<RunData>& runs) {
  std::string rows;
  std::vector<Curve> delivery, latency;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending || !runs[i].ending->v2x) continue;
    const V2xFigures& v2x = *runs[i].ending->v2x;
    rows += row(v2x, i);
    if (!v2x.delivery.empty()) delivery.push_back({i, &v2x.delivery});
    if (v2x.latency.size() > 1) latency.push_back({i, &v2x.latency});
  }
  if (rows.empty()) return "";
  std::string out =
      "<h2>Radio</h2><p class=\"soft\">Every message that was sent, and what became of it at every other station; each "
      "one is in the journal under /v2x/air.</p>" +
      table({"run", "messages", "at receivers", "#latency, mean", "#p99", "#most", "#channel busy", "#at most"}, rows);
  if (!delivery.empty()) {
    out += line_chart(delivery, {"Delivery by distance", "distance between antennas, m", "share delivered"});
  }
  if (!latency.empty()) {
    out +=
        line_chart(latency, {"Latency of what was delivered", "from sending to hearing, ms", "share that took less"});
  }
  return out;
}

}  // namespace isochron::app
