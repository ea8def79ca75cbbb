#pragma once
// A node that is a SUMO simulation. SUMO is a library that holds one simulation in a process, so it always runs in the
// program `isochron_sumo`, a process for this node alone (flow/program_node.hpp). That program is built where SUMO is
// installed; everything else does without.
//
//     states    AgentStates    its vehicles near ours, by the names of the slots, and its signals
//     signals   SignalStates   what its signals show
//     traffic   Traffic        how many there are, and who is shown as whom
//
// Outputs are predictive, one message each step. The step from t to t + step is made with what was said of ours up to
// t, led straight on to t + step, so that SUMO's cars meet ours where they are by then.
//
// Fails: making it throws InputError where the program cannot be started or SUMO refuses its files.

#include <memory>
#include <string>

#include "bridge/sumo/spec.hpp"
#include "flow/user_node.hpp"

namespace isochron::sumo {

inline constexpr const char* node_program = "isochron_sumo";
inline constexpr const char* states_flow = "states";
inline constexpr const char* signals_flow = "signals";
inline constexpr const char* traffic_flow = "traffic";

std::unique_ptr<flow::UserNode> make_node(const NodeSpec& spec, const std::string& program);

}  // namespace isochron::sumo
