// Whatever one who holds the key may send, to a server and to a client.

#include "agents/state_cache.hpp"
#include "agents/test/datagrams.hpp"
#include "agents/world_map.hpp"

using namespace isochron;
using namespace isochron::agents;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > largest_datagram) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Handler handler;
  handler.add(9, a_key);
  WorldMap map({});
  Profile& client = map.add(9, "fuzz", wire::AUTOMATIC, WallTime::zero());
  wire::RawUp up;
  TestSender sender(9);
  (void)handler.take(std::as_bytes(std::span(bytes)), WallTime::zero(), up).ok();
  if (handler.take(sender.seal(bytes), WallTime::zero(), up).ok()) {
    if (map.take(client, up, WallTime::zero()) != WorldMap::Heard::left) map.scan(WallTime::zero());
  }
  StateCache cache;
  wire::Down down;
  if (down.ParseFromArray(data, static_cast<int>(size))) {
    cache.take(down);
    cache.for_each([&](const Outsider& agent) { (void)cache.at(agent, SimTime::zero()); });
  }
  return 0;
}
