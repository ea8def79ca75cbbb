// Waits with a time limit for descriptors: poll, select, epoll, and timers that are descriptors. A virtual timer is an
// eventfd that is rung when its simulated time has come, which everybody who could wait for it looks at.

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>

#include "client/interpose/clock.hpp"

using namespace isochron::interpose;

#define ORIGINAL(name) (reinterpret_cast<decltype(&name)>(original(#name)))

namespace {

constexpr std::int64_t forever = INT64_MAX;

struct Timer {
  std::atomic<int> descriptor{-1};
  clockid_t clock = CLOCK_MONOTONIC;
  std::atomic<std::int64_t> next{forever};
  std::atomic<std::int64_t> interval{0};
};
Timer timers[64];

Timer* timer_of(int descriptor) {
  if (descriptor < 0) return nullptr;
  for (Timer& timer : timers) {
    if (timer.descriptor.load(std::memory_order_acquire) == descriptor) return &timer;
  }
  return nullptr;
}

/// Rings all timers whose time has come; returns when the next one does.
std::int64_t ring_timers() {
  std::int64_t earliest = forever;
  for (Timer& timer : timers) {
    const int descriptor = timer.descriptor.load(std::memory_order_acquire);
    if (descriptor < 0) continue;
    std::int64_t next = timer.next.load(std::memory_order_relaxed);
    if (next != forever && next <= now_ns()) {
      const std::int64_t interval = timer.interval.load(std::memory_order_relaxed);
      const std::uint64_t count = interval > 0 ? static_cast<std::uint64_t>((now_ns() - next) / interval) + 1 : 1;
      next = interval > 0 ? next + static_cast<std::int64_t>(count) * interval : forever;
      timer.next.store(next, std::memory_order_relaxed);
      [[maybe_unused]] const ssize_t rung = write(descriptor, &count, sizeof count);
    }
    earliest = std::min(earliest, next);
  }
  return earliest;
}

/// `attempt` looks without waiting: 0 = nothing yet. Without limit and timers there is no time to wait for: `block`.
template <class Attempt, class Block>
int wait_for_descriptors(std::int64_t limit, Attempt&& attempt, Block&& block) {
  for (;;) {
    const std::int64_t timer = ring_timers();
    if (limit == forever && timer == forever) return block();
    int result = 0;
    if (try_until(std::min(limit, timer), [&] { return (result = attempt()) != 0; })) return result;
    if (limit <= timer) return 0;
  }
}

std::int64_t limit_after(std::int64_t ns) { return ns < 0 ? forever : now_ns() + ns; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int poll(struct pollfd* set, nfds_t count, int timeout_ms) {
  const auto real = ORIGINAL(poll);
  if (!attached() || timeout_ms == 0) return real(set, count, timeout_ms);
  return wait_for_descriptors(
      limit_after(std::int64_t{timeout_ms} * 1'000'000), [&] { return real(set, count, 0); },
      [&] { return real(set, count, -1); });
}

int ppoll(struct pollfd* set, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
  const auto real = ORIGINAL(ppoll);
  if (!attached()) return real(set, count, timeout, mask);
  const timespec none{};
  return wait_for_descriptors(
      timeout == nullptr ? forever : limit_after(to_ns(*timeout)), [&] { return real(set, count, &none, mask); },
      [&] { return real(set, count, nullptr, mask); });
}

int pselect(int count, fd_set* in, fd_set* out, fd_set* other, const struct timespec* timeout, const sigset_t* mask) {
  const auto real = ORIGINAL(pselect);
  if (!attached()) return real(count, in, out, other, timeout, mask);
  const fd_set empty{};
  const fd_set asked[3] = {in ? *in : empty, out ? *out : empty, other ? *other : empty};
  const auto attempt = [&](const timespec* t) {
    if (in != nullptr) *in = asked[0];
    if (out != nullptr) *out = asked[1];
    if (other != nullptr) *other = asked[2];
    return real(count, in, out, other, t, mask);
  };
  const timespec none{};
  return wait_for_descriptors(
      timeout == nullptr ? forever : limit_after(to_ns(*timeout)), [&] { return attempt(&none); },
      [&] { return attempt(nullptr); });
}

int select(int count, fd_set* in, fd_set* out, fd_set* other, struct timeval* timeout) {
  if (!attached()) return ORIGINAL(select)(count, in, out, other, timeout);
  if (timeout == nullptr) return pselect(count, in, out, other, nullptr, nullptr);
  const timespec t{timeout->tv_sec, timeout->tv_usec * 1000};
  return pselect(count, in, out, other, &t, nullptr);
}

int epoll_pwait(int set, struct epoll_event* events, int count, int timeout_ms, const sigset_t* mask) {
  const auto real = ORIGINAL(epoll_pwait);
  if (!attached() || timeout_ms == 0) return real(set, events, count, timeout_ms, mask);
  return wait_for_descriptors(
      limit_after(std::int64_t{timeout_ms} * 1'000'000), [&] { return real(set, events, count, 0, mask); },
      [&] { return real(set, events, count, -1, mask); });
}

int epoll_wait(int set, struct epoll_event* events, int count, int timeout_ms) {
  return epoll_pwait(set, events, count, timeout_ms, nullptr);
}

int timerfd_create(clockid_t clock, int flags) {
  if (!is_virtual(clock)) return ORIGINAL(timerfd_create)(clock, flags);
  const int descriptor =
      eventfd(0, ((flags & TFD_NONBLOCK) != 0 ? EFD_NONBLOCK : 0) | ((flags & TFD_CLOEXEC) != 0 ? EFD_CLOEXEC : 0));
  if (descriptor < 0) return descriptor;
  for (Timer& timer : timers) {
    int free = -1;
    if (!timer.descriptor.compare_exchange_strong(free, descriptor)) continue;
    timer.clock = clock;
    timer.next.store(forever);
    return descriptor;
  }
  close(descriptor);
  errno = EMFILE;
  return -1;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec* value, struct itimerspec* old) {
  Timer* timer = attached() ? timer_of(descriptor) : nullptr;
  if (timer == nullptr) return ORIGINAL(timerfd_settime)(descriptor, flags, value, old);
  if (old != nullptr) *old = {};
  const std::int64_t first = to_ns(value->it_value);
  const bool absolute = (flags & TFD_TIMER_ABSTIME) != 0;
  timer->interval.store(to_ns(value->it_interval));
  timer->next.store(first == 0 ? forever : absolute ? first - offset_of(timer->clock) : now_ns() + first);
  return 0;
}

ssize_t read(int descriptor, void* data, size_t size) {
  const auto real = ORIGINAL(read);
  const Timer* timer = attached() ? timer_of(descriptor) : nullptr;
  if (timer == nullptr) return real(descriptor, data, size);
  pollfd one{descriptor, POLLIN, 0};
  poll(&one, 1, -1);
  return real(descriptor, data, size);
}

int close(int descriptor) {
  if (attached()) {
    if (Timer* timer = timer_of(descriptor)) {
      timer->next.store(forever);
      timer->descriptor.store(-1);
    }
  }
  return ORIGINAL(close)(descriptor);
}

}  // extern "C"
#pragma GCC visibility pop
