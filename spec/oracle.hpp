#pragma once
// What a system of SpecNodes (spec_node.hpp) must send, by the rules of docs/node_protocol.md taken literally: buffers
// without end, keys and promises worked out anew before every step, no channel, no tree, nothing of flow/'s engine. It
// is slow and short, and there to be disagreed with.
//
// Threads: none; no state.

#include <cstdint>
#include <vector>

#include "core/time.hpp"
#include "flow/graph.hpp"

namespace isochron::spec {

struct Foretold {
  std::vector<std::uint64_t> flows;  // hash of all messages of each flow, as SpecNode::add makes it
  std::uint64_t messages = 0;
  bool complete = false;  // false: the system stands still before `until`
};

Foretold foretell(const flow::Graph& graph, SimTime until);

}  // namespace isochron::spec
