#pragma once
// What the interposed functions share: the link to the coordinator, the clocks, and the one way to wait.
//
// libisochron_clock.so is preloaded into programs that know nothing of Isochron (`clock: virtual`). Their clocks show
// simulated time, their sleeps and time limits pass in simulated time. A wait with a limit for something that may come
// from outside (a lock, a socket) looks whether it came, sleeps a little simulated time, looks again.
//
// Misses: clock() and CPU clocks (meant), inline rdtsc, static programs, system calls made without libc.

#include <time.h>

#include <cstdint>

#include "client/shared_link.hpp"

namespace isochron::interpose {

/// Whether this process is attached; without, everything goes to libc as if we were not there.
bool attached();
/// Simulated time.
std::int64_t now_ns();
/// What CLOCK_REALTIME shows at simulated zero.
std::int64_t epoch_ns();
/// Sleeps until then in simulated time. After the run's end the program is not wanted any more: it is ended.
void sleep_until_ns(std::int64_t until);

/// Whether a clock shows simulated time, and by how much it is ahead of it.
bool is_virtual(clockid_t clock);
std::int64_t offset_of(clockid_t clock);

inline std::int64_t to_ns(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }
inline timespec from_ns(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }

/// The libc function of that name that we stand in front of.
void* original(const char* name);

/// Tries until it succeeds or the limit passes; try_once returns true when there is a result. False = the limit passed.
template <class Try>
bool try_until(std::int64_t limit, Try&& try_once) {
  std::int64_t pause = 50'000;
  for (;;) {
    if (try_once()) return true;
    const std::int64_t now = now_ns();
    if (now >= limit) return false;
    sleep_until_ns(limit - now < pause ? limit : now + pause);
    if (pause < 1'000'000) pause *= 2;
  }
}

}  // namespace isochron::interpose
