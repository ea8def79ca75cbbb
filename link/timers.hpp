#pragma once
// The timers of a reactor: a heap of deadlines over a table of closures. Cancelling frees the closure at once and
// leaves its deadline in the heap, to be skipped when it comes up; when most are such, the heap is swept.
//
// Threads: owner thread. Cost: O(log n) to add and to fire, O(1) to cancel; allocates only to grow.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/time.hpp"

namespace isochron::link {

class Timers {
 public:
  using Id = std::uint64_t;

  Id add(WallTime at, std::function<void()> what) {
    const std::uint32_t slot = take_slot();
    slots_[slot].what = std::move(what);
    heap_.push_back({at, slot, slots_[slot].generation});
    std::push_heap(heap_.begin(), heap_.end(), later);
    return (std::uint64_t{slots_[slot].generation} << 32) | slot;
  }

  void cancel(Id id) {
    const auto slot = static_cast<std::uint32_t>(id);
    if (slot >= slots_.size() || slots_[slot].generation != id >> 32) return;
    const auto closure = release(slot);  // destroyed last: it may cancel others as it goes
    if (++stale_ > heap_.size() / 2 + 16) sweep();
  }

  /// The earliest deadline; never() = none.
  [[nodiscard]] WallTime next() {
    while (!heap_.empty() && is_stale(heap_.front())) {
      pop();
      --stale_;
    }
    return heap_.empty() ? WallTime::never() : heap_.front().at;
  }

  /// Calls those due at `now`. Those added meanwhile wait for the next call, so that this ends.
  void fire(WallTime now) {
    due_.clear();
    for (WallTime at = next(); at <= now && at != WallTime::never(); at = next()) due_.push_back(pop());
    for (const Entry& entry : due_) {
      if (is_stale(entry)) continue;  // cancelled by one before it, which counted it
      const auto closure = release(entry.slot);
      closure();
    }
    stale_ = std::min(stale_, heap_.size());
  }

  void clear() {
    while (!heap_.empty()) {
      const Entry entry = pop();
      if (!is_stale(entry)) const auto closure = release(entry.slot);
    }
    stale_ = 0;
  }

 private:
  struct Entry {
    WallTime at;
    std::uint32_t slot;
    std::uint32_t generation;
  };
  struct Slot {
    std::function<void()> what;
    std::uint32_t generation = 1;
  };
  static bool later(const Entry& a, const Entry& b) { return a.at > b.at; }
  [[nodiscard]] bool is_stale(const Entry& entry) const { return slots_[entry.slot].generation != entry.generation; }

  std::uint32_t take_slot() {
    if (free_.empty()) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  std::function<void()> release(std::uint32_t slot) {
    ++slots_[slot].generation;
    free_.push_back(slot);
    return std::exchange(slots_[slot].what, nullptr);
  }
  Entry pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    return entry;
  }
  void sweep() {
    std::erase_if(heap_, [this](const Entry& entry) { return is_stale(entry); });
    std::make_heap(heap_.begin(), heap_.end(), later);
    stale_ = 0;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<Entry> heap_, due_;
  std::size_t stale_ = 0;  // entries in the heap whose timer was cancelled; an upper bound
};

}  // namespace isochron::link
