#include "client/interpose/simulated_sockets.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "client/interpose/system.hpp"

using isochron::protocol::Descriptor;

namespace isochron::interpose {

namespace {

ISOCHRON_ORIGINAL(socket)
ISOCHRON_ORIGINAL(socketpair)
ISOCHRON_ORIGINAL(bind)
ISOCHRON_ORIGINAL(listen)
ISOCHRON_ORIGINAL(connect)
ISOCHRON_ORIGINAL(shutdown)
ISOCHRON_ORIGINAL(getsockname)
ISOCHRON_ORIGINAL(getpeername)
ISOCHRON_ORIGINAL(setsockopt)
ISOCHRON_ORIGINAL(getsockopt)
ISOCHRON_ORIGINAL(sendmmsg)
ISOCHRON_ORIGINAL(recvmmsg)
ISOCHRON_ORIGINAL(close)
ISOCHRON_ORIGINAL(sendto)

constexpr int as_socket = static_cast<int>(isochron::protocol::of_socket);
constexpr int plain_type = ~(SOCK_NONBLOCK | SOCK_CLOEXEC);

bool is_followed(int family) { return family == AF_INET || family == AF_INET6 || family == AF_UNIX; }

int option_of(int socket, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  return libc_getsockopt(socket, SOL_SOCKET, name, static_cast<void*>(&value), &length) == 0 ? value : -1;
}

/// A path that the program names from its folder means the same to all processes.
void put_named(Call& call, const sockaddr* address, socklen_t length) {
  put_address(call, address, length);
  if (address == nullptr || length <= sizeof(sa_family_t) || address->sa_family != AF_UNIX) return;
  const char* path = reinterpret_cast<const sockaddr_un*>(address)->sun_path;
  char whole[PATH_MAX];
  if (*path == 0 || *path == '/' || getcwd(whole, sizeof whole) == nullptr) return;
  sockaddr_un absolute{};
  absolute.sun_family = AF_UNIX;
  snprintf(absolute.sun_path, sizeof absolute.sun_path, "%.60s/%.*s", whole,
           static_cast<int>(length - offsetof(sockaddr_un, sun_path)), path);
  put_address(call, &absolute, sizeof absolute);
}

bool is_path(const sockaddr* address, socklen_t length) {
  return address->sa_family == AF_UNIX && length > offsetof(sockaddr_un, sun_path) &&
         reinterpret_cast<const sockaddr_un*>(address)->sun_path[0] != 0;
}

/// A message in one piece.
struct Whole {
  explicit Whole(const msghdr& message) {
    for (std::size_t i = 0; i < message.msg_iovlen; ++i) size += message.msg_iov[i].iov_len;
    data = size <= sizeof few ? few : static_cast<char*>(malloc(size));
  }
  ~Whole() {
    if (data != few) free(data);
  }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  std::size_t size = 0;
  char* data = nullptr;
  char few[2048];
};

bool wants_time[protocol::descriptors_max];  // SO_TIMESTAMP

void put_time(msghdr& message, int socket, std::int64_t at) {
  if (!wants_time[socket] || message.msg_controllen < CMSG_SPACE(sizeof(timeval))) {
    message.msg_controllen = 0;
    return;
  }
  const timeval t = from_ns_us(at + epoch_ns());
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_TIMESTAMP;
  head->cmsg_len = CMSG_LEN(sizeof t);
  memcpy(CMSG_DATA(head), &t, sizeof t);
  message.msg_controllen = CMSG_SPACE(sizeof t);
}

}  // namespace

int accept_simulated(int socket, sockaddr* from, socklen_t* length, int flags) {
  const int family = option_of(socket, SO_DOMAIN);
  if (family < 0) return -1;
  const int stand_in = libc_socket(family, option_of(socket, SO_TYPE) | flags, 0);
  if (stand_in < 0) return stand_in;
  Call call = call_of(SystemCall::accept, socket, stand_in);
  set_waiting(call, 0, receive_limit(socket));
  const std::int64_t result = ask_again(call);
  if (result < 0 || stand_in >= protocol::descriptors_max) {
    libc_close(stand_in);
    return returned(result < 0 ? result : -EMFILE);
  }
  set_kind(stand_in, Descriptor::simulated);
  get_address(call, from, length);
  return stand_in;
}

ssize_t receive_simulated(int socket, void* data, std::size_t size, int flags, sockaddr* from, socklen_t* length) {
  Call answer;
  std::size_t got = 0;
  for (;;) {
    const ssize_t part = simulated_read(socket, static_cast<char*>(data) + got, size - got, flags | as_socket, &answer);
    if (part < 0) return got > 0 ? static_cast<ssize_t>(got) : part;
    got += static_cast<std::size_t>(part);
    if ((flags & MSG_WAITALL) == 0 || part == 0 || got >= size || option_of(socket, SO_TYPE) != SOCK_STREAM) break;
  }
  get_address(answer, from, length);
  return static_cast<ssize_t>(got);
}

ssize_t receive_message(int socket, msghdr& message, int flags) {
  Whole whole(message);
  if (whole.data == nullptr) return returned<ssize_t>(-ENOMEM);
  Call answer;
  const ssize_t size = simulated_read(socket, whole.data, whole.size, flags | as_socket, &answer);
  if (size < 0) return size;
  std::size_t left = std::min<std::size_t>(static_cast<std::size_t>(size), whole.size), at = 0;
  for (std::size_t i = 0; i < message.msg_iovlen && left > 0; ++i) {
    const std::size_t part = std::min(left, message.msg_iov[i].iov_len);
    memcpy(message.msg_iov[i].iov_base, whole.data + at, part);
    at += part;
    left -= part;
  }
  if (message.msg_name != nullptr) get_address(answer, message.msg_name, &message.msg_namelen);
  put_time(message, socket, answer.a);
  message.msg_flags = answer.second;
  return size;
}

ssize_t send_simulated(int socket, const void* data, std::size_t size, int flags, const sockaddr* to,
                       socklen_t length) {
  if (to == nullptr) return simulated_write(socket, data, size, flags | as_socket);
  Call named = call_of(SystemCall::write);
  put_named(named, to, length);
  const ssize_t sent = simulated_write(socket, data, size, flags | as_socket, named.address, named.address_size);
  if (sent >= 0 || errno != EREMOTE) return sent;
  closed_descriptor(socket);
  return libc_sendto(socket, data, size, flags, to, length);
}

ssize_t send_message(int socket, const msghdr& message, int flags) {
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(const_cast<msghdr*>(&message), head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    constexpr char text[] = "sends a descriptor over a socket (SCM_RIGHTS), which is not followed yet";
    Call call = call_of(SystemCall::refused);
    ask_system(call, text, sizeof text - 1);
    return returned<ssize_t>(-EPERM);
  }
  Whole whole(message);
  if (whole.data == nullptr) return returned<ssize_t>(-ENOMEM);
  std::size_t at = 0;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i) {
    memcpy(whole.data + at, message.msg_iov[i].iov_base, message.msg_iov[i].iov_len);
    at += message.msg_iov[i].iov_len;
  }
  return send_simulated(socket, whole.data, whole.size, flags, static_cast<const sockaddr*>(message.msg_name),
                        message.msg_namelen);
}

