#pragma once
// All that the program isochron_sumo needs to run SUMO as a node, as plain data; it travels as JSON.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace isochron::sumo {

struct NodeSpec {
  std::string name;    // of the node
  std::string config;  // a .sumocfg, or "" and then:
  std::string network;
  std::vector<std::string> routes;
  std::vector<std::string> arguments;  // further options of SUMO
  std::int64_t step_ns = 100'000'000;
  std::uint64_t seed = 1;
  std::array<double, 2> origin{};  // where the world's origin is in SUMO's coordinates

  std::vector<std::string> listens;  // inputs with states of ours, AgentStates each
  struct Own {                       // who of those is a vehicle in SUMO
    std::string name;
    double length = 4.7, width = 1.8;
  };
  std::vector<Own> ours;
  bool signals = false;  // has an input `signals`

  std::vector<std::string> slots;  // names under which SUMO's vehicles near ours are told
  double near = 100, leave = 120;  // m from the nearest of ours
  double height = 0;               // of the bodies' frames over the road, m
  double equipped = 0;             // share of vehicles with a radio
};

std::string to_json(const NodeSpec& spec);
/// Fails: InputError.
NodeSpec spec_of_json(const std::string& text);

}  // namespace isochron::sumo
