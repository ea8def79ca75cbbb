// Timers that send signals: timer_create, setitimer, alarm. A helper thread sleeps in simulated time until the next one
// is due and sends its signal; a thread of the program that sleeps sends it itself, so that its sleep is cut short
// exactly then, as it would be.
//
// A timer that is set to an earlier time than the helper sleeps to needs another helper: a sleep in simulated time
// cannot be called back. The earlier one ends when it wakes and finds nothing to wait for.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "client/interpose/system.hpp"

using namespace isochron::interpose;

namespace {

ISOCHRON_ORIGINAL(timer_create)
ISOCHRON_ORIGINAL(timer_settime)
ISOCHRON_ORIGINAL(timer_gettime)
ISOCHRON_ORIGINAL(timer_getoverrun)
ISOCHRON_ORIGINAL(timer_delete)
ISOCHRON_ORIGINAL(setitimer)
ISOCHRON_ORIGINAL(getitimer)
ISOCHRON_ORIGINAL(alarm)
ISOCHRON_ORIGINAL(ualarm)
ISOCHRON_ORIGINAL(pause)
ISOCHRON_ORIGINAL(sigsuspend)
ISOCHRON_ORIGINAL(sigwait)
ISOCHRON_ORIGINAL(sigwaitinfo)

struct SignalWait {
  std::uint32_t before = signals_sent();
  Outside outside{[](void* with) { return signals_sent() != *static_cast<const std::uint32_t*>(with); }, &before};
};

struct SignalTimer {
  bool used = false;
  clockid_t clock = CLOCK_MONOTONIC;
  sigevent event{};
  std::int64_t next = forever;
  std::int64_t interval = 0;
  int overrun = 0;
};

constexpr std::size_t timers_max = 64;
SignalTimer timers[timers_max];  // 0 is that of setitimer and alarm
std::atomic<std::int64_t> earliest{forever};
std::atomic<std::uint32_t> sent{0};
std::int64_t helper_wakes = forever;

// Its own lock: signals are kept out while it is held, since their handlers set timers too.
std::atomic_flag locked = ATOMIC_FLAG_INIT;
class Locked {
 public:
  Locked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
    while (locked.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~Locked() {
    locked.clear(std::memory_order_release);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  sigset_t before_;
};

void* call(void* event) {
  const sigevent e = *static_cast<sigevent*>(event);
  free(event);
  e.sigev_notify_function(e.sigev_value);
  return nullptr;
}

/// Sends what a timer sends; true if that interrupts a sleep.
bool send(const sigevent& e, bool plain) {
  if (e.sigev_notify == SIGEV_NONE) return false;
  if (e.sigev_notify == SIGEV_THREAD) {
    pthread_t thread;
    auto* copy = static_cast<sigevent*>(malloc(sizeof e));  // not new: the C++ library of the program is its own
    if (copy == nullptr) return false;
    *copy = e;
    if (pthread_create(&thread, nullptr, call, copy) == 0) {
      pthread_detach(thread);
    } else {
      free(copy);
    }
    return false;
  }
  struct sigaction action {};
  sigaction(e.sigev_signo, nullptr, &action);
  if (e.sigev_notify == SIGEV_THREAD_ID) {
    siginfo_t info{};
    info.si_code = SI_TIMER;
    info.si_value = e.sigev_value;
    isochron::client::plain_call(SYS_rt_tgsigqueueinfo, isochron::client::real_process_id(), e._sigev_un._tid,
                                 e.sigev_signo, reinterpret_cast<long>(&info));
  } else if (plain) {
    kill(getpid(), e.sigev_signo);
  } else {
    sigqueue(getpid(), e.sigev_signo, e.sigev_value);
  }
  return action.sa_handler != SIG_IGN;
}

void find_earliest() {
  std::int64_t least = forever;
  for (const SignalTimer& timer : timers) least = std::min(least, timer.next);
  earliest.store(least, std::memory_order_release);
}

void* help(void* wake) {
  for (auto until = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(wake)); until != forever;) {
    sleep_until_ns(until);
    send_signals();
    const Locked lock;
    if (helper_wakes != until) return nullptr;  // another helper wakes before or instead
    until = helper_wakes = earliest.load();
  }
  return nullptr;
}

/// Called with the lock held and all signals blocked, which the helper inherits: they are for the program's threads.
bool ensure_helper() {
  find_earliest();
  const std::int64_t wake = earliest.load();
  if (wake >= helper_wakes) return true;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, help, reinterpret_cast<void*>(static_cast<std::intptr_t>(wake))) != 0) {
    return false;
  }
  pthread_detach(thread);
  helper_wakes = wake;
  return true;
}