// The kernel keeps them too, on what stands for the socket; the system is told those that it acts by.
int set_option(int socket, int level, int name, const void* value, socklen_t length) {
  int number = 0;
  if (length >= sizeof number) memcpy(&number, value, sizeof number);
  Call call = call_of(SystemCall::option, socket);
  call.a = level;
  call.b = name;
  call.c = number;
  if (level == SOL_SOCKET && name == SO_TIMESTAMP) wants_time[socket] = number != 0;
  const bool member = level == IPPROTO_IP && (name == IP_ADD_MEMBERSHIP || name == IP_DROP_MEMBERSHIP);
  if (member) {
    std::uint32_t group = 0;
    memcpy(&group, value, sizeof group);
    call.c = ntohl(group);
  }
  const bool told = member || (level == IPPROTO_IP && name == IP_MULTICAST_LOOP) ||
                    (level == SOL_SOCKET && (name == SO_REUSEADDR || name == SO_REUSEPORT));
  if (told) {
    if (const std::int64_t result = ask_system(call); result < 0 || member) return returned(result);
  }
  if (level == IPPROTO_IP && name == IP_MULTICAST_IF) return 0;
  return libc_setsockopt(socket, level, name, value, length);
}

int get_option(int socket, int name, void* value, socklen_t* length) {
  Call call = call_of(SystemCall::error, socket);
  const std::int64_t result = name == SO_ERROR ? ask_system(call) : 0;
  if (result < 0) return returned(result);
  const int number = static_cast<int>(result);
  memcpy(value, &number, std::min<std::size_t>(*length, sizeof number));
  *length = sizeof number;
  return 0;
}

}  // namespace isochron::interpose

using namespace isochron::interpose;
namespace protocol = isochron::protocol;

