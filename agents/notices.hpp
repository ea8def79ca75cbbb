#pragma once
// The few things that must not be lost although datagrams are: descriptions, shut-downs, leaves. They are numbered from
// one, said again until the other side acknowledges them, and taken in order, each once.
//
//     Outbox  [7 8 9]  --7 8 9-->  InOrder: 7 taken, 8 lost, 9 not yet     acknowledges 7
//             [8 9]    --8 9---->           8 taken, 9 taken               acknowledges 9
//
// Threads: owner thread. Cost: a notice is kept until it is acknowledged.

#include <cstdint>
#include <deque>

#include "core/time.hpp"

namespace isochron::agents {

template <class Notice>
class Outbox {
 public:
  struct Kept {
    Notice notice;
    WallTime sent = WallTime::before_all();  // last time
  };

  /// The notice to fill in; it has its number.
  Notice& add() {
    kept_.emplace_back();
    kept_.back().notice.set_number(++last_);
    return kept_.back().notice;
  }
  void acknowledged(std::uint64_t through) {
    while (!kept_.empty() && kept_.front().notice.number() <= through) kept_.pop_front();
  }
  /// In order; those at the front first.
  [[nodiscard]] std::deque<Kept>& kept() { return kept_; }
  [[nodiscard]] bool empty() const { return kept_.empty(); }
  /// Whether one was not said within `span`.
  [[nodiscard]] bool due(WallTime now, WallSpan span) const {
    return !kept_.empty() && (kept_.back().sent == WallTime::before_all() || now - kept_.front().sent >= span);
  }

 private:
  std::uint64_t last_ = 0;
  std::deque<Kept> kept_;
};

class InOrder {
 public:
  /// Whether this one is the next.
  bool take(std::uint64_t number) {
    if (number != through_ + 1) return false;
    ++through_;
    return true;
  }
  [[nodiscard]] std::uint64_t through() const { return through_; }

 private:
  std::uint64_t through_ = 0;
};

}  // namespace isochron::agents
