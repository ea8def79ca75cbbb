#pragma once
// The medium as a node of a flow system: it hears from every client at each heartbeat what will be sent until the next,
// and tells each, as events at their exact times, what its stations receive. A client's message at t covers
// [t, t + heartbeat): that is the lookahead by which nobody ever waits for the air.

#include <string>
#include <vector>

#include "flow/user_node.hpp"
#include "scenario/scenario.hpp"
#include "v2x/comm/air.hpp"

namespace isochron {

class V2xNode final : public flow::UserNode {
 public:
  V2xNode(const Scenario& scenario, const std::vector<std::string>& clients);

 private:
  void hear(const v2x::AirUp& up);
  void tell(v2x::AirLog& log, SimTime t);
  flow::Event<v2x::AirNews>* to(const std::string& station);

  v2x::Air air_;
  SimSpan heartbeat_;
  std::vector<std::string> clients_;
  std::map<std::string, std::string> owners_;
  std::vector<flow::Event<v2x::AirNews>> news_;  // by client
};

}  // namespace isochron
