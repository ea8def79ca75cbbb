#pragma once
// A tape holds what computing cost in one run, for each program: the CPU time at which it asked, blocked or ended, and
// every value it read from its clock, since an anytime planner branches on them. Played back as the compute contract
// `recorded` it gives the run again, on any machine and under any load.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/rate.hpp"
#include "core/time.hpp"

namespace isochron::programs {

/// One moment of a program at which its own computing stopped.
struct Charge {
  enum class Kind : std::uint8_t {
    asked,       // link asked for something
    blocked,     // no thread of it ran any more; it goes on when a link wakes
    stalled,     // in a call that is not mediated; went on at `resumed`
    ended,       // the process ended
    unfinished,  // the run ended while it computed
    woke,        // link was let go on: its time or its message had come
  };
  Kind kind = Kind::asked;
  bool others_run = false;  // asked only: other threads of the program went on computing
  std::uint32_t link = 0;
  std::uint8_t ask = 0;       // asked only: for what (protocol::Ask)
  CpuTime total;              // executed since it attached
  SimTime resumed;            // stalled only
  std::uint64_t printed = 0;  // asked and ended only: bytes, up to this moment
  friend bool operator==(const Charge&, const Charge&) = default;
};

struct ComputeTape {
  std::string program;  // "predator/planner"
  Fraction cpu_speed;   // that it was recorded with; its clock values hold for that alone
  std::vector<Charge> charges;
  /// Values read from the clock, by link, packed (protocol/clock_values.hpp): those between two requests of it
  /// together, so that a replay runs out of them where the run's ring was full.
  std::vector<std::vector<std::vector<std::byte>>> clocks;
  std::vector<std::byte> order;  // in which its threads met (protocol::OrderLog)
};

}  // namespace isochron::programs
