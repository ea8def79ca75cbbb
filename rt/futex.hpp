#pragma once
// Sleeping on a word of memory: a thread sleeps while the word has a value, another changes it and wakes. The kernel is
// entered only to sleep or to wake, and the word may lie in shared memory.
//
// Threads: any. Cost: a system call each; waking another core costs tens of µs on a virtual machine.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <optional>

#include "rt/clock.hpp"

namespace isochron::rt {

using FutexWord = std::atomic<std::uint32_t>;
static_assert(sizeof(FutexWord) == 4 && FutexWord::is_always_lock_free);

/// Sleeps while word == value, at most until the deadline. May return early without cause: look at the word again.
inline void futex_wait(const FutexWord& word, std::uint32_t value, std::optional<MonotonicTime> deadline = {}) {
  timespec until{};
  if (deadline) until = to_timespec(deadline->time_since_epoch());
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, value, deadline ? &until : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
}

inline void futex_wake(FutexWord& word, int threads = INT_MAX) {
  syscall(SYS_futex, &word, FUTEX_WAKE, threads, nullptr, nullptr, 0);
}

/// Waits until word != value: spins for a while, since a wake-up costs more than a short wait, then sleeps.
/// Returns the value seen, read with acquire.
inline std::uint32_t wait_while(const FutexWord& word, std::uint32_t value, int spins = 200) {
  std::uint32_t seen = word.load(std::memory_order_acquire);
  for (int i = 0; seen == value && i < spins; ++i) {
    spin_pause();
    seen = word.load(std::memory_order_acquire);
  }
  while (seen == value) {
    futex_wait(word, value);
    seen = word.load(std::memory_order_acquire);
  }
  return seen;
}

}  // namespace isochron::rt
