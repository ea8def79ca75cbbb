#include "link/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace isochron::link {

WallTime monotonic_now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return WallTime::from_ns(t.tv_sec * 1'000'000'000 + t.tv_nsec);
}

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, WallSpan timeout) {
  const timespec span{timeout.ns() / 1'000'000'000, timeout.ns() % 1'000'000'000};
  // Whatever the reason to return, the caller looks again.
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, timeout == WallSpan::max() ? nullptr : &span, nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace isochron::link
