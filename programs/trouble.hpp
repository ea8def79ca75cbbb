#pragma once
// What faults do to programs. Whoever runs programs asks where one stands at a request, and where one sends a message;
// whoever keeps the faults of a run answers (run/injected_faults.hpp). Without faults nothing is done.
//
// Threads: that of the programs' coordinator.

#include <cstdint>
#include <optional>
#include <string>

#include "core/time.hpp"

namespace isochron::programs {

class Trouble {
 public:
  virtual ~Trouble() = default;
  /// What the program is made to compute more before the request that it stands at. Each delay is told once.
  virtual SimSpan take_delay(const std::string& /*program*/, SimTime /*at*/) { return {}; }
  /// Until when it stands still, and leaves its CPU to others; `at` or earlier: it goes on.
  virtual SimTime stopped_until(const std::string& /*program*/, SimTime at) { return at; }
  /// Whether it ends there: a program as if it had crashed, a board as if it had been unplugged. Told once.
  virtual bool take_end(const std::string& /*program*/, SimTime /*at*/) { return false; }
  /// How much later the sender's `number`-th message comes; nothing: it is lost.
  virtual std::optional<SimSpan> carry(const std::string& /*from*/, const std::string& /*to*/, SimTime /*at*/,
                                       std::uint64_t /*number*/) {
    return SimSpan::zero();
  }
};

}  // namespace isochron::programs
