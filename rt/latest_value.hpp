#pragma once
// The latest value of something that one thread writes and one other reads, each at its own rate and neither ever
// waiting: an estimator at 1 kHz and a controller that only wants the newest state. Three slots: one is the writer's,
// one the reader's, one lies in the middle. Publishing and reading each swap their own slot for the middle one.
//
//     writer ── owns back_ ──▶ [ middle: index, fresh? ] ◀── owns front_ ── reader        one atomic word
//
//     value.slot() = state;  value.publish();               // writer, or value.write(state)
//     if (const State* s = value.read()) control(*s);       // reader
//
// Promises: read() gives the newest value published before it, whole, never torn, and never an older one than before.
//           The reader's value stays untouched until its next read().
// Requires: slot() and publish() from one thread, the readers' calls from one thread.
// Threads:  one writer, one reader; may lie in shared memory if T may.
// Cost:     wait-free on both sides: publish() is one atomic exchange, read() one load and at most one exchange,
//           whatever the other side does. Never allocates.
// Fails:    nothing published yet: read() is nullptr. A writer that dies half-way leaves the last published value
//           whole; its successor needs a new LatestValue, for nobody knows which slot was the dead one's.
//
// Why it is right. back_, front_ and the middle index are always a permutation of {0, 1, 2}: it is so at the start, and
// each exchange swaps one owner's index with the middle one atomically. So no two sides ever hold the same slot. Each
// exchange is both release and acquire: what the writer wrote into its slot happens before the reader that swaps it out
// of the middle, and what the reader read happens before the writer that gets that slot back. `fresh` is set by
// publish() and cleared by read(); a reader that misses a fresh bit (a stale load) keeps its value and sees the new one
// on a later read, as if it had read a moment earlier. No step is ever retried, so there is no loop to bound.
// rt/test/latest_value_interleavings_test.cpp tries every interleaving and stale read, and counts the steps.

#include <array>
#include <cstdint>

#include "rt/atomics.hpp"

namespace isochron::rt {

template <class T, class Atomics = StdAtomics>
class LatestValue {
 public:
  LatestValue() = default;
  LatestValue(const LatestValue&) = delete;
  LatestValue& operator=(const LatestValue&) = delete;

  // --- the writer's ---

  /// The slot to fill; it holds some earlier value.
  [[nodiscard]] T& slot() { return slots_[writer_.back].value; }

  /// Makes the filled slot the latest value.
  void publish() {
    const std::uint32_t before = middle_.word.exchange(writer_.back | fresh_bit, std::memory_order_acq_rel);
    writer_.back = before & index_bits;
  }

  void write(const T& value) {
    slot() = value;
    publish();
  }

  // --- the reader's ---

  /// The newest value, or nullptr before the first; it stays the reader's until the next call of read() or read_new().
  [[nodiscard]] const T* read() {
    swap_if_fresh();
    return reader_.any ? &slots_[reader_.front].value : nullptr;
  }

  /// The newest value if it was not read before, else nullptr.
  [[nodiscard]] const T* read_new() { return swap_if_fresh() ? &slots_[reader_.front].value : nullptr; }

 private:
  static constexpr std::uint32_t index_bits = 3;
  static constexpr std::uint32_t fresh_bit = 4;

  bool swap_if_fresh() {
    if ((middle_.word.load(std::memory_order_relaxed) & fresh_bit) == 0) return false;
    const std::uint32_t before = middle_.word.exchange(reader_.front, std::memory_order_acq_rel);
    reader_.front = before & index_bits;
    reader_.any = true;
    return true;
  }

  struct alignas(no_sharing) Middle {
    typename Atomics::template Atomic<std::uint32_t> word{1};
  };
  struct alignas(no_sharing) Writer {
    std::uint32_t back = 0;
  };
  struct alignas(no_sharing) Reader {
    std::uint32_t front = 2;
    bool any = false;
  };
  struct alignas(no_sharing) Slot {
    T value{};
  };

  Middle middle_;
  Writer writer_;
  Reader reader_;
  std::array<Slot, 3> slots_;
};

}  // namespace isochron::rt
