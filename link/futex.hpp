#pragma once
// Waiting for another process through shared memory. A wake-up of another core costs some 50 µs here, a look at a
// shared word 0.1 µs: so a waiter first looks for a while (spin), then sleeps in the kernel, and whoever rings makes a
// system call only if somebody sleeps.
//
// Why no ring is missed. The ringer: writes its data; rings += 1 (A); reads sleepers (B). The waiter: sleepers += 1
// (C); reads rings (D); looks at the data; asks the kernel to sleep if rings still is what it read. A, B, C, D are
// sequentially consistent, so they have one order. If B comes before C, B does not see the waiter, but then A comes
// before D: the waiter saw the ring, hence the data, and does not sleep. If C comes before B, the ringer sees a sleeper
// and wakes; a waiter not yet asleep is kept from sleeping by the kernel's own look at rings.
//
// Threads: any number of ringers and waiters, in any processes that map it.
// Fails:   a waiter that is killed asleep leaves sleepers too high: later rings make a needless system call, no more.

#include <atomic>
#include <cstdint>

#include "core/time.hpp"

namespace isochron::link {

/// CLOCK_MONOTONIC.
[[nodiscard]] WallTime monotonic_now();

/// Sleeps while word == expected, at most for `timeout`; may return early without reason.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, WallSpan timeout);
/// Wakes all that sleep on it.
void futex_wake(const std::atomic<std::uint32_t>& word);

/// Tells the core that this is a loop that waits for memory to change.
inline void relax_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// To be placed in zeroed shared memory.
struct Doorbell {
  alignas(64) std::atomic<std::uint32_t> rings;
  alignas(64) std::atomic<std::uint32_t> sleepers;

  void ring() {
    rings.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(rings);
  }

  /// Waits until ready() holds, which looks at what is written before ring(); says whether it does.
  template <class Ready>
  bool wait(Ready&& ready, WallSpan spin, WallSpan timeout) {
    if (ready()) return true;
    const WallTime start = monotonic_now();
    for (WallTime end = start + std::min(spin, timeout); monotonic_now() < end;) {
      for (int i = 0; i < 16; ++i) {
        if (ready()) return true;
        relax_cpu();
      }
    }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    bool is_ready = false;
    while (true) {
      const std::uint32_t seen = rings.load(std::memory_order_seq_cst);
      is_ready = ready();
      const WallSpan left = timeout == WallSpan::max() ? timeout : start + timeout - monotonic_now();
      if (is_ready || left <= WallSpan::zero()) break;
      futex_wait(rings, seen, left);
    }
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
    return is_ready;
  }
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace isochron::link
