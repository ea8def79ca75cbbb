#include "core/network.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace isochron {
namespace {

constexpr std::array<std::uint8_t, 12> v4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool read_v4(const std::string& host, Address& address) {
  std::copy(v4_prefix.begin(), v4_prefix.end(), address.ip.begin());
  return inet_pton(AF_INET, host.c_str(), address.ip.data() + v4_prefix.size()) == 1;
}

bool read_port(std::string_view text, std::uint16_t& port) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), port);
  return code == std::errc{} && end == text.data() + text.size();
}

}  // namespace

bool Address::is_v4() const { return std::equal(v4_prefix.begin(), v4_prefix.end(), ip.begin()); }

bool Address::is_loopback() const { return is_v4() ? ip[12] == 127 : *this == loopback_v6(port); }

bool Address::is_any() const { return *this == v4(0, 0, 0, 0, port) || *this == Address{{}, port}; }

std::size_t AddressHash::operator()(const Address& address) const noexcept {
  std::uint64_t high = 0, low = 0;
  std::memcpy(&high, address.ip.data(), 8);
  std::memcpy(&low, address.ip.data() + 8, 8);
  std::uint64_t x = (high * 0x9e3779b97f4a7c15) ^ low ^ (std::uint64_t{address.port} << 17);
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return x ^ (x >> 32);
}

std::string to_string(const Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.is_v4()) {
    inet_ntop(AF_INET, address.ip.data() + v4_prefix.size(), text, sizeof text);
    return std::string(text) + ":" + std::to_string(address.port);
  }
  inet_ntop(AF_INET6, address.ip.data(), text, sizeof text);
  return "[" + std::string(text) + "]:" + std::to_string(address.port);
}

Result<Address, std::string> parse_address(std::string_view text) {
  const std::string wrong = "`" + std::string(text.substr(0, 60)) +
                            "` is not an address; write number:port, as in 127.0.0.1:7410 or [::1]:7410";
  const auto colon = text.rfind(':');
  Address address;
  if (colon == std::string_view::npos || !read_port(text.substr(colon + 1), address.port)) return fail(wrong);
  std::string host(text.substr(0, colon));
  if (host == "localhost") return Address::loopback(address.port);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, host.c_str(), address.ip.data()) != 1) return fail(wrong);
    return address;
  }
  if (!read_v4(host, address)) return fail(wrong);
  return address;
}

}  // namespace isochron
