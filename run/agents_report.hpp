#pragma once
// What a run with agents adds to its report: for each client how often it waited and for how long, how old what it saw
// was, and what its link did; and what the server of the run dropped.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace isochron {

struct AgentClientReport {
  std::string name;
  std::uint64_t agents = 0, heartbeats = 0;
  std::uint64_t waits = 0;                                            // heartbeats before which it waited for somebody
  double waited_s = 0;                                                // wall time
  double oldest_s = 0;                                                // simulated age of the oldest state that it used
  std::uint64_t sent = 0, received = 0, said_again = 0, dropped = 0;  // datagrams
  std::uint64_t joins = 0, began_later = 0;
  std::uint64_t shut_down = 0;  // others' agents that it was told are gone
};

struct AgentsReport {
  std::vector<AgentClientReport> clients;
  std::uint64_t shot_down = 0, stalled = 0, fenced = 0;          // by a server of this run
  std::vector<std::pair<std::string, std::uint64_t>> dropped{};  // by it: why, how many datagrams or entries
};

}  // namespace isochron
