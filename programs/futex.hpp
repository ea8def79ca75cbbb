#pragma once
// Sleeping on a word of memory, shared between processes.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "core/time.hpp"

namespace isochron::programs {

/// Of CLOCK_MONOTONIC.
inline WallTime wall_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return WallTime::from_ns(std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec);
}

inline void futex_wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Sleeps while the word is `value`, until `deadline` at most; wakes for no reason too.
inline void futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t value, WallTime deadline) {
  const timespec t{deadline.ns() / 1'000'000'000, deadline.ns() % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, value, &t, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace isochron::programs
