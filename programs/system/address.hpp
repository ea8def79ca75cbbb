#pragma once
// Where a socket is: an address and port of a simulated host, or a name of its file system. IPv6 is there as far as it
// means the same: any address, loopback, and IPv4 written as IPv6.

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace isochron::programs {

struct Endpoint {
  int family = AF_UNSPEC;  // AF_INET, AF_INET6, AF_UNIX
  std::uint32_t ip = 0;    // in host order; 0 = any
  std::uint16_t port = 0;
  std::string path;  // AF_UNIX; abstract ones begin with 0
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

inline constexpr std::uint32_t loopback = 0x7f000001;
[[nodiscard]] constexpr bool is_loopback(std::uint32_t ip) { return ip >> 24 == 127; }
[[nodiscard]] constexpr bool is_multicast(std::uint32_t ip) { return ip >> 28 == 14; }

/// From the bytes of a sockaddr; nothing where that is no address we know.
std::optional<Endpoint> endpoint_of(std::span<const unsigned char> sockaddr);
/// Into the bytes of a sockaddr; returns how many it takes. `family`: of the socket that sees it.
std::uint32_t write_endpoint(const Endpoint& endpoint, int family, std::span<unsigned char> sockaddr);
/// "10.0.0.1:1883", "unix:/tmp/x".
std::string to_string(const Endpoint& endpoint);
std::string ip_text(std::uint32_t ip);
std::optional<std::uint32_t> ip_of(const std::string& text);

}  // namespace isochron::programs
