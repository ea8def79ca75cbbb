#include "link/resolve.hpp"

#include <netdb.h>

#include <cstring>
#include <memory>
#include <string>

#include "link/socket.hpp"

namespace isochron::link {

Result<std::vector<Address>, NetError> resolve(std::string_view text) {
  const auto numeric = parse_address(text);
  if (numeric) return std::vector{*numeric};
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return fail(NetError{NetFault::bad_address, numeric.error()});
  const std::string host(text.substr(0, colon)), port(text.substr(colon + 1));
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
  if (code == EAI_NONAME && port.find_first_not_of("0123456789") != std::string::npos) {
    return fail(NetError{NetFault::bad_address, numeric.error()});
  }
  if (code != 0) return fail(NetError{NetFault::bad_address, "`" + host + "`: " + ::gai_strerror(code)});
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    SocketAddress address{};
    std::memcpy(&address, at->ai_addr, std::min<std::size_t>(at->ai_addrlen, sizeof address));
    addresses.push_back(from_system(address));
  }
  return addresses;
}

}  // namespace isochron::link
