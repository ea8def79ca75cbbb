#pragma once
// What the interposed functions share: the link to the coordinator, the clocks, and the one way to wait.
//
// libisochron_clock.so is preloaded into programs that know nothing of Isochron (`clock: virtual`). Their clocks show
// simulated time, their sleeps, time limits and timers pass in simulated time. A wait with a limit for something that
// may come from outside (a lock, a socket) looks whether it came, sleeps a little simulated time, looks again.
//
// System calls made without libc, the vDSO and rdtsc: raw_calls.hpp. Misses: static programs.

#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstdint>

#include "client/interpose/order.hpp"
#include "client/shared_link.hpp"

namespace isochron::interpose {

constexpr std::int64_t forever = INT64_MAX;

/// Whether this process is attached; without, everything goes to libc as if we were not there.
bool attached();
/// What is shared with the coordinator.
protocol::Pages* shared_pages();
/// For the order of threads (order.hpp): a link for this thread, giving it back, asking for room in the log or for more
/// of it, and telling that no thread can go on by itself.
void claim_link();
void release_link();
void ask_for_room();
void tell_idle(std::int64_t answers);
/// Simulated time.
std::int64_t now_ns();
/// What CLOCK_REALTIME shows at simulated zero.
std::int64_t epoch_ns();
/// CPU time of the program, or of a thread of it, in time of the robot's computer (cpu_clock.cpp).
bool is_cpu_clock(clockid_t clock);
std::int64_t cpu_ns(clockid_t clock);
/// What the program has executed; `at_most` as SharedLink::executed takes it.
std::int64_t executed_ns(std::int64_t at_most);
/// Simulated ns for a CPU time of this machine.
std::int64_t scaled_cpu_ns(std::int64_t ns);
/// Sleeps until then in simulated time, or until another process's signal; then it returns true. After the run's end
/// the program is not wanted any more: it is ended.
bool sleep_until_ns(std::int64_t until);
/// For calls of the simulated system (system.hpp): the link of this thread, whether it is in use, and asking by it.
protocol::Link* the_link_of_thread();
bool is_asking();
bool call_link(protocol::Link& link);
/// Around a fork that is followed.
void begin_followed_fork();
void end_followed_fork();

/// Whether a clock shows simulated time, and by how much it is ahead of it.
bool is_virtual(clockid_t clock);
std::int64_t offset_of(clockid_t clock);

/// Signals of timers (timers.cpp): when the next one is due, sending those that are, and how many were sent so far that
/// interrupt a sleep, by whichever thread.
std::int64_t next_signal();
void send_signals();
std::uint32_t signals_sent();

inline std::int64_t to_ns(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }
inline std::int64_t to_ns(const timeval& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_usec * 1000; }
inline timespec from_ns(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }
inline timeval from_ns_us(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000 / 1000}; }
/// A moment this far from now; negative = never.
inline std::int64_t limit_after(std::int64_t ns) { return ns < 0 || ns > forever / 2 ? forever : now_ns() + ns; }

/// The libc function that one of ours stands in front of. Found once, when the library is loaded: looking it up later
/// could be in a signal handler or between fork and exec, where that is not safe.
template <class Function>
class Original {
 public:
  explicit constexpr Original(const char* name) : name_(name) {}
  Function get() {
    Function found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));
      found_.store(found, std::memory_order_relaxed);
    }
    return found;
  }
  template <class... Arguments>
  auto operator()(Arguments... arguments) {
    return get()(arguments...);
  }

 private:
  const char* name_;
  std::atomic<Function> found_{nullptr};
};

/// libc(name) is an Original of that function; find_all() looks it up early.
#define ISOCHRON_ORIGINAL(name)                                                  \
  constinit isochron::interpose::Original<decltype(&::name)> libc_##name{#name}; \
  __attribute__((constructor(101))) void find_##name() { libc_##name.get(); }

/// Tries until it succeeds or the limit passes; try_once returns true when there is a result. False = the limit passed.
template <class Try>
bool try_until(std::int64_t limit, Try&& try_once) {
  std::int64_t pause = 50'000;
  for (;;) {
    {
      const Turn turn;
      if (try_once()) return true;
    }
    const std::int64_t now = now_ns();
    if (now >= limit) return false;
    sleep_until_ns(limit - now < pause ? limit : now + pause);
    if (pause < 1'000'000) pause *= 2;
  }
}

}  // namespace isochron::interpose
