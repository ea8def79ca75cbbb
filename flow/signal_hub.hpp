#pragma once
// Nodes in threads or processes of their own wake each other through their NodeStatus. Several may share a process:
// then the first of them, the leader, is woken for all. Inside flow/ only.
//
// Waking a sleeper on another core costs some 50 µs here, so a node that has to wait first looks for news itself for a
// short while (no flag is raised, nobody has to wake it), then gives its core to others between looks, and only then
// asks to be woken and sleeps.
//
// Threads: one SignalHub for each node's loop; statuses are shared.

#include <functional>
#include <random>
#include <thread>

#include "flow/futex.hpp"
#include "flow/home_core.hpp"
#include "flow/stall.hpp"
#include "flow/statement_board.hpp"

namespace isochron::flow {

/// What all loops of one run share; may lie in shared memory.
struct RunControl {
  std::atomic<std::uint32_t> end{0};       // everybody: stop now
  std::atomic<std::uint32_t> finished{0};  // how many loops have ended
};

struct Patience {
  std::uint32_t looks = 200;   // with a pause between them
  std::uint32_t yields = 100;  // looks with a yield between them
};

class SignalHub {
 public:
  static constexpr bool concurrent = true;
  /// `leaders`: whom to wake for each node; empty = each for itself.
  SignalHub(std::span<NodeStatus> statuses, RunControl& control, StatementBoard& board, std::uint32_t self,
            Clock& clock, std::uint64_t disturb = 0, std::span<const std::uint32_t> leaders = {})
      : statuses_(statuses),
        leaders_(leaders),
        control_(control),
        creeping_(board),
        self_(self),
        clock_(clock),
        disturb_(disturb),
        random_(static_cast<std::uint32_t>(disturb + self)) {}

  void wake(std::uint32_t node) {
    const std::uint32_t leader = leaders_.empty() ? node : leaders_[node];
    if (leader != self_) wake(statuses_[leader]);  // one's own group looks at everybody in turn
  }
  static void wake(NodeStatus& status) {
    status.signal.fetch_add(1);
    if (status.sleeping.load() != 0) futex_wake(status.signal);
  }
  [[nodiscard]] bool sleepy() const { return sleepy_; }

  /// Runs nodes to their end, or until the run is ended.
  void loop(std::span<Node* const> nodes, const Patience& patience);
  /// The same for a process that may have a home; how patient it is may change with that.
  void loop(std::span<Node* const> nodes, const std::function<Patience()>& patience, HomeCore& home);

  /// Ends the run for everybody.
  static void end_all(std::span<NodeStatus> statuses, RunControl& control) {
    control.end.store(1);
    for (NodeStatus& status : statuses) wake(status);
  }

 private:
  bool ended() const { return control_.end.load(std::memory_order_relaxed) != 0; }
  enum class Round { moved, waits, finished };
  Round round(std::span<Node* const> nodes, std::uint32_t budget);
  static bool news(std::span<Node* const> nodes);
  bool watch(std::span<Node* const> nodes, const Patience& patience);
  bool yield(std::span<Node* const> nodes, std::uint32_t yields);
  void sleep(std::span<Node* const> nodes);
  void disturb();

  std::span<NodeStatus> statuses_;
  std::span<const std::uint32_t> leaders_;
  RunControl& control_;
  CreepEnder creeping_;
  std::uint32_t self_;
  Clock& clock_;
  std::uint64_t disturb_;
  std::minstd_rand random_;
  bool sleepy_ = false;
  std::uint32_t looks_ = 256;
  std::uint32_t crowded_ = 0;   // waits left in which not to yield
  std::uint32_t retreat_ = 64;  // how many there will be next time
};

}  // namespace isochron::flow
