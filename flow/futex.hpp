#pragma once
// Sleeping until a number in memory changes, between threads and between processes that share the memory. Inside flow/
// only.

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

#include "core/time.hpp"

namespace isochron::flow {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

/// Sleeps while `word` is `value`, at most for `longest`. May return early.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, WallSpan longest) {
  const timespec timeout{longest.ns() / 1'000'000'000, longest.ns() % 1'000'000'000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, &timeout, nullptr, 0);
}
inline void futex_wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("" ::: "memory");
#endif
}

}  // namespace isochron::flow