#pragma GCC visibility push(default)
extern "C" {

int socket(int family, int type, int number) {
  if (!in_stack() || !is_followed(family)) return libc_socket(family, type, number);
  Call call = call_of(SystemCall::socket);
  call.a = family;
  call.b = type & plain_type;
  call.c = number;
  return opened_as(call, libc_socket(family, type, number));
}

int socketpair(int family, int type, int number, int ends[2]) {
  const int result = libc_socketpair(family, type, number, ends);
  if (result != 0 || !in_stack()) return result;
  Call call = call_of(SystemCall::socket_pair, ends[0], ends[1]);
  call.a = family;
  call.b = type & plain_type;
  const std::int64_t error = std::max(ends[0], ends[1]) >= protocol::descriptors_max ? -EMFILE : ask_system(call);
  if (error < 0) {
    libc_close(ends[0]);
    libc_close(ends[1]);
    return returned(error);
  }
  set_kind(ends[0], Descriptor::simulated);
  set_kind(ends[1], Descriptor::simulated);
  return 0;
}

int bind(int socket, const struct sockaddr* address, socklen_t length) {
  if (!is_simulated(socket)) return libc_bind(socket, address, length);
  // The name in the file system is a real one.
  if (is_path(address, length)) {
    if (const int result = libc_bind(socket, address, length); result != 0) return result;
  }
  Call call = call_of(SystemCall::bind, socket);
  put_named(call, address, length);
  return returned(ask_system(call));
}

int listen(int socket, int backlog) {
  if (!is_simulated(socket)) return libc_listen(socket, backlog);
  Call call = call_of(SystemCall::listen, socket);
  call.a = backlog;
  return returned(ask_system(call));
}

int connect(int socket, const struct sockaddr* address, socklen_t length) {
  if (!is_simulated(socket)) return libc_connect(socket, address, length);
  struct stat status {};
  if (is_path(address, length) && stat(reinterpret_cast<const sockaddr_un*>(address)->sun_path, &status) != 0)
    return -1;
  Call call = call_of(SystemCall::connect, socket);
  put_named(call, address, length);
  const Call asked = call;
  set_waiting(call, 0, send_limit(socket));
  std::int64_t result = ask_again(call);
  if (result == -EREMOTE) {  // it is outside: what stands for the socket does from here on what it is
    closed_descriptor(socket);
    return libc_connect(socket, address, length);
  }
  if (result == -EINPROGRESS && (asked.flags & protocol::does_not_wait) == 0) errno = EINPROGRESS;
  return returned(result);
}

int shutdown(int socket, int how) {
  if (!is_simulated(socket)) return libc_shutdown(socket, how);
  Call call = call_of(SystemCall::shutdown, socket);
  call.a = how;
  return returned(ask_system(call));
}

static int name_of(int socket, int whose, struct sockaddr* address, socklen_t* length) {
  Call call = call_of(SystemCall::name, socket);
  call.a = whose;
  const std::int64_t result = ask_system(call);
  if (result == 0) get_address(call, address, length);
  return returned(result);
}
int getsockname(int socket, struct sockaddr* __restrict address, socklen_t* __restrict length) {
  return is_simulated(socket) ? name_of(socket, 0, address, length) : libc_getsockname(socket, address, length);
}
int getpeername(int socket, struct sockaddr* __restrict address, socklen_t* __restrict length) {
  return is_simulated(socket) ? name_of(socket, 1, address, length) : libc_getpeername(socket, address, length);
}

int sendmmsg(int socket, struct mmsghdr* messages, unsigned count, int flags) {
  if (!is_simulated(socket)) return libc_sendmmsg(socket, messages, count, flags);
  for (unsigned i = 0; i < count; ++i) {
    const ssize_t size = send_message(socket, messages[i].msg_hdr, flags);
    if (size < 0) return i > 0 ? static_cast<int>(i) : -1;
    messages[i].msg_len = static_cast<unsigned>(size);
  }
  return static_cast<int>(count);
}

int recvmmsg(int socket, struct mmsghdr* messages, unsigned count, int flags, struct timespec* timeout) {
  if (!is_simulated(socket)) return libc_recvmmsg(socket, messages, count, flags, timeout);
  for (unsigned i = 0; i < count; ++i) {
    const bool waits = i == 0 || (flags & MSG_WAITFORONE) == 0;
    const ssize_t size =
        receive_message(socket, messages[i].msg_hdr, (flags & ~MSG_WAITFORONE) | (waits ? 0 : MSG_DONTWAIT));
    if (size < 0) return i > 0 ? static_cast<int>(i) : -1;
    messages[i].msg_len = static_cast<unsigned>(size);
  }
  return static_cast<int>(count);
}

}  // extern "C"
#pragma GCC visibility pop
