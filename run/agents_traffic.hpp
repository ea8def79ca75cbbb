#pragma once
// SUMO beside the agents of a shared world. Each body that shows SUMO's vehicles becomes one more agent, of a client
// that is the SUMO node; so everybody places it, drivers keep their distance, and its radio is a station of the air.

#include <map>
#include <string>
#include <vector>

#include "bridge/sumo/messages.hpp"
#include "flow/user_node.hpp"
#include "run/sumo_nodes.hpp"
#include "traffic/v2x_unit.hpp"

namespace isochron {

/// The SUMO nodes of a scenario with agents, by name; throws InputError where other nodes are among them.
std::map<std::string, SumoTies> traffic_of_agents(const Scenario& scenario, const std::vector<std::string>& clients);
/// The scenario with an agent for each slot.
Scenario with_traffic(Scenario scenario, const std::map<std::string, SumoTies>& traffic);

/// The radios of SUMO's vehicles that have one, as far as they are near ours.
class TrafficRadio final : public flow::UserNode {
 public:
  /// `scenario` is that of with_traffic().
  TrafficRadio(const Scenario& scenario, const std::string& node, const std::vector<std::string>& slots);

 private:
  void hear_states(const AgentStates& states) { states_ = states; }
  void hear_traffic(const sumo::Traffic& traffic);
  void hear_radio(const v2x::AirNews& news) { unit_.hear(news); }
  void tell(v2x::AirUp& up, SimTime now);
  [[nodiscard]] world::Motion motion_of(const std::string& name, SimTime now) const;

  Scenario scenario_;
  V2xUnit unit_;
  std::vector<std::string> slots_;
  std::vector<std::string> riders_;  // which vehicle has each slot
  std::uint32_t renewed_ = 0;
  AgentStates states_;
};

}  // namespace isochron
