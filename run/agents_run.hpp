#pragma once
// Running the clients of a scenario with agents: all of them at once in this process, with a server of their own
// (`isochron run`, mode heartbeat), or one of them in a world that somebody else serves (`isochron join`).

#include <string>

#include "agents/client.hpp"
#include "agents/server.hpp"
#include "run/run.hpp"

namespace isochron {

/// What the scenario says about its server.
agents::ServerSettings server_settings(const Scenario& scenario);

struct JoinOptions {
  Address server{};
  std::optional<Address> comm{};  // of the communication server; none: its radios are silent
  std::string client;             // which share of the scenario
  agents::wire::Updates updates = agents::wire::AUTOMATIC;
  WallSpan patience = std::chrono::seconds(30);  // until a server answers
};

/// Runs the communication server of a scenario with `v2x` until the watch is stopped, or all clients that came have
/// left; leaves a journal. `told` is called with the address.
RunReport serve_comm(const Scenario& scenario, const link::Key& key, const Address& at, const RunOptions& options,
                     Clock& clock, Disk& disk, RunWatch& watch, const std::function<void(const Address&)>& told);

/// Blocks until the scenario's time is over, the server declines, or the watch is stopped; leaves a journal.
RunReport join_scenario(const Scenario& scenario, const link::Key& key, const JoinOptions& join,
                        const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);

}  // namespace isochron
