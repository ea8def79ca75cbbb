#pragma once
// A tape holds what computing cost in one run, for each program: the CPU time at which it asked, blocked or ended, and
// every value it read from its clock, since an anytime planner branches on them. Played back as the compute contract
// `recorded` it gives the run again, on any machine and under any load.

#include <cstdint>
#include <string>
#include <vector>

#include "core/rate.hpp"
#include "core/time.hpp"

namespace isochron::coordinator {

/// One moment of a program at which its own computing stopped.
struct Charge {
  enum class Kind : std::uint8_t {
    asked,       // link asked for something
    blocked,     // no thread of it ran any more; it goes on when a link wakes
    stalled,     // in a call that is not mediated; went on at `resumed`
    ended,       // the process ended
    unfinished,  // the run ended while it computed
  };
  Kind kind = Kind::asked;
  bool others_run = false;  // asked only: other threads of the program went on computing
  std::uint32_t link = 0;
  CpuTime total;    // executed since it attached
  SimTime resumed;  // stalled only
  friend bool operator==(const Charge&, const Charge&) = default;
};

struct ComputeTape {
  std::string program;  // "predator/planner"
  Fraction cpu_speed;   // that it was recorded with; its clock values hold for that alone
  std::vector<Charge> charges;
  std::vector<std::vector<SimTime>> clocks;  // by link
};

}  // namespace isochron::coordinator
