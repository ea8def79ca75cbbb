// The link of a program that knows nothing of us, its clocks and its sleeps.

#include "client/interpose/clock.hpp"

#include "client/interpose/input.hpp"
#include "client/interpose/raw_calls.hpp"
#include "client/interpose/system.hpp"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

#include <algorithm>

namespace isochron::interpose {

namespace {

client::SharedLink the_link;
std::int64_t the_epoch = 0;
constexpr std::int64_t monotonic_start = 1'000'000'000'000;  // as if booted a while ago: zero surprises programs

/// A program that went on without us would run in real time, for free, and nobody would know: it ends instead.
void end_with(const char* why) {
  for (const char* part : {"isochron: ", why, "\n"}) {
    [[maybe_unused]] const ssize_t told = write(2, part, strlen(part));
  }
  _exit(1);
}

void end_without_link() { end_with("too many threads wait or look at the clock at one time"); }

/// Whether this process is the one that the coordinator started, as far as one that could not attach can tell: it is
/// the coordinator's own child.
bool is_started_one() {
  const char* folder = getenv(protocol::descriptors_environment);  // "/proc/PID/fd"
  return !the_link.is_outsider() && folder != nullptr && strncmp(folder, "/proc/", 6) == 0 &&
         strtol(folder + 6, nullptr, 10) == getppid();
}

/// Whether this is an interpreter or a virtual machine, by its name: their own start reads the clock many times.
bool is_interpreter() {
  char path[1024];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = 0;
  const char* name = strrchr(path, '/') + 1;
  for (const char* known :
       {"python",  "pypy", "node",   "deno", "bun",  "java",   "ruby", "perl", "lua", "julia", "php", "guile",
        "Rscript", "R",    "octave", "beam", "mono", "dotnet", "bash", "dash", "sh",  "zsh",   "env"}) {
    const std::size_t size = strlen(known);
    // Versions follow the name: python3.11, lua5.4.
    if (strncmp(name, known, size) == 0 && strspn(name + size, "0123456789.-") == strlen(name + size)) return true;
  }
  return false;
}

bool following_fork = false;
char preload[512];
char entries[5][560];
const char* kept[6];

/// What the program executes next must find in its environment.
void keep_environment() {
  const auto keep = [](std::size_t i, const char* name, const char* value) {
    snprintf(entries[i], sizeof entries[i], "%s=%s", name, value);
    kept[i] = entries[i];
    kept[i + 1] = nullptr;
  };
  const char* run = getenv(protocol::run_environment);
  keep(0, protocol::environment, the_link.address());
  keep(1, protocol::descriptors_environment, the_link.folder());
  keep(2, "LD_PRELOAD", preload);
  if (run != nullptr) keep(3, protocol::run_environment, run);
}

void ask_to_attach() {
  protocol::Link* link = the_link.mine();
  if (link == nullptr) return;
  link->exchange = {};
  link->exchange.ask = static_cast<std::uint32_t>(protocol::Ask::attach);
  link->exchange.number = protocol::version;
  link->exchange.index =
      static_cast<std::uint32_t>(is_interpreter() ? protocol::Attached::interpreter : protocol::Attached::interposed);
  the_link.ask(*link);
  static constexpr client::SharedLink::AroundWaits order{before_ask, asked, answered};
  the_link.around_waits(&order);
  begin_order(static_cast<protocol::ClockMode>(the_link.pages()->clock.mode.load(std::memory_order_relaxed)));
}

/// A new program in a process of a stack: descriptors that were closed meanwhile, and handlers that are gone.
void look_after_execution() {
  protocol::Pages& pages = *the_link.pages();
  for (int i = 0; i < protocol::descriptors_max; ++i) {
    auto& kind = pages.descriptors[i];
    if (kind.load(std::memory_order_relaxed) != protocol::Descriptor::system && fcntl(i, F_GETFD) < 0) {
      kind.store(protocol::Descriptor::system, std::memory_order_relaxed);
    }
  }
  forget_handlers();
  lead_here("read", reinterpret_cast<void*>(&::read));
  lead_here("write", reinterpret_cast<void*>(&::write));
}

// Attached before main, so that nothing of the program runs outside simulated time.
__attribute__((constructor)) void attach() {
  const char* address = getenv(protocol::environment);
  if (address == nullptr || strncmp(address, "shm:", 4) != 0) return;
  const char* wrong = the_link.open(address + 4);
  if (const char* library = getenv("LD_PRELOAD")) snprintf(preload, sizeof preload, "%s", library);
  pthread_atfork(nullptr, nullptr, [] {
    if (following_fork) return;
    the_link.close_after_fork();
    end_order();
    close_input();
  });
  if (wrong != nullptr) return is_started_one() ? end_with(wrong) : void();
  the_epoch = the_link.pages()->clock.epoch;
  the_link.when_links_are_missing(end_without_link);
  if (the_link.pages()->stack != 0) {
    keep_environment();
    look_after_execution();
  }
  begin_to_catch(the_link.pages()->stack != 0 ? the_link.pages()->clock.counter_use : protocol::CounterUse::host);
  ask_to_attach();
  open_input(*the_link.pages());
}

/// Sleeps until then or until a timer's signal; returns whether it was the latter.
bool sleep_or_signal(std::int64_t until) {
  const std::uint32_t before = signals_sent();
  for (;;) {
    const std::int64_t signal = next_signal();
    if (sleep_until_ns(std::min(until, signal))) return true;
    if (signal <= now_ns()) send_signals();
    if (signals_sent() != before) return true;
    if (now_ns() >= until) return false;
  }
}

}  // namespace

bool attached() { return the_link.is_open(); }
protocol::Pages* shared_pages() { return the_link.pages(); }
void claim_link() { the_link.mine(); }
void release_link() { the_link.release(); }
void ask_for_room() { the_link.ask_for_room(); }
void tell_idle(std::int64_t answers) {
  protocol::Link* link = the_link.mine();
  if (link == nullptr) return;
  link->exchange = {};
  link->exchange.ask = static_cast<std::uint32_t>(protocol::Ask::idle);
  link->exchange.stamp = answers;
  the_link.post(*link);
}
std::int64_t epoch_ns() { return the_epoch; }
std::int64_t now_ns() { return the_link.now(); }
std::int64_t executed_ns(std::int64_t at_most) { return the_link.executed(at_most); }
std::int64_t scaled_cpu_ns(std::int64_t ns) {
  return static_cast<std::int64_t>((static_cast<unsigned __int128>(ns) * the_link.pages()->clock.rate) >> 32);
}

bool sleep_until_ns(std::int64_t until) {
  protocol::Link* link = the_link.mine();
  if (link == nullptr) return false;
  if (in_stack()) {
    if (is_asking()) return false;
    Call call = call_of(SystemCall::wait_signal);
    call.until = until;
    return ask_system(call) == -EINTR;
  }
  // A signal handler that sleeps while its thread does has no link of its own: for it no time passes.
  if (!the_link.wait(*link, until)) _exit(0);
  return false;
}

protocol::Link* the_link_of_thread() { return the_link.mine(); }
bool is_asking() { return the_link.is_asking(); }
bool call_link(protocol::Link& link) {
  if (!the_link.ask_system(link)) return false;
  if (link.exchange.verdict == static_cast<std::uint32_t>(protocol::Verdict::ended)) _exit(0);
  return true;
}
void begin_followed_fork() {
  following_fork = true;
  the_link.prepare_fork();
}
void end_followed_fork() { following_fork = false; }
const char* const* environment_to_keep() { return kept; }

void become_child(long pages) {
  end_order();
  close_input();
  if (!the_link.reopen(pages)) end_with("a process that was forked cannot reach the coordinator");
  the_link.pages()->prints = 1;
  the_link.around_waits(nullptr);
  keep_environment();
  ask_to_attach();
  catch_in_thread();
}

bool is_virtual(clockid_t clock) {
  if (!attached()) return false;
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
    case CLOCK_TAI:
      return true;
    default:
      return false;
  }
}