itimerspec left_of(const SignalTimer& timer) {
  const std::int64_t left = timer.next == forever ? 0 : std::max<std::int64_t>(1, timer.next - now_ns());
  return {from_ns(timer.interval), from_ns(left)};
}

bool set(SignalTimer& timer, std::int64_t first, std::int64_t interval, bool absolute) {
  timer.interval = interval;
  timer.overrun = 0;
  timer.next = first == 0 ? forever : absolute ? first - offset_of(timer.clock) : now_ns() + first;
  return ensure_helper();
}

// A number, not an address: programs only hand it back. Zero would look like a timer that failed.
timer_t name_of(std::size_t index) { return reinterpret_cast<timer_t>(index); }
SignalTimer* timer_of(timer_t name) {
  const auto index = reinterpret_cast<std::size_t>(name);
  return index > 0 && index < timers_max && timers[index].used ? &timers[index] : nullptr;
}

}  // namespace

namespace isochron::interpose {

std::int64_t next_signal() { return earliest.load(std::memory_order_acquire); }

std::uint32_t signals_sent() { return sent.load(std::memory_order_acquire); }

void send_signals() {
  for (std::size_t i = 0; i < timers_max; ++i) {
    sigevent event{};
    {
      const Locked lock;
      SignalTimer& timer = timers[i];
      const std::int64_t now = now_ns();
      if (timer.next > now) continue;
      const std::int64_t times = timer.interval > 0 ? (now - timer.next) / timer.interval + 1 : 1;
      timer.overrun = static_cast<int>(times - 1);
      timer.next = timer.interval > 0 ? timer.next + times * timer.interval : forever;
      event = timer.event;
      find_earliest();
    }
    if (send(event, i == 0)) sent.fetch_add(1, std::memory_order_acq_rel);
  }
}

}  // namespace isochron::interpose

