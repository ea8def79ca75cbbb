#pragma once
// The loop of one client: its share of the world on one side, the state cache on the other. Every heartbeat it
// publishes its agents, waits for the slowest, and takes the steps of the next heartbeat with the others where they
// are.
//
// Threads: owner thread; it blocks in run().

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agents/client.hpp"
#include "run/agent_world.hpp"
#include "run/run_record.hpp"

namespace isochron {

class AgentClient {
 public:
  /// Throws InputError.
  AgentClient(const Scenario& scenario, const std::string& name);

  struct Ending {
    std::string failure;  // "" = the time was over, or it was told to stop
    SimTime reached;
    std::uint64_t heartbeats = 0, skipped = 0, waits = 0, shut_down = 0;
    SimSpan oldest;  // age of the oldest state that was used
    WallSpan waited{};
    agents::LinkCounts link;
  };
  /// Told the states at every time that it reaches; `inside`: the others' time holds for it. One that the world has
  /// gone on without, and that was told to begin later, is not until it is let in again.
  using OnHeartbeat = std::function<void(const AgentStates&, bool inside)>;
  Ending run(agents::Client& client, SimTime until, Pacer& pacer, const RunWatch& watch,
             const OnHeartbeat& on_heartbeat);

  [[nodiscard]] AgentWorld& world() { return world_; }
  /// At every heartbeat: what its radios say, for what they heard. Nothing heard = {}.
  using Air = std::function<std::optional<v2x::AirNews>(const v2x::AirUp&)>;
  void set_air(Air air) { air_ = std::move(air); }

 private:
  void describe(agents::Client& client);
  void publish(agents::Client& client);
  void place_others(agents::Client& client);
  bool step(agents::Client& client, SimSpan heartbeat, Ending& ending);

  AgentWorld world_;
  std::vector<std::uint32_t> numbers_;  // of own agents, at the client
  Air air_;
  AgentStates states_;
  struct Other {
    std::uint64_t arrival = 0;  // of the agent that `kind` was read of
    std::uint8_t kind = 0;
    std::uint64_t round = 0;  // in which it was placed last
  };
  std::map<std::string, Other> others_;  // that are in our world
  std::uint64_t round_ = 0;
  AgentState state_;  // its memory serves again
  SimSpan oldest_;
};

}  // namespace isochron
