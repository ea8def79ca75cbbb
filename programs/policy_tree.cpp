#include "programs/policy_tree.hpp"

#include <algorithm>

#include "core/ensure.hpp"

namespace isochron::programs {

using Rule = PolicyGroup::Rule;

namespace {
constexpr std::int64_t finer = 64;  // what is used is kept in parts of a nanosecond, so that shares divide it
}

PolicyTree::PolicyTree(const PolicyGroup& root, std::size_t members, SimSpan slice)
    : slice_(slice), leaf_of_(members, none) {
  add(root, none);
  ENSURE(std::find(leaf_of_.begin(), leaf_of_.end(), none) == leaf_of_.end(), "a program is missing in its policy");
}

std::uint32_t PolicyTree::add(const PolicyGroup& group, std::uint32_t parent) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  nodes_[index].rule = group.rule;
  nodes_[index].parent = parent;
  nodes_[index].share = std::max(group.share, 1u);
  if (group.rule == Rule::program) {
    leaf_of_.at(group.member) = index;
    return index;
  }
  for (const PolicyGroup& member : group.members) {
    const std::uint32_t child = add(member, index);
    nodes_[index].children.push_back(child);
  }
  return index;
}

void PolicyTree::charged(std::uint32_t member, SimSpan span) {
  for (std::uint32_t at = leaf_of_[member]; at != none; at = nodes_[at].parent) {
    nodes_[at].used += span.ns() * finer / nodes_[at].share;
  }
}

void PolicyTree::mark(std::span<const Candidate> ready) {
  for (Node& node : nodes_) {
    node.was_ready = node.ready;
    node.ready = false;
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    std::uint32_t at = leaf_of_[ready[i].member];
    nodes_[at].candidate = i;
    for (; at != none && !nodes_[at].ready; at = nodes_[at].parent) nodes_[at].ready = true;
  }
}

std::uint32_t PolicyTree::choose(Node& node, bool& contested) {
  std::uint32_t best = none;
  std::size_t wanting = 0;
  for (const std::uint32_t c : node.children) {
    Node& child = nodes_[c];
    if (!child.ready) continue;
    ++wanting;
    if (node.rule == Rule::fair && !child.was_ready) child.used = std::max(child.used, node.clock);
    if (best == none || (node.rule != Rule::fixed && child.used < nodes_[best].used)) best = c;
  }
  if (node.rule == Rule::fixed) return best;
  contested = contested || wanting > 1;
  node.clock = std::max(node.clock, nodes_[best].used);
  return best;
}

Choice PolicyTree::pick(std::span<const Candidate> ready, SimTime /*now*/) {
  mark(ready);
  bool contested = false;
  std::uint32_t at = 0;
  while (nodes_[at].rule != Rule::program) at = choose(nodes_[at], contested);
  return {nodes_[at].candidate, contested ? slice_ : SimSpan::max()};
}

}  // namespace isochron::programs
