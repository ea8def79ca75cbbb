#pragma once
// The drift of nodes whose progress is told one after the other, on one thread: exact at every message, and without a
// look at the clock, which would cost as much as the message itself. Nodes on several threads use the ledger instead
// (core/drift.hpp), which needs the times at which they progressed.
//
// Threads: progress() and leave(): one. max(): any. Cost: O(log nodes); allocates at set-up.

#include <atomic>
#include <vector>

#include "core/drift.hpp"
#include "flow/key_tree.hpp"
#include "rt/histogram.hpp"

namespace isochron {

class SerialDrift {
 public:
  explicit SerialDrift(std::uint32_t nodes)
      : keys_(flow::KeyTree::width(nodes)), winners_(flow::KeyTree::width(nodes)) {
    tree_.lay_out(flow::KeyTree::width(nodes), keys_.data(), winners_.data());
    for (std::uint32_t i = 0; i < nodes; ++i) set(i, SimTime::zero());
  }

  /// It no longer counts.
  void leave(std::uint32_t node) { tree_.set(node, flow::key_never); }

  void progress(std::uint32_t node, SimTime at) {
    set(node, at);
    most_ = std::max(most_, at);
    const SimTime least = flow::key_time(tree_.key(tree_.least()));
    const SimSpan delta = most_ - least;
    if (delta.ns() > max_.load(std::memory_order_relaxed)) max_.store(delta.ns(), std::memory_order_relaxed);
    series_.add(least, delta);
    if (++told_ % sampled == 0) histogram_.record(delta.ns());
  }

  [[nodiscard]] SimSpan max() const { return SimSpan::from_ns(max_.load(std::memory_order_relaxed)); }
  /// Of every so many-th message.
  [[nodiscard]] SimSpan p99() const { return SimSpan::from_ns(histogram_.percentile(99)); }
  [[nodiscard]] SimSpan p999() const { return SimSpan::from_ns(histogram_.percentile(99.9)); }
  [[nodiscard]] const std::vector<DriftSeries::Point>& series() const { return series_.points(); }

 private:
  static constexpr std::uint64_t sampled = 16;
  void set(std::uint32_t node, SimTime at) { tree_.set(node, flow::pack({at, Phase::emit, node})); }

  std::vector<flow::Key> keys_;
  std::vector<std::uint32_t> winners_;
  flow::KeyTree tree_;
  SimTime most_;
  std::atomic<std::int64_t> max_{0};
  std::uint64_t told_ = 0;
  rt::Histogram histogram_;
  DriftSeries series_{2048};
};

}  // namespace isochron
