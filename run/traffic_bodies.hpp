#pragma once
// Bodies of a world that show the vehicles of a traffic simulator, and the world's own vehicles as it is told of them.
//
// A traffic simulator speaks ten times a second, a world steps far more often: in between, its vehicles go straight on.
// A body that shows nobody stands far away.
//
// Promises: what it does depends on what was heard when, only.
// Threads:  owner thread.

#include <map>
#include <string>
#include <vector>

#include "bridge/sumo/spec.hpp"
#include "msg/agent_messages.hpp"
#include "scenario/scenario.hpp"
#include "world/world.hpp"

namespace isochron {

/// The bodies that `bodies` of a section means, in the model's order. Throws InputError.
std::vector<std::string> traffic_bodies(const SumoSection& section, const world::Engine& engine);
/// Bodies that show somebody else's vehicles, of all nodes: drivers of ours look out for them.
std::vector<std::uint32_t> bodies_of_traffic(const Scenario& scenario, const world::Engine& engine);

class TrafficBodies {
 public:
  /// `node` is one with `sumo`. Throws InputError.
  TrafficBodies(const Scenario& scenario, const std::string& node, world::World& world);

  [[nodiscard]] const std::string& node() const { return node_; }
  [[nodiscard]] const std::vector<std::string>& bodies() const { return names_; }

  void hear(const AgentStates& states) { heard_ = states; }
  /// Before a step: everybody where they are at its end.
  void place(SimTime end);
  /// Adds where its own are now.
  void add_ours(AgentStates& states) const;
  [[nodiscard]] const std::vector<sumo::NodeSpec::Own>& ours() const { return ours_; }

 private:
  std::string node_;
  world::World& world_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t, std::less<>> slots_;  // by name of the body
  std::vector<std::uint32_t> bodies_;                      // by slot
  std::vector<bool> shown_;
  std::vector<sumo::NodeSpec::Own> ours_;
  std::vector<std::uint32_t> our_bodies_;
  AgentStates heard_;
};

}  // namespace isochron
