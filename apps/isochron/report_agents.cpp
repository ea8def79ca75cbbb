#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_page.hpp"

namespace isochron::app {
namespace {

std::string row(const AgentClientReport& c, std::size_t run) {
  return row_head(run, c.name) + cell(c.agents) + cell(c.heartbeats) + cell(c.waits) + cell(seconds_text(c.waited_s)) +
         cell(seconds_text(c.oldest_s)) + cell(c.sent) + cell(c.received) + cell(c.said_again) + cell(c.dropped) +
         cell(c.began_later) + cell(c.joins) + cell(c.shut_down) + "</tr>";
}

/// What the server of a run did to its clients, and dropped.
std::string server_line(const AgentsReport& agents, std::size_t run) {
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
    for (const AgentClientReport& client : runs[i].ending->agents->clients) rows += row(client, i);
  }
  if (rows.empty()) return "";
  return "<h2>Agents</h2>" + lines +
         "<p class=\"soft\">A client waits at a heartbeat while somebody is more than two heartbeats behind it. "
         "Oldest: the age of the oldest state of another's agent that it used.</p>" +
         table({"run", "client", "#agents", "#heartbeats", "#waited at", "#for", "#oldest", "#datagrams out", "#in",
                "#said again", "#dropped", "#began later", "#joined", "#saw shut down"},
               rows);
}

}  // namespace isochron::app
