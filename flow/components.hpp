#pragma once
// Which nodes of a directed graph lie on a ring together: its strongly connected components (Tarjan), on a stack of its
// own, so that a chain of any length needs no deep recursion.
//
// Cost: O(nodes + arcs); allocates.

#include <cstdint>
#include <span>
#include <vector>

namespace isochron::flow {

struct Arc {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// The number of each node's component. Two nodes have the same exactly if each can be reached from the other.
std::vector<std::uint32_t> components(std::uint32_t nodes, std::span<const Arc> arcs);

/// A shortest ring through arcs whose ends lie in one component; as places in `arcs`, empty if there is none.
std::vector<std::uint32_t> some_ring(std::uint32_t nodes, std::span<const Arc> arcs);

}  // namespace isochron::flow
