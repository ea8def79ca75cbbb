#pragma once
// What one writes who wants a fast ring and nothing else: one element at a time, copied, indices padded and cached. The
// measure of what the product's interface costs.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochron::bench {

template <class T>
class BareRing {
 public:
  explicit BareRing(std::size_t capacity) : slots_(capacity), mask_(capacity - 1) {}

  bool push(const T& value) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ > mask_) {
      head_seen_ = head_.load(std::memory_order_acquire);
      if (tail - head_seen_ > mask_) return false;
    }
    slots_[tail & mask_] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  bool pop(T& value) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_seen_) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head == tail_seen_) return false;
    }
    value = slots_[head & mask_];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  alignas(128) std::atomic<std::uint64_t> tail_{0};
  alignas(128) std::uint64_t head_seen_ = 0;
  alignas(128) std::atomic<std::uint64_t> head_{0};
  alignas(128) std::uint64_t tail_seen_ = 0;
  alignas(128) std::vector<T> slots_;
  std::uint64_t mask_;
};

}  // namespace isochron::bench
