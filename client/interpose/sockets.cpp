// Time limits that a socket carries itself: SO_RCVTIMEO and SO_SNDTIMEO. They are kept here and not told to the kernel,
// whose clock is the wrong one; calls that would wait look first, in simulated time.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "client/interpose/files.hpp"
#include "client/interpose/simulated_sockets.hpp"
#include "client/interpose/system.hpp"

using namespace isochron::interpose;

extern "C" {
ssize_t __recv_chk(int socket, void* data, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int socket, void* data, size_t size, size_t room, int flags, struct sockaddr* from,
                       socklen_t* length);
}

namespace {

ISOCHRON_ORIGINAL(setsockopt)
ISOCHRON_ORIGINAL(getsockopt)
ISOCHRON_ORIGINAL(recv)
ISOCHRON_ORIGINAL(recvfrom)
ISOCHRON_ORIGINAL(recvmsg)
ISOCHRON_ORIGINAL(accept)
ISOCHRON_ORIGINAL(accept4)
ISOCHRON_ORIGINAL(send)
ISOCHRON_ORIGINAL(sendto)
ISOCHRON_ORIGINAL(sendmsg)
ISOCHRON_ORIGINAL(__recv_chk)
ISOCHRON_ORIGINAL(__recvfrom_chk)

constexpr int descriptors_max = 4096;
struct Limits {
  std::atomic<std::int64_t> receive{0};  // 0 = none
  std::atomic<std::int64_t> send{0};
};
Limits limits[descriptors_max];
std::atomic<bool> any_limits{false};

Limits* limits_of(int descriptor) {
  return descriptor >= 0 && descriptor < descriptors_max ? &limits[descriptor] : nullptr;
}

std::atomic<std::int64_t>* limit_named(int socket, int level, int name) {
  Limits* both = level == SOL_SOCKET ? limits_of(socket) : nullptr;
  if (both == nullptr) return nullptr;
  return name == SO_RCVTIMEO ? &both->receive : name == SO_SNDTIMEO ? &both->send : nullptr;
}

bool in_time(int descriptor, int flags, short events, std::int64_t limit) {
  if (limit == 0 || (flags & MSG_DONTWAIT) != 0 || !is_blocking(descriptor)) return true;
  if (wait_for_descriptor(descriptor, events, now_ns() + limit)) return true;
  errno = EAGAIN;
  return false;
}

bool leaves_in_time(int descriptor, int flags) {
  if (!any_limits.load(std::memory_order_relaxed) || !attached()) return true;
  const Limits* both = limits_of(descriptor);
  return both == nullptr || in_time(descriptor, flags, POLLOUT, both->send.load());
}

}  // namespace

