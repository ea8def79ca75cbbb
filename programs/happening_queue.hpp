#pragma once
// What happened, until nothing earlier can come. The CPUs of a run get ahead of each other; what each of them tells
// comes in its own order, and goes on in the one order that repeats: by time, then by CPU.
//
// Promises: take() hands on everything earlier than `before`. Requires: what one CPU adds never goes back in time.
// Threads:  owner. Cost: allocates until the queues have come to their length; then never.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "programs/happening.hpp"

namespace isochron::programs {

class HappeningQueue {
 public:
  void add(std::uint32_t cpu, Happening happening, std::span<const std::byte> bytes) {
    if (cpu >= queues_.size()) queues_.resize(cpu + std::size_t{1});
    if (!spare_.empty()) {
      happening.bytes = std::move(spare_.back());
      spare_.pop_back();
    }
    happening.bytes.assign(bytes.begin(), bytes.end());
    queues_[cpu].push(std::move(happening));
  }

  template <class Use>
  void take(SimTime before, Use&& use) {
    for (;;) {
      Queue* first = nullptr;
      for (Queue& queue : queues_) {
        if (queue.empty() || queue.front().at >= before) continue;
        if (first == nullptr || queue.front().at < first->front().at) first = &queue;
      }
      if (first == nullptr) return;
      use(std::as_const(first->front()));
      if (first->front().bytes.capacity() <= spare_size) spare_.push_back(std::move(first->front().bytes));
      first->pop();
    }
  }

 private:
  static constexpr std::size_t spare_size = 4096;  // large ones are rare, and are not kept

  /// First in, first out, in a ring that grows when it is full.
  class Queue {
   public:
    [[nodiscard]] bool empty() const { return size_ == 0; }
    Happening& front() { return slots_[first_]; }
    void push(Happening happening) {
      if (size_ == slots_.size()) grow();
      slots_[(first_ + size_++) % slots_.size()] = std::move(happening);
    }
    void pop() {
      slots_[first_].bytes = {};
      first_ = (first_ + 1) % slots_.size();
      --size_;
    }

   private:
    void grow() {
      std::vector<Happening> more(std::max<std::size_t>(16, 2 * slots_.size()));
      for (std::size_t i = 0; i < size_; ++i) more[i] = std::move(slots_[(first_ + i) % slots_.size()]);
      slots_ = std::move(more);
      first_ = 0;
    }
    std::vector<Happening> slots_;
    std::size_t first_ = 0, size_ = 0;
  };

  std::vector<Queue> queues_;
  std::vector<std::vector<std::byte>> spare_;
};

}  // namespace isochron::programs
