// Waits with a time limit for descriptors: poll, select, epoll, and timers that are descriptors. A virtual timer is an
// eventfd that is rung when its simulated time has come, which everybody who could wait for it looks at.

#include "client/interpose/files.hpp"

#include "client/interpose/chance.hpp"
#include "client/interpose/input.hpp"
#include "client/interpose/system.hpp"
#include "client/interpose/waiting.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

using namespace isochron::interpose;
namespace protocol = isochron::protocol;

// What programs compiled with _FORTIFY_SOURCE call instead.
extern "C" {
int __poll_chk(struct pollfd* set, nfds_t count, int timeout_ms, size_t room);
int __ppoll_chk(struct pollfd* set, nfds_t count, const struct timespec* timeout, const sigset_t* mask, size_t room);
ssize_t __read_chk(int descriptor, void* data, size_t size, size_t room);
}

namespace {

ISOCHRON_ORIGINAL(poll)
ISOCHRON_ORIGINAL(ppoll)
ISOCHRON_ORIGINAL(select)
ISOCHRON_ORIGINAL(pselect)
ISOCHRON_ORIGINAL(epoll_pwait)
ISOCHRON_ORIGINAL(timerfd_create)
ISOCHRON_ORIGINAL(timerfd_settime)
ISOCHRON_ORIGINAL(timerfd_gettime)
ISOCHRON_ORIGINAL(close)
ISOCHRON_ORIGINAL(__poll_chk)
ISOCHRON_ORIGINAL(__ppoll_chk)
ISOCHRON_ORIGINAL(__read_chk)

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

itimerspec left_of(const Timer& timer) {
  const std::int64_t next = timer.next.load();
  return {from_ns(timer.interval.load()), from_ns(next == forever ? 0 : std::max<std::int64_t>(1, next - now_ns()))};
}

// Whether something came, looked at by another thread: what stands in the set of the one that waits is not touched.
struct PollSet {
  const pollfd* set;
  nfds_t count;
};
bool set_is_ready(void* with) {
  const auto& whole = *static_cast<const PollSet*>(with);
  constexpr nfds_t most = 256;
  pollfd copy[most];
  const nfds_t count = std::min(whole.count, most);
  for (nfds_t i = 0; i < count; ++i) copy[i] = {whole.set[i].fd, whole.set[i].events, 0};
  return libc_poll(copy, count, 0) != 0;
}
bool one_is_ready(void* with) {
  PollSet one{static_cast<const pollfd*>(with), 1};
  return set_is_ready(&one);
}

}  // namespace

