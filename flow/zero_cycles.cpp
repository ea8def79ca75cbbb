// Finds the earliest stamp at which a ring of zero flows stands still (check.hpp).
//
// Only flows inside a strongly connected component of zero flows can be part of such a ring. There are few different
// sets of stamps among them ("rhythms"), whatever the number of flows. A case is a set of stamps and the flows that may
// speak at them; it begins with all stamps and all flows of a component and is split by a rhythm r that some stamps of
// the case have and others have not:
//
//     rings with a flow of rhythm r     stand still only at stamps of r:  the case's stamps ∩ r
//     rings without one                 the flows of r are left out
//
// Where the flows that surely speak at a case's stamps have a ring, it stands still at the first of these stamps. Where
// the flows that may speak have none, the case is closed. So no walk along flows is ever counted.
//
// An observation whose period varies speaks at its first stamp and may speak at any later one: a ring that needs such a
// stamp is possible, not certain.
//
// Cost: O(flows) for each case; a case is split as often as there are rhythms in its component, few in systems people
//       write. When `most_work` is spent the answer is Deadlock::Why::undecided, which is refused too.

#include <algorithm>
#include <map>

#include "flow/check.hpp"
#include "flow/components.hpp"
#include "flow/stamps.hpp"

namespace isochron::flow {
namespace {

constexpr std::uint64_t most_work = 20'000'000;  // flows looked at, in all cases

/// One zero flow to one of its sinks.
struct ZeroFlow {
  Arc arc;
  PortRef output;
  std::uint32_t rhythm = 0;
};
struct Rhythm {
  Stamps stamps;
  bool varies = false;
};

bool is_zero(const OutputInfo& output) {
  return output.kind == FlowKind::observation ||
         (output.kind == FlowKind::event && output.lookahead <= SimSpan::zero());
}

/// All zero flows of a graph, and their rhythms.
struct ZeroFlows {
  std::vector<ZeroFlow> flows;
  std::vector<Rhythm> rhythms;

  explicit ZeroFlows(const Graph& graph) {
    std::map<std::tuple<std::int64_t, std::int64_t, bool>, std::uint32_t> known;
    for (const auto& [output, input] : graph.connections) {
      const OutputInfo& info = graph.nodes[output.node].outputs[output.port];
      if (!is_zero(info)) continue;
      const bool event = info.kind == FlowKind::event;
      const bool varies = !event && info.varies;
      const std::int64_t first = event ? graph.start.ns() : info.first.ns();
      const std::int64_t step = event || varies ? 0 : info.period.ns();
      const auto [at, is_new] = known.emplace(std::tuple(first, step, varies), rhythms.size());
      if (is_new) rhythms.push_back({{first, step}, varies});
      flows.push_back({{output.node, input.node}, output, at->second});
    }
  }
};

class Search {
 public:
  Search(const Graph& graph, SimTime until) : zero_(graph), best_(until.ns()), number_(graph.nodes.size(), 0) {
    Case all{{graph.start.ns(), 0}, {}};
    for (std::uint32_t i = 0; i < zero_.flows.size(); ++i) all.flows.push_back(i);
    add_components(all);
  }

  std::optional<Deadlock> run() {
    while (!cases_.empty()) {
      const Case next = std::move(cases_.back());
      cases_.pop_back();
      if (next.stamps.first >= best_) continue;
      if (spent_ > most_work) return give_up(next);
      look(next);
    }
    return found_;
  }

 private:
  struct Case {
    Stamps stamps;
    std::vector<std::uint32_t> flows;  // places in zero_.flows
  };

  /// Nodes numbered from 0 in the order in which the flows name them.
  std::vector<Arc> arcs_of(const std::vector<std::uint32_t>& flows, std::uint32_t& nodes) {
    spent_ += flows.size() + 1;
    std::vector<Arc> arcs;
    nodes = 0;
    for (const std::uint32_t flow : flows) number_[zero_.flows[flow].arc.from] = number_[zero_.flows[flow].arc.to] = 0;
    const auto number = [&](std::uint32_t node) {
      if (number_[node] == 0) number_[node] = ++nodes;
      return number_[node] - 1;
    };
    for (const std::uint32_t flow : flows) {
      const Arc& arc = zero_.flows[flow].arc;
      const std::uint32_t from = number(arc.from);
      arcs.push_back({from, number(arc.to)});
    }
    return arcs;
  }

