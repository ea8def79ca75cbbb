#include "programs/system/address.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>

namespace isochron::programs {

namespace {

std::optional<std::uint32_t> as_ipv4(const in6_addr& address) {
  if (IN6_IS_ADDR_UNSPECIFIED(&address)) return 0;
  if (IN6_IS_ADDR_LOOPBACK(&address)) return loopback;
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return std::nullopt;
  std::uint32_t ip = 0;
  std::memcpy(&ip, address.s6_addr + 12, sizeof ip);
  return ntohl(ip);
}

in6_addr as_ipv6(std::uint32_t ip) {
  in6_addr address{};
  if (ip == 0) return in6addr_any;
  if (ip == loopback) return in6addr_loopback;
  address.s6_addr[10] = address.s6_addr[11] = 0xff;
  const std::uint32_t net = htonl(ip);
  std::memcpy(address.s6_addr + 12, &net, sizeof net);
  return address;
}

template <class T>
std::uint32_t copy(const T& from, std::span<unsigned char> to, std::size_t size = sizeof(T)) {
  std::memcpy(to.data(), &from, std::min(size, to.size()));
  return static_cast<std::uint32_t>(size);
}

}  // namespace

std::optional<Endpoint> endpoint_of(std::span<const unsigned char> bytes) {
  sa_family_t family = AF_UNSPEC;
  if (bytes.size() < sizeof family) return std::nullopt;
  std::memcpy(&family, bytes.data(), sizeof family);
  Endpoint endpoint;
  endpoint.family = family;
  if (family == AF_INET && bytes.size() >= sizeof(sockaddr_in)) {
    sockaddr_in in{};
    std::memcpy(&in, bytes.data(), sizeof in);
    endpoint.ip = ntohl(in.sin_addr.s_addr);
    endpoint.port = ntohs(in.sin_port);
    return endpoint;
  }
  if (family == AF_INET6 && bytes.size() >= sizeof(sockaddr_in6)) {
    sockaddr_in6 in{};
    std::memcpy(&in, bytes.data(), sizeof in);
    const auto ip = as_ipv4(in.sin6_addr);
    if (!ip) return std::nullopt;
    endpoint.ip = *ip;
    endpoint.port = ntohs(in.sin6_port);
    return endpoint;
  }
  if (family == AF_UNIX) {
    const auto path = bytes.subspan(sizeof family);
    const bool is_abstract = !path.empty() && path[0] == 0;
    const auto end = is_abstract ? path.end() : std::find(path.begin(), path.end(), 0);
    endpoint.path.assign(path.begin(), end);
    return endpoint;
  }
  if (family == AF_UNSPEC) return endpoint;
  return std::nullopt;
}

std::uint32_t write_endpoint(const Endpoint& endpoint, int family, std::span<unsigned char> to) {
  if (family == AF_INET) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(endpoint.ip);
    in.sin_port = htons(endpoint.port);
    return copy(in, to);
  }
  if (family == AF_INET6) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_addr = as_ipv6(endpoint.ip);
    in.sin6_port = htons(endpoint.port);
    return copy(in, to);
  }
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const std::size_t size = std::min(endpoint.path.size(), sizeof un.sun_path);
  std::memcpy(un.sun_path, endpoint.path.data(), size);
  const bool is_abstract = size > 0 && endpoint.path[0] == 0;
  return copy(un, to, offsetof(sockaddr_un, sun_path) + size + (size > 0 && !is_abstract ? 1 : 0));
}

std::string ip_text(std::uint32_t ip) {
  return std::to_string(ip >> 24) + "." + std::to_string(ip >> 16 & 255) + "." + std::to_string(ip >> 8 & 255) + "." +
         std::to_string(ip & 255);
}

std::optional<std::uint32_t> ip_of(const std::string& text) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

std::string to_string(const Endpoint& endpoint) {
  if (endpoint.family != AF_UNIX) return ip_text(endpoint.ip) + ":" + std::to_string(endpoint.port);
  if (endpoint.path.empty()) return "unix socket";
  return "unix:" + (endpoint.path[0] == 0 ? "@" + endpoint.path.substr(1) : endpoint.path);
}

}  // namespace isochron::programs
