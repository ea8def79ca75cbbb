#pragma once
// A whole system of nodes as text (JSON): names, ports, what flows carry, connections. With it a host runs one node
// without making the others, so that it needs neither their libraries nor their programs.
//
// Promises: read_graph(graph_text(g)) describes the same system: the same hash, and types that meet those of nodes.
// Fails:    read_graph() throws InputError when the text is no system.

#include <string>

#include "flow/graph.hpp"

namespace isochron {

std::string graph_text(const flow::Graph& graph);
/// Types are made as they are named; they stay until the program ends.
flow::Graph read_graph(const std::string& text);

}  // namespace isochron
