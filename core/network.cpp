#include "core/network.hpp"

#include <charconv>

namespace isochron {

std::string to_string(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

Result<Address, std::string> parse_address(std::string_view text) {
  const std::string wrong = "`" + std::string(text.substr(0, 60)) +
                            "` is not an address; write host:port, as in 127.0.0.1:7410 or [::1]:7410";
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return fail(wrong);
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return fail(wrong);
  }
  std::uint16_t number = 0;
  const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || code != std::errc{} || end != port.data() + port.size()) return fail(wrong);
  return Address{std::string(host), number};
}

}  // namespace isochron
