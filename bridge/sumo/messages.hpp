#pragma once
// What a SUMO node tells of its traffic beside the states of the cars near ours.

#include <string>
#include <vector>

#include "core/message.hpp"

namespace isochron::sumo {

/// A vehicle of SUMO that has a body in the world.
struct TrafficCar {
  std::string vehicle;   // as SUMO calls it
  std::string type;      // its type in SUMO
  std::string shown_as;  // the agent, and the body, that it is at present
  double length = 0, width = 0;
  bool equipped = false;  // has a radio
};
ISOCHRON_MESSAGE(TrafficCar, "isochron_msgs/msg/TrafficCar", vehicle, type, shown_as, length, width, equipped)

struct Traffic {
  SimTime stamp;
  std::uint32_t running = 0;                                // vehicles on the road, without ours
  std::uint32_t departed = 0, arrived = 0, teleported = 0;  // since the start
  std::uint32_t left_out = 0;                               // near ours, and no body was left for them
  std::vector<TrafficCar> near;
};
ISOCHRON_MESSAGE(Traffic, "isochron_msgs/msg/Traffic", stamp, running, departed, arrived, teleported, left_out, near)

}  // namespace isochron::sumo
