#include "link/socket.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace isochron::link {

socklen_t to_system(const Address& address, int family, SocketAddress& out) {
  if (family == AF_INET6) {
    out.v6 = {};
    out.v6.sin6_family = AF_INET6;
    out.v6.sin6_port = htons(address.port);
    std::memcpy(&out.v6.sin6_addr, address.ip.data(), 16);
    return sizeof out.v6;
  }
  if (!address.is_v4()) return 0;
  out.v4 = {};
  out.v4.sin_family = AF_INET;
  out.v4.sin_port = htons(address.port);
  std::memcpy(&out.v4.sin_addr, address.ip.data() + 12, 4);
  return sizeof out.v4;
}

Address from_system(const SocketAddress& address) {
  if (address.any.sa_family == AF_INET6) {
    Address result;
    std::memcpy(result.ip.data(), &address.v6.sin6_addr, 16);
    result.port = ntohs(address.v6.sin6_port);
    return result;
  }
  Address result = Address::v4(0, 0, 0, 0, ntohs(address.v4.sin_port));
  std::memcpy(result.ip.data() + 12, &address.v4.sin_addr, 4);
  return result;
}

namespace {

NetFault fault_of(int error) {
  switch (error) {
    case ECONNREFUSED:
      return NetFault::refused;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ETIMEDOUT:
      return NetFault::unreachable;
    case EADDRINUSE:
      return NetFault::in_use;
    case EACCES:
    case EPERM:
      return NetFault::denied;
    case ECONNRESET:
    case EPIPE:
      return NetFault::closed;
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
    case EINVAL:
      return NetFault::bad_address;
    case EMSGSIZE:
      return NetFault::too_long;
    default:
      return NetFault::other;
  }
}

}  // namespace

NetError net_error(int error, const Address& about) {
  return {fault_of(error), to_string(about) + ": " + std::generic_category().message(error)};
}

void set_option(const Fd& socket, int level, int option, int value) {
  // Options only tune; without one the socket still works.
  [[maybe_unused]] const int ignored = ::setsockopt(socket.get(), level, option, &value, sizeof value);
}

Result<Fd, NetError> bound_socket(const Address& at, int type) {
  const int family = family_of(at);
  Fd socket(::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return fail(net_error(errno, at));
  if (family == AF_INET6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (type == SOCK_STREAM) set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  SocketAddress address;
  const socklen_t length = to_system(at, family, address);
  if (::bind(socket.get(), &address.any, length) != 0) return fail(net_error(errno, at));
  return socket;
}

Address local_address(const Fd& socket) {
  SocketAddress address{};
  socklen_t length = sizeof address;
  ENSURE(::getsockname(socket.get(), &address.any, &length) == 0, "an open socket has an address");
  return from_system(address);
}

}  // namespace isochron::link
