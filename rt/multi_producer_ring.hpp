#pragma once
// A ring that any number of threads may write and one reads: commands from several sources to one control loop. Each
// slot carries its turn, a number that says whose it is:
//
//     turn == p              free, for the producer that gets position p
//     turn == p + 1          filled, for the consumer at position p
//     turn == p + capacity   given back: free for position p + capacity
//
// Promises: every element whose write() returned true is taken once; elements of one producer in their order.
// Requires: the consumer's calls from one thread. The filling function must not throw and should be short: until it
//           returns, later elements of other producers stay hidden behind its slot.
// Threads:  any producers, one consumer; InlineMultiProducerRing also in shared memory.
// Cost:     the consumer is wait-free. A producer is lock-free: it tries again only when another one got the position.
//           Allocates at set-up or never.
// Fails:    full: write() is false. Empty: peek() is nullptr. A producer that dies between claiming a slot and filling
//           it hides all later elements for good: use a Ring for each process where producers may die.
//
// Why it is right. The compare-exchange on tail_ gives each position to one producer. That producer had read turn == p
// with acquire, stored with release by the consumer after it last read the slot, so the read happens before the fill
// (at the first round nobody read it). It then stores turn = p + 1 with release, and the consumer reads the element
// only after an acquire load of that value. Turns of one slot only grow, and p identifies round and slot, so a producer
// that slept through whole rounds sees turn > p or loses the compare-exchange. With capacity 1 "filled" and "given
// back" would be the same number, hence at least 2. rt/test/multi_producer_ring_interleavings_test.cpp tries every
// interleaving and stale read of small instances.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "rt/atomics.hpp"
#include "rt/slots.hpp"

namespace isochron::rt {

template <class T, class Atomics = StdAtomics>
struct TurnSlot {
  typename Atomics::template Atomic<std::uint64_t> turn{0};
  T value{};
};

template <class T, class Slots, class Atomics = StdAtomics>
class BasicMultiProducerRing {
 public:
  template <class... Args>
  explicit BasicMultiProducerRing(Args... args) : slots_(args...) {
    RT_ENSURE(capacity() >= 2, "a multi-producer ring has at least two slots");
    for (std::uint64_t p = 0; p < capacity(); ++p) slots_[p].turn.store(p, std::memory_order_relaxed);
  }
  BasicMultiProducerRing(const BasicMultiProducerRing&) = delete;
  BasicMultiProducerRing& operator=(const BasicMultiProducerRing&) = delete;

  [[nodiscard]] std::size_t capacity() const { return slots_.capacity(); }

  /// Any thread: fill(T&) writes the element in place. False when the ring is full.
  template <class Fill>
  [[nodiscard]] bool write(Fill&& fill) {
    std::uint64_t position = tail_.value.load(std::memory_order_relaxed);
    while (true) {
      Slot& slot = slots_[position];
      const auto ahead = static_cast<std::int64_t>(slot.turn.load(std::memory_order_acquire) - position);
      if (ahead < 0) return false;  // its element of the round before was not given back
      if (ahead > 0) {              // another producer has this position
        position = tail_.value.load(std::memory_order_relaxed);
      } else if (tail_.value.compare_exchange_weak(position, position + 1, std::memory_order_relaxed,
                                                   std::memory_order_relaxed)) {
        std::forward<Fill>(fill)(slot.value);
        slot.turn.store(position + 1, std::memory_order_release);
        return true;
      }
    }
  }

  /// Any thread: one element by copy.
  [[nodiscard]] bool push(const T& value) {
    return write([&value](T& slot) { slot = value; });
  }

  /// Consumer: the next element, or nullptr when there is none; good until flush().
  [[nodiscard]] T* peek() {
    Slot& slot = slots_[consumer_.read];
    return slot.turn.load(std::memory_order_acquire) == consumer_.read + 1 ? &slot.value : nullptr;
  }

  /// Consumer: gives the element that peek() showed back to the producers.
  void flush() {
    slots_[consumer_.read].turn.store(consumer_.read + capacity(), std::memory_order_release);
    ++consumer_.read;
  }

  /// Consumer: one element by copy; false when there is none.
  [[nodiscard]] bool pop(T& value) {
    T* slot = peek();
    if (slot == nullptr) return false;
    value = *slot;
    flush();
    return true;
  }

 private:
  using Slot = TurnSlot<T, Atomics>;
  struct alignas(no_sharing) Tail {
    typename Atomics::template Atomic<std::uint64_t> value{0};
  };
  struct alignas(no_sharing) Consumer {
    std::uint64_t read = 0;
  };

  Tail tail_;
  Consumer consumer_;
  alignas(no_sharing) Slots slots_;
};

template <class T>
using MultiProducerRing = BasicMultiProducerRing<T, HeapSlots<TurnSlot<T>>>;

template <class T, std::size_t Capacity>
using InlineMultiProducerRing = BasicMultiProducerRing<T, InlineSlots<TurnSlot<T>, Capacity>>;

}  // namespace isochron::rt