  /// Adds a case for each component of this one that may stand still before the best ring so far.
  void add_components(const Case& whole) {
    std::uint32_t nodes = 0;
    const std::vector<Arc> arcs = arcs_of(whole.flows, nodes);
    const std::vector<std::uint32_t> component = components(nodes, arcs);
    std::map<std::uint32_t, Case> parts;
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      if (component[arcs[i].from] != component[arcs[i].to]) continue;
      parts[component[arcs[i].from]].flows.push_back(whole.flows[i]);
    }
    for (auto& [number, part] : parts) cases_.push_back({whole.stamps, std::move(part.flows)});
  }

  void look(const Case& at) {
    std::map<std::uint32_t, std::optional<Stamps>> shared;  // of each rhythm with the case
    for (const std::uint32_t flow : at.flows) {
      const std::uint32_t rhythm = zero_.flows[flow].rhythm;
      if (!shared.contains(rhythm)) shared[rhythm] = shared_with(at, rhythm);
    }
    if (ring_of_all_that_surely_speak(at, shared)) return;
    std::optional<std::uint32_t> chosen;
    for (const auto& [rhythm, both] : shared) {
      if (!both || *both == at.stamps) continue;
      if (!chosen || both->first < shared[*chosen]->first) chosen = rhythm;
    }
    const auto speaks = [&](std::uint32_t flow) { return shared[zero_.flows[flow].rhythm].has_value(); };
    const auto is_chosen = [&](std::uint32_t flow) { return chosen && zero_.flows[flow].rhythm == *chosen; };
    Case without{at.stamps, {}}, with{chosen ? *shared[*chosen] : at.stamps, {}};
    for (const std::uint32_t flow : at.flows) {
      if (!speaks(flow)) continue;
      with.flows.push_back(flow);
      if (!is_chosen(flow)) without.flows.push_back(flow);
    }
    if (!chosen) return;  // those that speak at all surely do, and have no ring
    add_components(without);
    add_components(with);  // looked at first: it may find an early ring
  }

  std::optional<Stamps> shared_with(const Case& at, std::uint32_t rhythm) const {
    const auto both = common(at.stamps, zero_.rhythms[rhythm].stamps);
    if (!both || both->first >= best_) return std::nullopt;
    return both;
  }

  bool ring_of_all_that_surely_speak(const Case& at, const std::map<std::uint32_t, std::optional<Stamps>>& shared) {
    std::vector<std::uint32_t> sure;
    for (const std::uint32_t flow : at.flows) {
      if (shared.at(zero_.flows[flow].rhythm) == at.stamps) sure.push_back(flow);
    }
    std::uint32_t nodes = 0;
    const std::vector<Arc> arcs = arcs_of(sure, nodes);
    std::vector<std::uint32_t> ring = some_ring(nodes, arcs);
    if (ring.empty()) return false;
    best_ = at.stamps.first;
    found_ = Deadlock{SimTime::from_ns(static_cast<std::int64_t>(best_)), {}, Deadlock::Why::certain};
    for (const std::uint32_t place : ring) {
      const ZeroFlow& flow = zero_.flows[sure[place]];
      found_->flows.push_back(flow.output);
      const Rhythm& rhythm = zero_.rhythms[flow.rhythm];
      if (rhythm.varies && rhythm.stamps.first != best_) found_->why = Deadlock::Why::varies;
    }
    return true;
  }

  std::optional<Deadlock> give_up(const Case& at) {
    std::uint32_t nodes = 0;
    const std::vector<Arc> arcs = arcs_of(at.flows, nodes);
    Deadlock possible{SimTime::from_ns(static_cast<std::int64_t>(at.stamps.first)), {}, Deadlock::Why::undecided};
    for (const std::uint32_t place : some_ring(nodes, arcs))
      possible.flows.push_back(zero_.flows[at.flows[place]].output);
    return found_ ? found_ : possible;
  }

  ZeroFlows zero_;
  WideTime best_;
  std::uint64_t spent_ = 0;
  std::vector<std::uint32_t> number_;
  std::vector<Case> cases_;
  std::optional<Deadlock> found_;
};

}  // namespace

std::optional<Deadlock> find_deadlock(const Graph& graph, SimTime until) { return Search(graph, until).run(); }

std::vector<PortRef> observations_in_rings(const Graph& graph) {
  const ZeroFlows zero(graph);
  std::vector<Arc> arcs;
  for (const ZeroFlow& flow : zero.flows) arcs.push_back(flow.arc);
  const std::vector<std::uint32_t> component = components(static_cast<std::uint32_t>(graph.nodes.size()), arcs);
  std::vector<PortRef> found;
  for (const auto& [arc, output, rhythm] : zero.flows) {
    if (component[arc.from] != component[arc.to]) continue;
    if (graph.nodes[output.node].outputs[output.port].kind == FlowKind::observation) found.push_back(output);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace isochron::flow
