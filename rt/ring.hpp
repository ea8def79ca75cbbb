#pragma once
// A ring carries elements from one thread (or process) to one other, in order, without locks and without copying: the
// producer fills a slot in place and publishes any number of filled slots with one store; the consumer reads them in
// place and gives any number of slots back with one store.
//
//      flush           take            commit            next
//        v               v                v                v
//   ─────┬───────────────┬────────────────┬────────────────┬─────────
//    free│ taken, still  │ published,     │ being written, │free
//        │ the consumer's│ to be taken    │ the producer's │
//   ─────┴───────────────┴────────────────┴────────────────┴─────────
//      head_           read_            tail_            write_          positions only grow; place = position & mask
//
//     if (Sample* s = ring.next()) { s->fill(); ring.commit(); }      // producer
//     while (Sample* s = ring.take()) use(*s);  ring.flush();         // consumer
//
// Promises: every published element is taken once, in order. head_ <= read_ <= tail_ <= write_ <= head_ + capacity.
// Requires: producer's calls from one thread, consumer's from one thread. A pointer from next() is good until commit(),
//           one from peek() or take() until flush().
// Threads:  one producer, one consumer; Ring<T> in one process, InlineRing<T, N> also in shared memory.
// Cost:     wait-free, a few ns; allocates at set-up (Ring) or never (InlineRing).
// Fails:    full: next() is nullptr; empty: take() is nullptr. If the producer dies, what was
//           published stays readable; a successor of either side needs a new ring.
//
// Why it is right. Each of the four positions has one writer. A slot p is written by the producer only while
// p < head_seen + capacity, where head_seen came from an acquire load of head_; the consumer stored that head_ with
// release after its last read of slot p - capacity, so that read happens before this write. A slot p is read only while
// p < tail_seen, from an acquire load of tail_, stored with release after the slot was written; so the write happens
// before the read. A stale head_seen or tail_seen is smaller than the truth, and only makes the ring look fuller to the
// producer or emptier to the consumer than it is. Positions have 64 bits: at 1 G elements/s they wrap after 584 years.
// rt/test/ring_interleavings_test.cpp tries every interleaving and every stale read of small rings.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rt/atomics.hpp"
#include "rt/slots.hpp"

namespace isochron::rt {

template <class T, class Slots, class Atomics = StdAtomics>
class BasicRing {
 public:
  using value_type = T;

  template <class... Args>
  explicit BasicRing(Args... args) : slots_(args...) {}
  BasicRing(const BasicRing&) = delete;
  BasicRing& operator=(const BasicRing&) = delete;

  [[nodiscard]] std::size_t capacity() const { return slots_.capacity(); }

  // --- the producer's ---

  /// The next slot to fill, or nullptr when the ring is full. May be called several times before commit(). The slot
  /// holds whatever was there a round ago, so that members that own memory keep it.
  [[nodiscard]] T* next() {
    const std::uint64_t position = producer_.write;
    if (position - producer_.head_seen >= capacity() && !room(1)) return nullptr;
    producer_.write = position + 1;
    return &slots_[position];
  }

  /// Up to n next slots at once. Shorter than n where the ring is nearly full or where it wraps; empty when full.
  [[nodiscard]] std::span<T> next(std::size_t n) {
    if (producer_.write + n - producer_.head_seen > capacity()) room(n);
    const std::size_t free = capacity() - static_cast<std::size_t>(producer_.write - producer_.head_seen);
    const std::size_t count = std::min({n, free, until_wrap(producer_.write)});
    T* first = &slots_[producer_.write];
    producer_.write += count;
    return {first, count};
  }

  /// Publishes every slot filled since the last commit, with one store.
  void commit() { tail_.value.store(producer_.write, std::memory_order_release); }

  /// One element by copy; false when full. Also publishes slots taken by next() before.
  [[nodiscard]] bool push(const T& value) {
    T* slot = next();
    if (slot == nullptr) return false;
    *slot = value;
    commit();
    return true;
  }

  // --- the consumer's ---

  /// The next element without taking it, or nullptr when there is none.
  [[nodiscard]] T* peek() {
    const std::uint64_t position = consumer_.read;
    if (position == consumer_.tail_seen && !more()) return nullptr;
    return &slots_[position];
  }

  /// Takes the next element; its slot stays the consumer's until flush().
  [[nodiscard]] T* take() {
    T* slot = peek();
    if (slot != nullptr) ++consumer_.read;
    return slot;
  }

  /// Takes up to n elements that lie side by side; fewer where the ring wraps or holds fewer.
  [[nodiscard]] std::span<T> take(std::size_t n) {
    if (consumer_.tail_seen - consumer_.read < n) more();
    const auto there = static_cast<std::size_t>(consumer_.tail_seen - consumer_.read);
    const std::size_t count = std::min({n, there, until_wrap(consumer_.read)});
    T* first = &slots_[consumer_.read];
    consumer_.read += count;
    return {first, count};
  }

  /// Gives every taken slot back to the producer, with one store.
  void flush() { head_.value.store(consumer_.read, std::memory_order_release); }

  /// One element by copy; false when there is none. Also flushes elements taken before.
  [[nodiscard]] bool pop(T& value) {
    T* slot = take();
    if (slot == nullptr) return false;
    value = *slot;
    flush();
    return true;
  }

  /// How many elements can be taken now, at least.
  [[nodiscard]] std::size_t available() {
    more();
    return static_cast<std::size_t>(consumer_.tail_seen - consumer_.read);
  }

 private:
  // A consumer that polls without pause takes the producer's cache lines away at every element; a moment's grace lets
  // the producer get ahead, and costs less than a line's way between cores.
  static constexpr int pauses_when_empty = 4;

  bool room(std::size_t n) {
    producer_.head_seen = head_.value.load(std::memory_order_acquire);
    return producer_.write + n - producer_.head_seen <= capacity();
  }
  bool more() {
    consumer_.tail_seen = tail_.value.load(std::memory_order_acquire);
    if (consumer_.read != consumer_.tail_seen) return true;
    for (int i = 0; i < pauses_when_empty; ++i) spin_pause();
    return false;
  }
  [[nodiscard]] std::size_t until_wrap(std::uint64_t position) const {
    return capacity() - static_cast<std::size_t>(position & (capacity() - 1));
  }

  struct alignas(no_sharing) Position {
    typename Atomics::template Atomic<std::uint64_t> value{0};
  };
  // Only the producer touches these, so they stay in its cache; head_ is read again only when the ring looks full.
  struct alignas(no_sharing) Producer {
    std::uint64_t write = 0;
    std::uint64_t head_seen = 0;
  };
  struct alignas(no_sharing) Consumer {
    std::uint64_t read = 0;
    std::uint64_t tail_seen = 0;
  };

  Position tail_;  // written by the producer
  Producer producer_;
  Position head_;  // written by the consumer
  Consumer consumer_;
  alignas(no_sharing) Slots slots_;
};

/// Capacity chosen at run time: Ring<Sample> ring(1024).
template <class T>
using Ring = BasicRing<T, HeapSlots<T>>;

/// Without a pointer inside: may be placed in shared memory.
template <class T, std::size_t Capacity>
using InlineRing = BasicRing<T, InlineSlots<T, Capacity>>;

}  // namespace isochron::rt
