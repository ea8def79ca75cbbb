#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_page.hpp"

namespace isochron::app {
namespace {

std::string cell(const std::string& text) { return "<td class=\"n\">" + escape(text) + "</td>"; }

std::string row(const ClientFigures& c, std::size_t run) {
  return "<tr><td>" + letter(run) + "</td><th scope=\"row\">" + escape(c.name) + "</th>" +
         cell(std::to_string(c.agents)) + cell(std::to_string(c.heartbeats)) + cell(std::to_string(c.waits)) +
         cell(seconds_text(c.waited_s)) + cell(seconds_text(c.oldest_s)) + cell(std::to_string(c.sent)) +
         cell(std::to_string(c.received)) + cell(std::to_string(c.said_again)) + cell(std::to_string(c.dropped)) +
         cell(std::to_string(c.began_later)) + cell(std::to_string(c.joins)) + cell(std::to_string(c.shut_down)) +
         "</tr>";
}

/// What the server of a run did to its clients, and dropped.
std::string server_line(const AgentFigures& agents, std::size_t run) {
  std::string text = "Run " + letter(run) + ": " + std::to_string(agents.shot_down) +
                     " times a client was shot down (" + std::to_string(agents.stalled) + " stalled, " +
                     std::to_string(agents.fenced) + " ran ahead)";
  for (const auto& [why, count] : agents.dropped) text += "; " + std::to_string(count) + " dropped: " + why;
  return "<p>" + escape(text) + ".</p>";
}

}  // namespace

std::string agents_section(const std::vector<RunData>& runs) {
  std::string rows, lines;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending || !runs[i].ending->agents) continue;
    lines += server_line(*runs[i].ending->agents, i);
    for (const ClientFigures& client : runs[i].ending->agents->clients) rows += row(client, i);
  }
  if (rows.empty()) return "";
  return "<h2>Agents</h2>" + lines +
         "<p class=\"soft\">A client waits at a heartbeat while somebody is more than two heartbeats behind it. "
         "Oldest: "
         "the age of the oldest state of another's agent that it used.</p><div class=\"wide\"><table><thead><tr>"
         "<th>run</th><th>client</th><th class=\"n\">agents</th><th class=\"n\">heartbeats</th>"
         "<th class=\"n\">waited at</th><th class=\"n\">for</th><th class=\"n\">oldest</th>"
         "<th class=\"n\">datagrams out</th><th class=\"n\">in</th><th class=\"n\">said again</th>"
         "<th class=\"n\">dropped</th><th class=\"n\">began later</th><th class=\"n\">joined</th>"
         "<th class=\"n\">saw shut down</th></tr></thead><tbody>" +
         rows + "</tbody></table></div>";
}

}  // namespace isochron::app
