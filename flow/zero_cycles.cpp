// Finds the earliest stamp at which a ring of zero flows stands still (check.hpp).
//
// The stamps of an observation flow are a progression first + k·period. Those common to several are a progression too,
// or none. A search walks along zero flows and carries the progression of the stamps common to the walk; where none is
// left, or it begins no earlier than the best ring so far, the walk ends. A node is the least of its ring, so that each
// ring is met once.
//
// Cost: few steps for systems people write. A search that takes more than `max_walks` steps gives up on more rings; the
//       stall report (stall.hpp) still names such a deadlock when it happens.

#include <algorithm>
#include <numeric>

#include "flow/check.hpp"

namespace isochron::flow {
namespace {

constexpr std::uint64_t max_walks = 2'000'000;
using Wide = __int128;

/// first, first + step, …; step 0 = every stamp from `first` on (no observation flow so far).
struct Stamps {
  Wide first = 0;
  Wide step = 0;
};

Wide inverse(Wide a, Wide modulus) {
  Wide r0 = modulus, r1 = a % modulus, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const Wide q = r0 / r1;
    std::tie(r0, r1) = std::pair(r1, r0 - q * r1);
    std::tie(t0, t1) = std::pair(t1, t0 - q * t1);
  }
  return t0 < 0 ? t0 + modulus : t0;
}

Wide floor_mod(Wide a, Wide m) { return (a % m + m) % m; }

Wide gcd(Wide a, Wide b) {
  while (b != 0) std::tie(a, b) = std::pair(b, a % b);
  return a;
}

/// The stamps common to both.
std::optional<Stamps> common(const Stamps& a, const Stamps& b) {
  if (a.step == 0) return Stamps{std::max(a.first, b.first), b.step};
  const Wide divisor = gcd(a.step, b.step);
  if (floor_mod(b.first - a.first, divisor) != 0) return std::nullopt;
  const Wide modulus = b.step / divisor;
  const Wide steps =
      modulus == 1 ? 0
                   : floor_mod((b.first - a.first) / divisor, modulus) * inverse(a.step / divisor, modulus) % modulus;
  const Wide period = a.step / divisor * b.step;
  Wide first = a.first + steps * a.step;
  if (first < b.first) first += (b.first - first + period - 1) / period * period;
  return Stamps{first, period};
}

struct Edge {
  std::uint32_t to = 0;
  PortRef flow;
  Stamps stamps;  // step 0 for events
};

class Search {
 public:
  Search(const Graph& graph, SimTime until) : start_(graph.start.ns()), best_(until.ns()), edges_(graph.nodes.size()) {
    on_walk_.resize(graph.nodes.size(), false);
    for (const Connection& connection : graph.connections) {
      const OutputInfo& output = graph.nodes[connection.output.node].outputs[connection.output.port];
      if (output.kind == FlowKind::predictive) continue;
      if (output.kind == FlowKind::event && output.lookahead > SimSpan::zero()) continue;
      Stamps stamps{start_, 0};
      if (output.kind == FlowKind::observation) stamps = {output.first.ns(), output.period.ns()};
      edges_[connection.output.node].push_back({connection.input.node, connection.output, stamps});
    }
  }

  std::optional<Deadlock> run() {
    for (origin_ = 0; origin_ < edges_.size(); ++origin_) walk(origin_, {start_, 0});
    if (found_.empty()) return std::nullopt;
    return Deadlock{SimTime::from_ns(static_cast<std::int64_t>(best_)), found_};
  }

 private:
  void walk(std::uint32_t node, const Stamps& so_far) {
    if (++walks_ > max_walks) return;
    on_walk_[node] = true;
    for (const Edge& edge : edges_[node]) {
      if (edge.to < origin_) continue;  // that ring was met from its least node
      Stamps stamps = so_far;
      if (edge.stamps.step != 0) {
        const auto both = common(so_far, edge.stamps);
        if (!both || both->step > most_) continue;
        stamps = *both;
      }
      if (stamps.first >= best_) continue;
      path_.push_back(edge.flow);
      if (edge.to == origin_) {
        best_ = stamps.first;
        found_ = path_;
      } else if (!on_walk_[edge.to]) {
        walk(edge.to, stamps);
      }
      path_.pop_back();
    }
    on_walk_[node] = false;
  }

  static constexpr Wide most_ = Wide{1} << 62;  // a step beyond 146 years: no run meets it twice
  Wide start_;
  Wide best_;
  std::uint32_t origin_ = 0;
  std::uint64_t walks_ = 0;
  std::vector<std::vector<Edge>> edges_;
  std::vector<bool> on_walk_;
  std::vector<PortRef> path_, found_;
};

}  // namespace

std::optional<Deadlock> find_deadlock(const Graph& graph, SimTime until) { return Search(graph, until).run(); }

}  // namespace isochron::flow
