// Any bytes as packets of a session: taken or refused, without a crash; what came in order is a prefix of nothing else.

#include <cstdint>
#include <cstring>

#include "link/session.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron;
  using namespace isochron::link;
  Session session({}, 1, {}, [](const Packet&) {});
  WallTime now = WallTime::zero();
  auto rest = std::as_bytes(std::span(data, size));
  while (rest.size() > 2) {
    const std::size_t length = std::min<std::size_t>(rest.size() - 1, std::to_integer<std::size_t>(rest[0]) + 1);
    const auto packet = read_packet(rest.subspan(1, length), std::nullopt);
    if (packet.ok()) (void)session.take(*packet, now);
    rest = rest.subspan(1 + length);
    now += std::chrono::milliseconds(100);
    session.tick(now);
  }
  return 0;
}
