#pragma once
// What simulators of one world tell each other of their agents: clients of a shared world, and traffic simulators that
// are nodes. Whoever hears it places a body where the agent is, or obeys the signals.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/message.hpp"

namespace isochron {

enum class AgentKind { car, pedestrian, lights, scenery, passive };
enum class Lamp : std::uint8_t { dark, red, red_yellow, green, yellow };

/// An agent's state as it travels between clients.
struct AgentState {
  std::string name;
  std::uint8_t kind = 0;  // AgentKind
  std::array<double, 3> position{};
  std::array<double, 4> orientation{1, 0, 0, 0};
  std::array<double, 3> linear{};
  std::array<double, 3> angular{};
  std::vector<std::string> heads;  // lights only
  std::vector<std::uint8_t> lamps;
};
ISOCHRON_MESSAGE(AgentState, "isochron_msgs/msg/AgentState", name, kind, position, orientation, linear, angular, heads,
                 lamps)

/// All agents of one client at one time.
struct AgentStates {
  SimTime stamp;
  std::vector<AgentState> agents;
};
ISOCHRON_MESSAGE(AgentStates, "isochron_msgs/msg/AgentStates", stamp, agents)

/// What signals show: heads as LIGHTS/HEAD, a Lamp for each.
struct SignalStates {
  SimTime stamp;
  std::vector<std::string> heads;
  std::vector<std::uint8_t> lamps;
};
ISOCHRON_MESSAGE(SignalStates, "isochron_msgs/msg/SignalStates", stamp, heads, lamps)

}  // namespace isochron