namespace isochron::interpose {

std::int64_t ring_timers() {
  std::int64_t earliest = hand_over_input();
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

bool wait_for_descriptor(int descriptor, short events, std::int64_t limit) {
  pollfd one{descriptor, events, 0};
  return wait_for_descriptors(
             limit, [&] { return libc_poll(&one, 1, 0); }, [&] { return libc_poll(&one, 1, -1); }, one_is_ready,
             &one) != 0;
}

bool meets_others(int descriptor) {
  const OrderMode mode = order_mode();
  if (mode != OrderMode::logged && mode != OrderMode::followed) return false;
  pollfd one{descriptor, POLLOUT, 0};
  return libc_poll(&one, 1, 0) == 1 && (one.revents & POLLOUT) != 0;
}

bool only_looks(int descriptor, int flags) {
  const OrderMode mode = order_mode();
  if (mode != OrderMode::logged && mode != OrderMode::followed) return false;
  return (flags & MSG_DONTWAIT) != 0 || !is_blocking(descriptor);
}

void wait_outside(int descriptor, short events, int flags) {
  if (order_mode() != OrderMode::baton || (flags & MSG_DONTWAIT) != 0 || !is_blocking(descriptor)) return;
  pollfd one{descriptor, events, 0};
  while (libc_poll(&one, 1, 0) == 0) {
    if (step_back()) continue;
    const Outside outside(one_is_ready, &one);
    libc_poll(&one, 1, -1);
    return;
  }
}

}  // namespace isochron::interpose

#pragma GCC visibility push(default)
extern "C" {

int poll(struct pollfd* set, nfds_t count, int timeout_ms) {
  if (!attached()) return libc_poll(set, count, timeout_ms);
  if (in_stack())
    return poll_until(set, count,
                      timeout_ms == 0 ? 0 : limit_after(timeout_ms < 0 ? -1 : std::int64_t{timeout_ms} * 1'000'000));
  if (timeout_ms == 0) return in_order([&] { return libc_poll(set, count, 0); });
  PollSet whole{set, count};
  return wait_for_descriptors(
      limit_after(timeout_ms < 0 ? -1 : std::int64_t{timeout_ms} * 1'000'000), [&] { return libc_poll(set, count, 0); },
      [&] { return libc_poll(set, count, -1); }, set_is_ready, &whole);
}

int __poll_chk(struct pollfd* set, nfds_t count, int timeout_ms, size_t room) {
  if (!attached() || count * sizeof *set > room) return libc___poll_chk(set, count, timeout_ms, room);
  return poll(set, count, timeout_ms);
}

int ppoll(struct pollfd* set, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
  if (!attached()) return libc_ppoll(set, count, timeout, mask);
  if (in_stack()) {
    const MaskedSignals masked(mask);
    return poll_until(set, count,
                      timeout == nullptr     ? forever
                      : to_ns(*timeout) == 0 ? 0
                                             : limit_after(to_ns(*timeout)));
  }
  const timespec none{};
  PollSet whole{set, count};
  return wait_for_descriptors(
      timeout == nullptr ? forever : limit_after(to_ns(*timeout)), [&] { return libc_ppoll(set, count, &none, mask); },
      [&] { return libc_ppoll(set, count, nullptr, mask); }, set_is_ready, &whole);
}

int __ppoll_chk(struct pollfd* set, nfds_t count, const struct timespec* timeout, const sigset_t* mask, size_t room) {
  if (!attached() || count * sizeof *set > room) return libc___ppoll_chk(set, count, timeout, mask, room);
  return ppoll(set, count, timeout, mask);
}

int pselect(int count, fd_set* in, fd_set* out, fd_set* other, const struct timespec* timeout, const sigset_t* mask) {
  if (!attached() || count < 0 || count > FD_SETSIZE) return libc_pselect(count, in, out, other, timeout, mask);
  // Only as many words as `count` needs: who knows its descriptors are few has no whole fd_set.
  const std::size_t size = (static_cast<std::size_t>(count) + NFDBITS - 1) / NFDBITS * sizeof(fd_mask);
  fd_set* const sets[] = {in, out, other};
  if (in_stack()) {
    const MaskedSignals masked(mask);
    return select_until(count, sets,
                        timeout == nullptr     ? forever
                        : to_ns(*timeout) == 0 ? 0
                                               : limit_after(to_ns(*timeout)));
  }
  fd_set asked[3];
  for (int i = 0; i < 3; ++i) {
    if (sets[i] != nullptr) memcpy(&asked[i], sets[i], size);
  }
  struct Selected {
    int count;
    fd_set asked[3];
  } selected{};
  selected.count = count;
  for (int i = 0; i < 3; ++i) {
    if (sets[i] != nullptr) memcpy(&selected.asked[i], sets[i], size);
  }
  const auto attempt = [&](const timespec* t) {
    for (int i = 0; i < 3; ++i) {
      if (sets[i] != nullptr) memcpy(sets[i], &asked[i], size);
    }
    return libc_pselect(count, in, out, other, t, mask);
  };
  const timespec none{};
  return wait_for_descriptors(
      timeout == nullptr ? forever : limit_after(to_ns(*timeout)), [&] { return attempt(&none); },
      [&] { return attempt(nullptr); },
      [](void* with) {
        auto& look = *static_cast<Selected*>(with);
        fd_set copies[3];
        for (int i = 0; i < 3; ++i) memcpy(&copies[i], &look.asked[i], sizeof copies[i]);
        const timespec at_once{};
        return libc_pselect(look.count, &copies[0], &copies[1], &copies[2], &at_once, nullptr) != 0;
      },
      &selected);
}

int select(int count, fd_set* in, fd_set* out, fd_set* other, struct timeval* timeout) {
  if (!attached() || count < 0 || count > FD_SETSIZE) return libc_select(count, in, out, other, timeout);
  if (timeout == nullptr) return pselect(count, in, out, other, nullptr, nullptr);
  const timespec t = from_ns(to_ns(*timeout));
  const std::int64_t until = now_ns() + to_ns(t);
  const int result = pselect(count, in, out, other, &t, nullptr);
  *timeout = from_ns_us(std::max<std::int64_t>(0, until - now_ns()));  // as Linux does
  return result;
}

int epoll_pwait(int set, struct epoll_event* events, int count, int timeout_ms, const sigset_t* mask) {
  if (!attached()) return libc_epoll_pwait(set, events, count, timeout_ms, mask);
  if (is_simulated(set)) {
    const MaskedSignals masked(mask);
    return epoll_until(set, events, count,
                       timeout_ms == 0 ? 0 : limit_after(timeout_ms < 0 ? -1 : std::int64_t{timeout_ms} * 1'000'000));
  }
  if (timeout_ms == 0) return in_order([&] { return libc_epoll_pwait(set, events, count, 0, mask); });
  pollfd whole{set, POLLIN, 0};  // as a descriptor itself: to look takes no event away
  return wait_for_descriptors(
      limit_after(timeout_ms < 0 ? -1 : std::int64_t{timeout_ms} * 1'000'000),
      [&] { return libc_epoll_pwait(set, events, count, 0, mask); },
      [&] { return libc_epoll_pwait(set, events, count, -1, mask); }, one_is_ready, &whole);
}

int epoll_wait(int set, struct epoll_event* events, int count, int timeout_ms) {
  return epoll_pwait(set, events, count, timeout_ms, nullptr);
}

int epoll_pwait2(int set, struct epoll_event* events, int count, const struct timespec* timeout, const sigset_t* mask) {
  if (!attached()) {  // what libc has may be missing in the kernel, and the other way round
    return epoll_pwait(set, events, count,
                       timeout == nullptr ? -1 : static_cast<int>((to_ns(*timeout) + 999'999) / 1'000'000), mask);
  }
  if (is_simulated(set)) {
    const MaskedSignals masked(mask);
    return epoll_until(set, events, count,
                       timeout == nullptr     ? forever
                       : to_ns(*timeout) == 0 ? 0
                                              : limit_after(to_ns(*timeout)));
  }
  pollfd whole{set, POLLIN, 0};
  return wait_for_descriptors(
      timeout == nullptr ? forever : limit_after(to_ns(*timeout)),
      [&] { return libc_epoll_pwait(set, events, count, 0, mask); },
      [&] { return libc_epoll_pwait(set, events, count, -1, mask); }, one_is_ready, &whole);
}

int timerfd_create(clockid_t clock, int flags) {
  if (!is_virtual(clock)) return libc_timerfd_create(clock, flags);
  if (in_stack())
    return remember_clock(opened_as(call_of(SystemCall::timer), libc_timerfd_create(clock, flags)), clock);
  const int descriptor =
      eventfd(0, ((flags & TFD_NONBLOCK) != 0 ? EFD_NONBLOCK : 0) | ((flags & TFD_CLOEXEC) != 0 ? EFD_CLOEXEC : 0));
  if (descriptor < 0) return descriptor;
  for (Timer& timer : timers) {
    int free = -1;
    if (!timer.descriptor.compare_exchange_strong(free, descriptor)) continue;
    timer.clock = clock;
    timer.interval.store(0);
    timer.next.store(forever);
    return descriptor;
  }
  libc_close(descriptor);
  errno = EMFILE;
  return -1;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec* value, struct itimerspec* old) {
  if (is_simulated(descriptor)) return set_timer(descriptor, (flags & TFD_TIMER_ABSTIME) != 0, *value, old);
  Timer* timer = attached() ? timer_of(descriptor) : nullptr;
  if (timer == nullptr) return libc_timerfd_settime(descriptor, flags, value, old);
  if (old != nullptr) *old = left_of(*timer);
  const std::int64_t first = to_ns(value->it_value);
  const bool absolute = (flags & TFD_TIMER_ABSTIME) != 0;
  timer->interval.store(to_ns(value->it_interval));
  timer->next.store(first == 0 ? forever : absolute ? first - offset_of(timer->clock) : now_ns() + first);
  return 0;
}

int timerfd_gettime(int descriptor, struct itimerspec* value) {
  if (is_simulated(descriptor)) return get_timer(descriptor, *value);
  const Timer* timer = attached() ? timer_of(descriptor) : nullptr;
  if (timer == nullptr) return libc_timerfd_gettime(descriptor, value);
  *value = left_of(*timer);
  return 0;
}

ssize_t read(int descriptor, void* data, size_t size) {
  if (!attached()) return plain_read(descriptor, data, size);
  if (is_simulated(descriptor)) return simulated_read(descriptor, data, size, 0);
  if (gives_chance(descriptor)) {
    draw(data, size);
    return static_cast<ssize_t>(size);
  }
  if (timer_of(descriptor) != nullptr) {
    if (is_blocking(descriptor)) {
      wait_for_descriptor(descriptor, POLLIN, forever);
    } else {
      ring_timers();
    }
  } else if (is_fed(descriptor)) {
    if (is_blocking(descriptor)) {
      await_input(descriptor);
    } else {
      hand_over_input();
    }
  } else if (!arrives_in_time(descriptor, 0)) {
    return -1;
  }
  if (only_looks(descriptor, 0)) return in_order([&] { return plain_read(descriptor, data, size); });
  return plain_read(descriptor, data, size);
}

// What one thread writes another may find: that has its place in the order, unless the write would wait.
ssize_t write(int descriptor, const void* data, size_t size) {
  const protocol::Descriptor kind = kind_of(descriptor);
  if (kind == protocol::Descriptor::simulated) return simulated_write(descriptor, data, size, 0);
  if (kind == protocol::Descriptor::output && shared_pages()->prints != 0 && !is_asking()) return print(data, size);
  if (!meets_others(descriptor)) return plain_write(descriptor, data, size);
  return in_order([&] { return plain_write(descriptor, data, size); });
}

ssize_t __read_chk(int descriptor, void* data, size_t size, size_t room) {
  if (!attached() || size > room) return libc___read_chk(descriptor, data, size, room);
  return read(descriptor, data, size);
}

int close(int descriptor) {
  if (attached()) {
    if (Timer* timer = timer_of(descriptor)) {
      timer->next.store(forever);
      timer->descriptor.store(-1);
    }
    forget_limits(descriptor);
    forget_chance(descriptor);
    closed_descriptor(descriptor);
  }
  return libc_close(descriptor);
}

}  // extern "C"
#pragma GCC visibility pop
