#pragma once
// Where nodes that share memory state themselves (floor.hpp), for others to read at any time: in threads, in a pool, in
// processes. Nobody waits for anybody. Nothing is stated before somebody creeps; from then on everybody states itself
// after each turn that changed something.
//
//     turn of a node ──► state() ──► board ◄── floor_of() ◄── a node that creeps
//
// Why it is right without locks: a place on the board has one writer, and a count that is odd while it writes. A reader
// that finds the count odd, or another after reading, has read nothing.
//
// Threads: a StatementBoard any; a CreepEnder one. Cost: an idle board costs a load for each turn.

#include <atomic>

#include "flow/floor.hpp"

namespace isochron::flow {

class StatementBoard {
 public:
  /// In the assembly's arena, which may be shared between processes.
  explicit StatementBoard(Assembly& assembly);

  [[nodiscard]] bool wanted() const { return wanted_->load(std::memory_order_relaxed) != 0; }
  /// From now on; false: it was so already.
  bool want() { return wanted_->exchange(1) == 0; }
  /// By whoever runs the node.
  void post(const Statement& statement);
  /// False: it has not stated itself, or does so right now.
  bool read(std::uint32_t node, Statement& statement) const;

  [[nodiscard]] const Assembly& assembly() const { return assembly_; }
  [[nodiscard]] const Links& links() const { return links_; }

 private:
  struct Place {
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::int64_t> first{0};
  };
  Assembly& assembly_;
  Links links_;
  std::atomic<std::uint32_t>* wanted_;
  Place* places_;                      // by node
  std::atomic<std::uint64_t>* known_;  // by link; the sink's
  std::atomic<std::uint64_t>* sent_;   // by link; the source's
};

/// What whoever runs nodes does after their turns, so that they do not creep.
class CreepEnder {
 public:
  explicit CreepEnder(StatementBoard& board) : board_(board) {}

  /// After a turn of the node. True: it was told the floor and may go on at once. `wake(n)` lets node n have a turn.
  template <class Wake>
  bool after_turn(Node& node, Wake&& wake) {
    if (board_.wanted()) state(node.index());
    if (!node.creep_pace().due(node.creeps())) return false;
    if (board_.want()) {
      state(node.index());
      for (std::uint32_t n = 0; n < board_.links().nodes(); ++n) wake(n);
    }
    if (tell_floor(node)) return true;
    for (const std::uint32_t n : outdated_) wake(n);
    return false;
  }
  /// Also the last word of a node whose turns are over.
  void state(std::uint32_t node);

 private:
  bool tell_floor(Node& node);

  StatementBoard& board_;
  std::optional<Gathered> gathered_;  // once somebody creeps
  Statement statement_, posted_;
  std::vector<std::uint32_t> outdated_;
};

}  // namespace isochron::flow
