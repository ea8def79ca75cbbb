#include "client/interpose/waiting.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "client/interpose/files.hpp"
#include "client/interpose/input.hpp"
#include "client/interpose/system.hpp"

using isochron::protocol::PollEvent;
using isochron::protocol::PollOne;

namespace isochron::interpose {

namespace {

ISOCHRON_ORIGINAL(poll)
ISOCHRON_ORIGINAL(epoll_create1)
ISOCHRON_ORIGINAL(epoll_ctl)
ISOCHRON_ORIGINAL(epoll_pwait)

constexpr std::int64_t look_at_kernel = 1'000'000;  // simulated time between two looks at what the kernel has
clockid_t clocks[protocol::descriptors_max];
std::uint16_t kernel_members[protocol::descriptors_max];  // of an epoll: descriptors that are not simulated

/// Looks at those that are the kernel's; how many have something.
int look(pollfd* set, nfds_t count, bool& any) {
  int found = 0;
  hand_over_input();
  for (nfds_t i = 0; i < count; ++i) {
    set[i].revents = 0;
    if (set[i].fd < 0 || is_simulated(set[i].fd)) continue;
    any = true;
    pollfd one{set[i].fd, set[i].events, 0};
    if (libc_poll(&one, 1, 0) > 0) {
      set[i].revents = one.revents;
      ++found;
    }
  }
  return found;
}

int ask_poll(pollfd* set, nfds_t count, std::int64_t limit) {
  PollOne few[64];
  PollOne* all = count <= 64 ? few : static_cast<PollOne*>(malloc(count * sizeof(PollOne)));
  if (all == nullptr) return returned(-ENOMEM);
  std::size_t n = 0;
  for (nfds_t i = 0; i < count; ++i) {
    if (set[i].fd >= 0 && is_simulated(set[i].fd)) all[n++] = {set[i].fd, set[i].events, 0};
  }
  Call call = call_of(SystemCall::poll);
  call.until = limit;
  if (limit == 0) call.flags = protocol::does_not_wait;
  const std::int64_t result = ask_system(call, all, n * sizeof(PollOne), all, n * sizeof(PollOne));
  n = 0;
  for (nfds_t i = 0; result > 0 && i < count; ++i) {
    if (set[i].fd >= 0 && is_simulated(set[i].fd)) set[i].revents = all[n++].found;
  }
  if (all != few) free(all);
  return returned(result);
}

int ask_epoll(int set, epoll_event* events, int most, std::int64_t limit) {
  PollEvent found[256];
  Call call = call_of(SystemCall::poll_wait, set);
  call.a = std::min(most, 256);
  call.until = limit;
  if (limit == 0) call.flags = protocol::does_not_wait;
  const std::int64_t result = ask_system(call, nullptr, 0, found, sizeof found);
  for (std::int64_t i = 0; i < result; ++i) {
    events[i].events = found[i].events;
    events[i].data.u64 = found[i].data;
  }
  return returned(result);
}

}  // namespace

int poll_until(pollfd* set, nfds_t count, std::int64_t limit) {
  for (;;) {
    bool kernel = false;
    const int there = look(set, count, kernel);
    if (there > 0) {
      const int more = ask_poll(set, count, 0);
      return there + std::max(more, 0);
    }
    const std::int64_t until = kernel && limit != 0 ? std::min(limit, now_ns() + look_at_kernel) : limit;
    const int result = ask_poll(set, count, until);
    if (result != 0 || until == limit) return result;
  }
}

int select_until(int count, fd_set* const (&sets)[3], std::int64_t limit) {
  constexpr short wanted[3] = {POLLIN, POLLOUT, POLLPRI};
  constexpr short counts[3] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};
  pollfd all[FD_SETSIZE];
  nfds_t n = 0;
  for (int fd = 0; fd < count; ++fd) {
    short events = 0;
    for (int i = 0; i < 3; ++i) {
      if (sets[i] != nullptr && FD_ISSET(fd, sets[i])) events = static_cast<short>(events | wanted[i]);
    }
    if (events != 0) all[n++] = {fd, events, 0};
  }
  const int result = poll_until(all, n, limit);
  if (result < 0) return result;
  const std::size_t size = (static_cast<std::size_t>(count) + NFDBITS - 1) / NFDBITS * sizeof(fd_mask);
  for (fd_set* one : sets) {
    if (one != nullptr) memset(one, 0, size);
  }
  int found = 0;
  for (nfds_t k = 0; k < n; ++k) {
    for (int i = 0; i < 3; ++i) {
      if ((all[k].events & wanted[i]) == 0 || (all[k].revents & counts[i]) == 0) continue;
      FD_SET(all[k].fd, sets[i]);
      ++found;
    }
  }
  return found;
}

