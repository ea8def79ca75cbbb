// Whatever a host says, a target stays up and takes no more than it has asked for. The first byte says whether there is
// a key; what follows is what the host sends, at once.

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "client/tcp_link.hpp"

namespace {

using namespace isochron;
using namespace isochron::client;

/// A target that reads, waits and receives.
void use(TcpLink& link) {
  std::string why;
  for (const std::size_t capacity : {0U, 8U, 300U}) {
    std::vector<std::byte> room(capacity);
    protocol::Exchange exchange;
    exchange.ask = static_cast<std::uint32_t>(protocol::Ask::read);
    if (!link.ask(exchange, {nullptr, 0, room.data(), room.size()}, why)) return;
    if (exchange.size > capacity) std::abort();
    (void)link.now();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 60'000) return 0;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  if (::send(ends[0], data + 1, size - 1, MSG_NOSIGNAL) < 0) std::abort();
  ::shutdown(ends[0], SHUT_WR);
  TcpAddress address{.host = "", .port = "", .name = "uav/pilot"};
  address.key_bytes = (data[0] & 1U) != 0 ? 32 : 0;
  {
    TcpLink link;
    std::uint64_t session = 0;
    std::string why;
    if (link.open_on(ends[1], address, session, why)) use(link);
  }
  ::close(ends[0]);
  return 0;
}
