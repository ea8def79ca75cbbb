#pragma once
// Where the nodes of a run are: on which machine each is started, and where it listens over TCP. Nodes, the world,
// robots and `ros` each say so in their own section; the parts of a robot share its machine and count its port up.
//
// Fails: node_places() throws InputError with every address that cannot be.

#include <map>
#include <string>
#include <vector>

#include "core/network.hpp"
#include "flow/graph.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

struct NodePlace {
  std::string name;
  std::string host;   // "" = this one
  Address address;    // 127.0.0.1:7500 and up where nothing is said
  bool said = false;  // with `at`
};

/// In the graph's order. Beyond this machine nodes may listen only where they share a key. `given` are addresses, by
/// the names of nodes, that whoever launched them has chosen.
std::vector<NodePlace> node_places(const Scenario& scenario, const flow::Graph& graph, bool has_key,
                                   const std::map<std::string, std::string>& given = {});

}  // namespace isochron