#pragma GCC visibility push(default)
extern "C" {

int timer_create(clockid_t clock, struct sigevent* __restrict event, timer_t* __restrict name) {
  if (!is_virtual(clock)) return libc_timer_create(clock, event, name);
  const Locked lock;
  for (std::size_t i = 1; i < timers_max; ++i) {
    if (timers[i].used) continue;
    timers[i] = {};
    timers[i].used = true;
    timers[i].clock = clock;
    if (event != nullptr) {
      timers[i].event = *event;
    } else {
      timers[i].event.sigev_notify = SIGEV_SIGNAL;
      timers[i].event.sigev_signo = SIGALRM;
      timers[i].event.sigev_value.sival_ptr = name_of(i);
    }
    *name = name_of(i);
    return 0;
  }
  errno = EAGAIN;
  return -1;
}

int timer_settime(timer_t name, int flags, const struct itimerspec* __restrict value,
                  struct itimerspec* __restrict old) {
  if (!attached() || timer_of(name) == nullptr) return libc_timer_settime(name, flags, value, old);
  const Locked lock;
  SignalTimer& timer = *timer_of(name);
  if (old != nullptr) *old = left_of(timer);
  if (set(timer, to_ns(value->it_value), to_ns(value->it_interval), (flags & TIMER_ABSTIME) != 0)) return 0;
  errno = EAGAIN;
  return -1;
}

int timer_gettime(timer_t name, struct itimerspec* value) {
  if (!attached() || timer_of(name) == nullptr) return libc_timer_gettime(name, value);
  const Locked lock;
  *value = left_of(*timer_of(name));
  return 0;
}

int timer_getoverrun(timer_t name) {
  if (!attached() || timer_of(name) == nullptr) return libc_timer_getoverrun(name);
  const Locked lock;
  return timer_of(name)->overrun;
}

int timer_delete(timer_t name) {
  if (!attached() || timer_of(name) == nullptr) return libc_timer_delete(name);
  const Locked lock;
  *timer_of(name) = {};
  find_earliest();
  return 0;
}

int setitimer(__itimer_which_t which, const struct itimerval* __restrict value, struct itimerval* __restrict old) {
  if (!attached() || which != ITIMER_REAL) return libc_setitimer(which, value, old);
  const Locked lock;
  SignalTimer& timer = timers[0];
  timer.event.sigev_notify = SIGEV_SIGNAL;
  timer.event.sigev_signo = SIGALRM;
  if (old != nullptr) {
    const itimerspec left = left_of(timer);
    *old = {from_ns_us(to_ns(left.it_interval)), from_ns_us(to_ns(left.it_value))};
  }
  if (value == nullptr || set(timer, to_ns(value->it_value), to_ns(value->it_interval), false)) return 0;
  errno = EAGAIN;
  return -1;
}

int getitimer(__itimer_which_t which, struct itimerval* value) {
  if (!attached() || which != ITIMER_REAL) return libc_getitimer(which, value);
  const Locked lock;
  const itimerspec left = left_of(timers[0]);
  *value = {from_ns_us(to_ns(left.it_interval)), from_ns_us(to_ns(left.it_value))};
  return 0;
}

unsigned alarm(unsigned seconds) {
  if (!attached()) return libc_alarm(seconds);
  const itimerval value{{0, 0}, {static_cast<time_t>(seconds), 0}};
  itimerval old{};
  setitimer(ITIMER_REAL, &value, &old);
  return static_cast<unsigned>((to_ns(old.it_value) + 999'999'999) / 1'000'000'000);
}

useconds_t ualarm(useconds_t first, useconds_t interval) {
  if (!attached()) return libc_ualarm(first, interval);
  const itimerval value{from_ns_us(std::int64_t{interval} * 1000), from_ns_us(std::int64_t{first} * 1000)};
  itimerval old{};
  setitimer(ITIMER_REAL, &value, &old);
  return static_cast<useconds_t>(to_ns(old.it_value) / 1000);
}

// Waits for a signal: other threads run meanwhile, among them the one that sends those of timers. It may do so before
// we are in the kernel, so signals are kept until then: the one that ends the pause must not come before it.
int pause(void) {
  if (!attached()) return libc_pause();
  if (in_stack()) return sleep_until_ns(forever), returned(-EINTR);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int result = 0;
  {
    const SignalWait waiting;
    result = libc_sigsuspend(&before);
  }
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return result;
}
int sigsuspend(const sigset_t* mask) {
  if (in_stack()) {
    sigset_t before, pending;
    const std::uint32_t told = children_told();
    sigpending(&pending);
    pthread_sigmask(SIG_SETMASK, mask, &before);  // what was kept until now is handled here
    bool came = children_told() != told;
    for (int signal = 1; signal < NSIG && !came; ++signal) {
      came = sigismember(&pending, signal) == 1 && sigismember(mask, signal) == 0 && is_handled(signal);
    }
    if (!came) sleep_until_ns(forever);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return returned(-EINTR);
  }
  const SignalWait waiting;
  return libc_sigsuspend(mask);
}
int sigwait(const sigset_t* __restrict set, int* __restrict signal) {
  const SignalWait waiting;
  return libc_sigwait(set, signal);
}
int sigwaitinfo(const sigset_t* __restrict set, siginfo_t* __restrict info) {
  const SignalWait waiting;
  return libc_sigwaitinfo(set, info);
}

}  // extern "C"
#pragma GCC visibility pop
