// What a program has executed, by its own CPU clocks: clock(), getrusage, times, and the clocks of process and threads.
// A planner that limits itself by clock() to half a second takes half a second of its robot's computer, as fast as that
// is.
//
// The process clock is simulated time minus what was waited, so it is exact and repeats. How much of it was a thread's
// is known only where computing is measured: from this machine's clock of the thread, scaled; elsewhere a thread's
// clock is that of the process.

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "client/interpose/clock.hpp"

using namespace isochron::interpose;

namespace {

ISOCHRON_ORIGINAL(clock)
ISOCHRON_ORIGINAL(getrusage)
ISOCHRON_ORIGINAL(times)

// The kernel's form of a clock id made of a process or thread id: the id inverted, then three bits.
constexpr clockid_t of_thread = 4;
constexpr clockid_t kind_bits = 3;
constexpr clockid_t scheduled = 2;

bool is_made_of_id(clockid_t clock) { return clock < 0 && (clock & kind_bits) == scheduled; }
pid_t id_in(clockid_t clock) { return static_cast<pid_t>(~(clock >> 3)); }

bool is_thread_clock(clockid_t clock) {
  return clock == CLOCK_THREAD_CPUTIME_ID || (is_made_of_id(clock) && (clock & of_thread) != 0);
}

// libc's function leads back here, by the vDSO (raw_calls.cpp).
long clock_of_kernel(clockid_t clock, timespec& t) {
  return isochron::client::plain_call(SYS_clock_gettime, clock, reinterpret_cast<long>(&t));
}

std::int64_t thread_part(clockid_t clock) {
  timespec t{};
  if (clock_of_kernel(clock, t) != 0) return forever;
  return scaled_cpu_ns(to_ns(t));
}

}  // namespace

namespace isochron::interpose {

bool is_cpu_clock(clockid_t clock) {
  if (clock >= 0 && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID) return false;
  if (!attached()) return false;
  if (clock >= 0) return true;
  if (!is_made_of_id(clock)) return false;
  timespec ignored{};
  return (clock & of_thread) != 0 ? clock_of_kernel(clock, ignored) == 0
                                  : id_in(clock) == 0 || id_in(clock) == getpid();
}

std::int64_t cpu_ns(clockid_t clock) { return executed_ns(is_thread_clock(clock) ? thread_part(clock) : forever); }

}  // namespace isochron::interpose

#pragma GCC visibility push(default)
extern "C" {

clock_t clock() {
  if (!attached()) return libc_clock();
  return executed_ns(forever) / (1'000'000'000 / CLOCKS_PER_SEC);
}

// All of it as user time: which part the system had is not the same twice.
int getrusage(__rusage_who_t who, struct rusage* usage) {
  const int result = libc_getrusage(who, usage);
  if (!attached() || result != 0 || who == RUSAGE_CHILDREN) return result;
  usage->ru_utime = from_ns_us(cpu_ns(who == RUSAGE_THREAD ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID));
  usage->ru_stime = {};
  return 0;
}

clock_t times(struct tms* cpu) {
  const clock_t real = libc_times(cpu);
  if (!attached() || real == static_cast<clock_t>(-1)) return real;
  const long tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  if (cpu != nullptr) {
    cpu->tms_utime = executed_ns(forever) / tick_ns;
    cpu->tms_stime = 0;
  }
  return (now_ns() + offset_of(CLOCK_MONOTONIC)) / tick_ns;
}

}  // extern "C"
#pragma GCC visibility pop
