// Whatever bytes a stranger sends, the host stays up, and a target beside it is served to the end.

#include <cstdint>
#include <deque>

#include "programs/board/boards.hpp"
#include "programs/board/test/sim_target.hpp"
#include "programs/coordinator.hpp"
#include "testing/reactor.hpp"

using namespace isochron;
using namespace isochron::programs;

namespace {

template <class M>
void read_as(std::span<const std::byte> bytes) {
  M message;
  (void)wire::read(bytes, message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace std::chrono_literals;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  read_as<wire::Greeting>(bytes);
  read_as<wire::Hello>(bytes);
  read_as<wire::Welcome>(bytes);
  read_as<wire::Ping>(bytes);
  read_as<wire::Pong>(bytes);
  read_as<wire::Request>(bytes);
  read_as<wire::Answer>(bytes);

  const Address host = Address::v4(10, 0, 0, 1, 7410);
  Scheduler scheduler(1);
  SimulatedNetwork network(scheduler);
  SimulatedReactor here(network, host), there(network, Address::v4(10, 0, 0, 2, 0)),
      beside(network, Address::v4(10, 0, 0, 3, 0));
  CountingPlant plant(10ms);
  Boards boards(here, {{"uav/a", "uav", {}, "", 8, OnLoss::go_on}, {"uav/b", "uav", {}, "", 8, OnLoss::go_on}},
                {.wait_for_targets = 1s});
  (void)boards.listen(host).ok();
  SimTarget good(beside, host, "uav/a", std::deque<SimTarget::Step>(5, SimTarget::read(10ms)));
  // The stranger first behaves like a target and then says what the fuzzer likes; every other input from the start.
  SimTarget stranger(there, host, size % 2 == 0 ? "uav/b" : "", std::deque<SimTarget::Step>(3, SimTarget::read(1ms)));
  scheduler.after(10ms, [&] {
    if (!stranger.closed) stranger.send_raw(bytes);
  });
  CoordinatorOptions how;
  how.boards = &boards;
  Coordinator(plant, {}, how).run(SimTime::zero() + SimSpan(100ms));
  return 0;
}