std::int64_t offset_of(clockid_t clock) {
  const bool real =
      clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
  return real ? the_epoch : monotonic_start;
}

}  // namespace isochron::interpose

using namespace isochron::interpose;

namespace {
ISOCHRON_ORIGINAL(clock_gettime)
ISOCHRON_ORIGINAL(gettimeofday)
ISOCHRON_ORIGINAL(time)
ISOCHRON_ORIGINAL(timespec_get)
ISOCHRON_ORIGINAL(clock_nanosleep)
ISOCHRON_ORIGINAL(nanosleep)
ISOCHRON_ORIGINAL(usleep)
ISOCHRON_ORIGINAL(sleep)
ISOCHRON_ORIGINAL(thrd_sleep)
}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t clock, struct timespec* t) {
  if (is_cpu_clock(clock)) {
    *t = from_ns(cpu_ns(clock));
    return 0;
  }
  if (!is_virtual(clock)) return libc_clock_gettime(clock, t);
  *t = from_ns(now_ns() + offset_of(clock));
  return 0;
}

int gettimeofday(struct timeval* __restrict t, void* __restrict zone) {
  if (!attached()) return libc_gettimeofday(t, zone);
  if (zone != nullptr) libc_gettimeofday(nullptr, zone);
  if (t != nullptr) *t = from_ns_us(now_ns() + epoch_ns());
  return 0;
}

time_t time(time_t* t) {
  if (!attached()) return libc_time(t);
  const time_t seconds = (now_ns() + epoch_ns()) / 1'000'000'000;
  if (t != nullptr) *t = seconds;
  return seconds;
}

int timespec_get(struct timespec* t, int base) {
  if (!attached() || base != TIME_UTC) return libc_timespec_get(t, base);
  *t = from_ns(now_ns() + epoch_ns());
  return base;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* t, struct timespec* left) {
  if (!is_virtual(clock)) return libc_clock_nanosleep(clock, flags, t, left);
  if (t->tv_nsec < 0 || t->tv_nsec >= 1'000'000'000) return EINVAL;
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  const std::int64_t until = absolute ? to_ns(*t) - offset_of(clock) : now_ns() + to_ns(*t);
  if (!sleep_or_signal(until)) return 0;
  if (!absolute && left != nullptr) *left = from_ns(std::max<std::int64_t>(0, until - now_ns()));
  return EINTR;
}

int nanosleep(const struct timespec* t, struct timespec* left) {
  if (!attached()) return libc_nanosleep(t, left);
  const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int usleep(useconds_t us) {
  if (!attached()) return libc_usleep(us);
  if (!sleep_or_signal(now_ns() + std::int64_t{us} * 1000)) return 0;
  errno = EINTR;
  return -1;
}

unsigned sleep(unsigned seconds) {
  if (!attached()) return libc_sleep(seconds);
  const std::int64_t until = now_ns() + std::int64_t{seconds} * 1'000'000'000;
  if (!sleep_or_signal(until)) return 0;
  return static_cast<unsigned>((std::max<std::int64_t>(0, until - now_ns()) + 500'000'000) / 1'000'000'000);
}

int thrd_sleep(const struct timespec* t, struct timespec* left) {
  if (!attached()) return libc_thrd_sleep(t, left);
  const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
  return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

}  // extern "C"
#pragma GCC visibility pop
