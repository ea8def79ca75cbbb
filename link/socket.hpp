#pragma once
// Between our addresses and errors and those of the system.

#include <netinet/in.h>
#include <sys/socket.h>

#include "core/network.hpp"
#include "link/fd.hpp"

namespace isochron::link {

/// An address as the kernel takes it, of the family of the socket that it is for.
union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

/// Length written. An IPv4 address fits both families, an IPv6 one only AF_INET6: 0 = does not fit.
socklen_t to_system(const Address& address, int family, SocketAddress& out);
Address from_system(const SocketAddress& address);
[[nodiscard]] inline int family_of(const Address& address) { return address.is_v4() ? AF_INET : AF_INET6; }

/// What errno means, about this address: "127.0.0.1:7410: connection refused".
NetError net_error(int error, const Address& about);

/// A non-blocking socket bound to `at`. Fails: in_use, denied, bad_address.
Result<Fd, NetError> bound_socket(const Address& at, int type);
Address local_address(const Fd& socket);
void set_option(const Fd& socket, int level, int option, int value);

}  // namespace isochron::link
