#pragma once
// A bad network on purpose: a datagram port that loses, delays, doubles and reorders what passes through it, both ways,
// by a seed. It wraps a real port, so that a scenario can be tried over a link like the one it will have.
//
//     --loss 5% --delay 20ms±5 --reorder
//
// Promises: one seed and one sequence of datagrams give one sequence of faults. Without `reorder` those that arrive do
// so
//           in order, however their delays vary.
// Threads:  the reactor's. Cost: a copy and a timer for each delayed datagram.

#include <memory>
#include <string>
#include <string_view>

#include "core/network.hpp"
#include "core/random.hpp"
#include "core/result.hpp"

namespace isochron::link {

struct Faults {
  double loss = 0;       // share of datagrams, each way
  double duplicate = 0;  // share that comes twice
  WallSpan delay{};      // each way, ± jitter
  WallSpan jitter{};
  bool reorder = false;  // one in ten is held back behind those that follow
  std::uint64_t seed = 1;
  [[nodiscard]] bool any() const {
    return loss > 0 || duplicate > 0 || delay > WallSpan::zero() || jitter > WallSpan::zero() || reorder;
  }
};

/// "5%", "0.05". Fails: a sentence that says what would be right.
Result<double, std::string> parse_share(std::string_view text);
/// "20ms", "20ms±5", "20ms+-5ms": delay and jitter.
Result<std::pair<WallSpan, WallSpan>, std::string> parse_delay(std::string_view text);

/// Requires: destroyed before the reactor. `name` keeps the chance of several links apart.
std::unique_ptr<DatagramPort> with_faults(Reactor& reactor, std::unique_ptr<DatagramPort> port, const Faults& faults,
                                          std::string_view name);

}  // namespace isochron::link
