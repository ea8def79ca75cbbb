#pragma once
// All nodes on one thread: whoever has news runs as far as it can get before the next one is looked at. The queue of
// those with news is a ring of node numbers; nothing is allocated and nothing is locked.
//
// A SerialRun can be taken on in pieces: until(1s), then until(2s), gives what until(2s) gives. It is how a system is
// stepped by its caller, a simulated world for instance.
//
// Nodes that have nothing to say but promises, by turns and each a lookahead later than the other, creep: 10 µs of
// lookahead make a hundred thousand turns of a silent second. Here everybody is in sight, so that after some turns
// without a step the first time at which anything can happen is looked up and promised for all at once.
//
// Promises: when a node has no news left and not all are done, the system is deadlocked; until() says so at once.

#include <chrono>
#include <vector>

#include "flow/assembly.hpp"
#include "flow/executor.hpp"

namespace isochron::flow {

class ReadyQueue {
 public:
  static constexpr bool concurrent = false;
  [[nodiscard]] static bool sleepy() { return true; }
  explicit ReadyQueue(std::size_t nodes) : ring_(std::bit_ceil(nodes + 1)), queued_(nodes, 0) {}

  void wake(std::uint32_t node) {
    if (queued_[node] != 0) return;
    queued_[node] = 1;
    ring_[tail_++ & (ring_.size() - 1)] = node;
  }
  [[nodiscard]] bool empty() const { return head_ == tail_; }
  std::uint32_t pop() {
    const std::uint32_t node = ring_[head_++ & (ring_.size() - 1)];
    queued_[node] = 0;
    return node;
  }

 private:
  std::vector<std::uint32_t> ring_;
  std::vector<std::uint8_t> queued_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

class SerialRun {
 public:
  SerialRun(Assembly& assembly, const Options& options);

  /// Runs to t, t excluded.
  [[nodiscard]] RunReport until(SimTime t);
  /// Calls `loop` under a watchdog: if a node does not come back from its own code, that is told.
  RunReport watched(const std::function<void()>& loop);
  /// Calls every node's finish().
  void finish();

  /// Runs for a while: `visits` nodes' turns. Returns false when there is nothing left to do.
  bool some(std::uint32_t visits);
  /// The nodes that were woken and have not run.
  ReadyQueue& ready() { return ready_; }
  void set_stop(SimTime t);
  [[nodiscard]] RunReport report() const;
  [[nodiscard]] bool failed() const { return !failures_.empty(); }
  [[nodiscard]] std::span<const NodeStatus> statuses() const { return statuses_; }

 private:
  void visit(std::uint32_t node);
  void stop_creeping();
  void fail(std::uint32_t node, const char* what);
  [[nodiscard]] WaitForGraph who_has_the_turn(WallSpan since) const;

  Assembly& assembly_;
  const Options& options_;
  ReadyQueue ready_;
  bool started_ = false;
  std::vector<NodeFailure> failures_;
  std::vector<NodeStatus> statuses_;  // filled for reports only
  std::vector<NodeStatus> beat_;      // one: turns taken, and whose turn it is; for the watchdog
  std::uint64_t turns_ = 0;
  std::uint64_t idle_ = 0;  // turns in a row without a step
};

}  // namespace isochron::flow
