// The link of a program that knows nothing of us, its clocks and its sleeps.

#include "client/interpose/clock.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

namespace isochron::interpose {

namespace {

client::SharedLink the_link;
std::int64_t the_epoch = 0;
constexpr std::int64_t monotonic_start = 1'000'000'000'000;  // as if booted a while ago: zero surprises programs

// Attached before main, so that nothing of the program runs outside simulated time.
__attribute__((constructor)) void attach() {
  const char* address = getenv(protocol::environment);
  if (address == nullptr || strncmp(address, "shm:", 4) != 0) return;
  if (the_link.open(address + 4) != nullptr) return;
  pthread_atfork(nullptr, nullptr, [] { the_link.close_after_fork(); });
  the_epoch = the_link.pages()->clock.epoch;
  protocol::Link* link = the_link.mine();
  if (link == nullptr) return the_link.close_after_fork();
  link->exchange = {};
  link->exchange.ask = static_cast<std::uint32_t>(protocol::Ask::attach);
  link->exchange.number = protocol::version;
  link->exchange.index = static_cast<std::uint32_t>(protocol::Attached::interposed);
  the_link.ask(*link);
}

}  // namespace

bool attached() { return the_link.is_open(); }
std::int64_t epoch_ns() { return the_epoch; }
std::int64_t now_ns() { return the_link.now(); }

void sleep_until_ns(std::int64_t until) {
  protocol::Link* link = the_link.mine();
  if (link == nullptr) return;
  link->exchange = {};
  link->exchange.ask = static_cast<std::uint32_t>(protocol::Ask::wait);
  link->exchange.number = -1;
  link->exchange.time = until;
  the_link.ask(*link);
  if (link->exchange.verdict == static_cast<std::uint32_t>(protocol::Verdict::ended)) _exit(0);
}

bool is_virtual(clockid_t clock) {
  if (!attached()) return false;
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI:
      return true;
    default:
      return false;
  }
}

std::int64_t offset_of(clockid_t clock) {
  const bool real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
  return real ? the_epoch : monotonic_start;
}

void* original(const char* name) { return dlsym(RTLD_NEXT, name); }

}  // namespace isochron::interpose

using namespace isochron::interpose;

#define ORIGINAL(name) (reinterpret_cast<decltype(&name)>(original(#name)))

#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t clock, struct timespec* t) {
  if (!is_virtual(clock)) return ORIGINAL(clock_gettime)(clock, t);
  *t = from_ns(now_ns() + offset_of(clock));
  return 0;
}

int gettimeofday(struct timeval* __restrict t, void* __restrict zone) {
  if (!attached()) return ORIGINAL(gettimeofday)(t, zone);
  const std::int64_t ns = now_ns() + epoch_ns();
  t->tv_sec = ns / 1'000'000'000;
  t->tv_usec = ns % 1'000'000'000 / 1000;
  return 0;
}

time_t time(time_t* t) {
  if (!attached()) return ORIGINAL(time)(t);
  const time_t seconds = (now_ns() + epoch_ns()) / 1'000'000'000;
  if (t != nullptr) *t = seconds;
  return seconds;
}

int timespec_get(struct timespec* t, int base) {
  if (!attached() || base != TIME_UTC) return ORIGINAL(timespec_get)(t, base);
  *t = from_ns(now_ns() + epoch_ns());
  return base;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* t, struct timespec* left) {
  if (!is_virtual(clock)) return ORIGINAL(clock_nanosleep)(clock, flags, t, left);
  if (t->tv_nsec < 0 || t->tv_nsec >= 1'000'000'000) return EINVAL;
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  sleep_until_ns(absolute ? to_ns(*t) - offset_of(clock) : now_ns() + to_ns(*t));
  return 0;
}

int nanosleep(const struct timespec* t, struct timespec* left) {
  if (!attached()) return ORIGINAL(nanosleep)(t, left);
  const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int usleep(useconds_t us) {
  if (!attached()) return ORIGINAL(usleep)(us);
  sleep_until_ns(now_ns() + std::int64_t{us} * 1000);
  return 0;
}

unsigned sleep(unsigned seconds) {
  if (!attached()) return ORIGINAL(sleep)(seconds);
  sleep_until_ns(now_ns() + std::int64_t{seconds} * 1'000'000'000);
  return 0;
}

int thrd_sleep(const struct timespec* t, struct timespec* left) {
  if (!attached()) return ORIGINAL(thrd_sleep)(t, left);
  return clock_nanosleep(CLOCK_MONOTONIC, 0, t, left) == 0 ? 0 : -2;
}

}  // extern "C"
#pragma GCC visibility pop