namespace isochron::interpose {

bool is_blocking(int descriptor) { return (fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0; }

bool arrives_in_time(int descriptor, int flags) {
  if (!attached()) return true;
  const Limits* both = any_limits.load(std::memory_order_relaxed) ? limits_of(descriptor) : nullptr;
  if (both != nullptr && both->receive.load() != 0) return in_time(descriptor, flags, POLLIN, both->receive.load());
  wait_outside(descriptor, POLLIN, flags);
  return true;
}

std::int64_t receive_limit(int descriptor) {
  const Limits* both = any_limits.load(std::memory_order_relaxed) ? limits_of(descriptor) : nullptr;
  return both == nullptr || both->receive.load() == 0 ? forever : now_ns() + both->receive.load();
}
std::int64_t send_limit(int descriptor) {
  const Limits* both = any_limits.load(std::memory_order_relaxed) ? limits_of(descriptor) : nullptr;
  return both == nullptr || both->send.load() == 0 ? forever : now_ns() + both->send.load();
}

void forget_limits(int descriptor) {
  if (Limits* both = limits_of(descriptor)) {
    both->receive.store(0, std::memory_order_relaxed);
    both->send.store(0, std::memory_order_relaxed);
  }
}

}  // namespace isochron::interpose

namespace {
template <class Send>
ssize_t sent_in_order(int socket, Send&& send) {
  return meets_others(socket) ? in_order(send) : send();
}
template <class Receive>
ssize_t received_in_order(int socket, int flags, Receive&& receive) {
  if (!arrives_in_time(socket, flags)) return -1;
  return only_looks(socket, flags) ? in_order(receive) : receive();
}
}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int setsockopt(int socket, int level, int name, const void* value, socklen_t length) {
  std::atomic<std::int64_t>* limit = attached() ? limit_named(socket, level, name) : nullptr;
  if (limit == nullptr && is_simulated(socket)) return set_option(socket, level, name, value, length);
  if (limit == nullptr || length < sizeof(timeval)) return libc_setsockopt(socket, level, name, value, length);
  timeval t;
  memcpy(&t, value, sizeof t);
  const timeval none{};
  if (const int failed = libc_setsockopt(socket, level, name, &none, socklen_t{sizeof none}); failed != 0)
    return failed;
  limit->store(to_ns(t));
  any_limits.store(true);
  return 0;
}

int getsockopt(int socket, int level, int name, void* __restrict value, socklen_t* __restrict length) {
  const std::atomic<std::int64_t>* limit = attached() ? limit_named(socket, level, name) : nullptr;
  if (level == SOL_SOCKET && (name == SO_ERROR || name == SO_ACCEPTCONN) && is_simulated(socket)) {
    return get_option(socket, name, value, length);
  }
  if (limit == nullptr || *length < sizeof(timeval)) return libc_getsockopt(socket, level, name, value, length);
  const timeval t = from_ns_us(limit->load());
  memcpy(value, &t, sizeof t);
  *length = sizeof t;
  return 0;
}

ssize_t recv(int socket, void* data, size_t size, int flags) {
  if (is_simulated(socket)) return receive_simulated(socket, data, size, flags, nullptr, nullptr);
  return received_in_order(socket, flags, [&] { return libc_recv(socket, data, size, flags); });
}
ssize_t __recv_chk(int socket, void* data, size_t size, size_t room, int flags) {
  if (size <= room && is_simulated(socket)) return receive_simulated(socket, data, size, flags, nullptr, nullptr);
  return received_in_order(socket, flags, [&] { return libc___recv_chk(socket, data, size, room, flags); });
}
ssize_t recvfrom(int socket, void* __restrict data, size_t size, int flags, struct sockaddr* __restrict from,
                 socklen_t* __restrict length) {
  if (is_simulated(socket)) return receive_simulated(socket, data, size, flags, from, length);
  return received_in_order(socket, flags, [&] { return libc_recvfrom(socket, data, size, flags, from, length); });
}
ssize_t __recvfrom_chk(int socket, void* data, size_t size, size_t room, int flags, struct sockaddr* from,
                       socklen_t* length) {
  if (size <= room && is_simulated(socket)) return receive_simulated(socket, data, size, flags, from, length);
  return received_in_order(socket, flags,
                           [&] { return libc___recvfrom_chk(socket, data, size, room, flags, from, length); });
}
ssize_t recvmsg(int socket, struct msghdr* message, int flags) {
  if (is_simulated(socket)) return receive_message(socket, *message, flags);
  return received_in_order(socket, flags, [&] { return libc_recvmsg(socket, message, flags); });
}
int accept(int socket, struct sockaddr* __restrict from, socklen_t* __restrict length) {
  if (is_simulated(socket)) return accept_simulated(socket, from, length, 0);
  return arrives_in_time(socket, 0) ? libc_accept(socket, from, length) : -1;
}
int accept4(int socket, struct sockaddr* __restrict from, socklen_t* __restrict length, int flags) {
  if (is_simulated(socket)) return accept_simulated(socket, from, length, flags);
  return arrives_in_time(socket, 0) ? libc_accept4(socket, from, length, flags) : -1;
}
ssize_t send(int socket, const void* data, size_t size, int flags) {
  if (is_simulated(socket)) return send_simulated(socket, data, size, flags, nullptr, 0);
  return leaves_in_time(socket, flags) ? sent_in_order(socket, [&] { return libc_send(socket, data, size, flags); })
                                       : -1;
}
ssize_t sendto(int socket, const void* data, size_t size, int flags, const struct sockaddr* to, socklen_t length) {
  if (is_simulated(socket)) return send_simulated(socket, data, size, flags, to, length);
  return leaves_in_time(socket, flags)
             ? sent_in_order(socket, [&] { return libc_sendto(socket, data, size, flags, to, length); })
             : -1;
}
ssize_t sendmsg(int socket, const struct msghdr* message, int flags) {
  if (is_simulated(socket)) return send_message(socket, *message, flags);
  return leaves_in_time(socket, flags) ? sent_in_order(socket, [&] { return libc_sendmsg(socket, message, flags); })
                                       : -1;
}

}  // extern "C"
#pragma GCC visibility pop
