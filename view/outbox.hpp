#pragma once
// What waits to be sent to one peer. The newest matters: a message under a key takes the place of the one that is
// still queued under it, and when the whole is too large the oldest are forgotten.
//
// Threads: any; the lock is held for the time of a move.

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace isochron::view {

class Outbox {
 public:
  struct Item {
    std::string bytes;
    bool binary = false;
    std::uint64_t key = 0;
  };
  explicit Outbox(std::size_t limit) : limit_(limit) {}

  /// True: it was empty before, so somebody should begin to send.
  bool put(Item item) {
    const std::lock_guard hold(lock_);
    const bool was_empty = items_.empty();
    if (item.key != 0) {
      for (Item& waiting : items_) {
        if (waiting.key != item.key) continue;
        bytes_ += item.bytes.size() - waiting.bytes.size();
        waiting = std::move(item);
        ++dropped_;
        return false;
      }
    }
    bytes_ += item.bytes.size();
    items_.push_back(std::move(item));
    while (bytes_ > limit_ && items_.size() > 1) forget_oldest();
    return was_empty;
  }
  std::optional<Item> take() {
    const std::lock_guard hold(lock_);
    if (items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    bytes_ -= item.bytes.size();
    return item;
  }
  [[nodiscard]] std::size_t bytes() const {
    const std::lock_guard hold(lock_);
    return bytes_;
  }
  /// Messages that were never sent because a later one took their place.
  [[nodiscard]] std::uint64_t dropped() const {
    const std::lock_guard hold(lock_);
    return dropped_;
  }

 private:
  void forget_oldest() {
    bytes_ -= items_.front().bytes.size();
    items_.pop_front();
    ++dropped_;
  }

  mutable std::mutex lock_;
  std::size_t limit_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::deque<Item> items_;
};

}  // namespace isochron::view
