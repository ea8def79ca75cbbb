#pragma once
// When a node that creeps asks how far nothing can happen (floor.hpp): soon after it last paid, ever more seldom while
// it does not.
//
// Threads: owner thread.

#include <algorithm>
#include <cstdint>

namespace isochron::flow {

class CreepPace {
 public:
  /// `creeps` is Node::creeps().
  bool due(std::uint64_t creeps) {
    if (creeps < seen_) next_ = soon;  // it has stepped meanwhile
    seen_ = creeps;
    return creeps >= next_;
  }
  void paid(bool did) {
    wait_ = did ? soon : std::min(2 * wait_, seldom);
    next_ = seen_ + wait_;
  }
  /// The question may have been lost, or the answer.
  void ask_again() { paid(true); }

 private:
  static constexpr std::uint64_t soon = 4, seldom = 64;
  std::uint64_t seen_ = 0, next_ = soon, wait_ = soon;
};

}  // namespace isochron::flow
