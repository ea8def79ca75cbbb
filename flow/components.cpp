#include "flow/components.hpp"

#include <algorithm>

namespace isochron::flow {
namespace {

constexpr std::uint32_t none = UINT32_MAX;

/// The arcs that leave each node, as places in the list.
class Leaving {
 public:
  Leaving(std::uint32_t nodes, std::span<const Arc> arcs) : first_(nodes + 1, 0), places_(arcs.size()) {
    for (const Arc& arc : arcs) ++first_[arc.from + 1];
    for (std::uint32_t n = 0; n < nodes; ++n) first_[n + 1] += first_[n];
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t i = 0; i < arcs.size(); ++i) places_[next[arcs[i].from]++] = i;
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t node) const {
    return std::span(places_).subspan(first_[node], first_[node + 1] - first_[node]);
  }

 private:
  std::vector<std::uint32_t> first_, places_;
};

class Tarjan {
 public:
  Tarjan(std::uint32_t nodes, std::span<const Arc> arcs)
      : arcs_(arcs), leaving_(nodes, arcs), order_(nodes, none), low_(nodes, 0), component_(nodes, none) {}

  std::vector<std::uint32_t> run() {
    for (std::uint32_t n = 0; n < order_.size(); ++n) {
      if (order_[n] == none) visit(n);
    }
    return std::move(component_);
  }

 private:
  struct Visit {
    std::uint32_t node;
    std::uint32_t next;  // which of its arcs is looked at next
  };

  void visit(std::uint32_t root) {
    enter(root);
    while (!visits_.empty()) {
      Visit& at = visits_.back();
      const auto leaving = leaving_.of(at.node);
      if (at.next == leaving.size()) {
        leave(at.node);
        continue;
      }
      const std::uint32_t to = arcs_[leaving[at.next++]].to;
      if (order_[to] == none) {
        enter(to);
      } else if (component_[to] == none) {
        low_[at.node] = std::min(low_[at.node], order_[to]);
      }
    }
  }
  void enter(std::uint32_t node) {
    order_[node] = low_[node] = count_++;
    open_.push_back(node);
    visits_.push_back({node, 0});
  }
  void leave(std::uint32_t node) {
    visits_.pop_back();
    if (!visits_.empty()) low_[visits_.back().node] = std::min(low_[visits_.back().node], low_[node]);
    if (low_[node] != order_[node]) return;
    for (std::uint32_t member = none; member != node; open_.pop_back()) {
      member = open_.back();
      component_[member] = found_;
    }
    ++found_;
  }

  std::span<const Arc> arcs_;
  Leaving leaving_;
  std::uint32_t count_ = 0, found_ = 0;
  std::vector<std::uint32_t> order_, low_, component_, open_;
  std::vector<Visit> visits_;
};

}  // namespace

std::vector<std::uint32_t> components(std::uint32_t nodes, std::span<const Arc> arcs) {
  return Tarjan(nodes, arcs).run();
}

std::vector<std::uint32_t> some_ring(std::uint32_t nodes, std::span<const Arc> arcs) {
  const std::vector<std::uint32_t> component = components(nodes, arcs);
  const auto on_a_ring =
      std::find_if(arcs.begin(), arcs.end(), [&](const Arc& arc) { return component[arc.from] == component[arc.to]; });
  if (on_a_ring == arcs.end()) return {};
  // Breadth first from the end of that arc back to its beginning.
  const Leaving leaving(nodes, arcs);
  std::vector<std::uint32_t> came_by(nodes, none), queue{on_a_ring->to};
  for (std::size_t next = 0; next < queue.size() && came_by[on_a_ring->from] == none; ++next) {
    for (const std::uint32_t place : leaving.of(queue[next])) {
      const std::uint32_t to = arcs[place].to;
      if (to == on_a_ring->to || came_by[to] != none) continue;
      came_by[to] = place;
      queue.push_back(to);
    }
  }
  std::vector<std::uint32_t> ring{static_cast<std::uint32_t>(on_a_ring - arcs.begin())};
  for (std::uint32_t at = on_a_ring->from; at != on_a_ring->to; at = arcs[came_by[at]].from)
    ring.push_back(came_by[at]);
  std::reverse(ring.begin() + 1, ring.end());
  return ring;
}

}  // namespace isochron::flow