int epoll_until(int set, epoll_event* events, int most, std::int64_t limit) {
  if (most <= 0) return returned(-EINVAL);
  for (;;) {
    const bool kernel = kernel_members[set] > 0;
    if (kernel) {
      if (const int there = libc_epoll_pwait(set, events, most, 0, nullptr); there > 0) {
        const int more = there < most ? ask_epoll(set, events + there, most - there, 0) : 0;
        return there + std::max(more, 0);
      }
    }
    const std::int64_t until = kernel && limit != 0 ? std::min(limit, now_ns() + look_at_kernel) : limit;
    const int result = ask_epoll(set, events, most, until);
    if (result != 0 || until == limit) return result;
  }
}

int remember_clock(int timer, clockid_t clock) {
  if (timer >= 0) clocks[timer] = clock;
  return timer;
}

static itimerspec left_of(const Call& call) {
  return {from_ns(call.b), from_ns(call.a < 0 ? 0 : std::max<std::int64_t>(1, call.a - now_ns()))};
}

int set_timer(int descriptor, bool absolute, const itimerspec& value, itimerspec* old) {
  Call call = call_of(SystemCall::timer_set, descriptor);
  const std::int64_t first = to_ns(value.it_value);
  call.a =
      first == 0 ? -1 : std::max<std::int64_t>(0, absolute ? first - offset_of(clocks[descriptor]) : now_ns() + first);
  call.b = to_ns(value.it_interval);
  const std::int64_t result = ask_system(call);
  if (result == 0 && old != nullptr) *old = left_of(call);
  return returned(result);
}

int get_timer(int descriptor, itimerspec& value) {
  Call call = call_of(SystemCall::timer_get, descriptor);
  const std::int64_t result = ask_system(call);
  if (result == 0) value = left_of(call);
  return returned(result);
}

}  // namespace isochron::interpose

using namespace isochron::interpose;

#pragma GCC visibility push(default)
extern "C" {

int epoll_create1(int flags) {
  const int set = libc_epoll_create1(flags);
  if (!in_stack()) return set;
  const int opened = opened_as(call_of(SystemCall::poll_set), set);
  if (opened >= 0) kernel_members[opened] = 0;
  return opened;
}
int epoll_create(int) { return epoll_create1(0); }

int epoll_ctl(int set, int operation, int descriptor, struct epoll_event* event) {
  if (!is_simulated(set)) return libc_epoll_ctl(set, operation, descriptor, event);
  if (!is_simulated(descriptor)) {
    const int result = libc_epoll_ctl(set, operation, descriptor, event);
    if (result == 0 && operation == EPOLL_CTL_ADD) ++kernel_members[set];
    if (result == 0 && operation == EPOLL_CTL_DEL) --kernel_members[set];
    return result;
  }
  Call call = call_of(SystemCall::poll_add, set, descriptor);
  call.flags = static_cast<std::uint32_t>(operation);
  if (event != nullptr) {
    call.a = event->events;
    call.b = static_cast<std::int64_t>(event->data.u64);
  }
  return returned(ask_system(call));
}

}  // extern "C"
#pragma GCC visibility pop
