#pragma once
// What kept a lane from preempting in time. The kernel tells two causes apart from a timer that simply came late: how
// long our thread was ready and did not get the core (real-time throttling), and how long the host had the core.
//
// Threads: the one that made it. Cost: two files are read; only when something was late.

#include <string>

#include "core/time.hpp"

namespace isochron::programs {

/// The worst preemption of a run.
struct LatePreemption {
  SimTime at;
  SimSpan beyond;     // what the program executed after its budget
  WallSpan late;      // the timer that should have stopped it
  WallSpan kept_off;  // our thread was ready meanwhile and did not get the core
  WallSpan stolen;    // by the host, as far as it tells: in steps of 10 ms
};
/// "the host took the core for 120ms": what the reader should know of it.
std::string to_string(const LatePreemption& late);

class Interference {
 public:
  Interference();
  /// Fills in what happened since the last call.
  void explain(LatePreemption& late);

 private:
  struct Counters {
    WallSpan kept_off, stolen;
  };
  [[nodiscard]] static Counters read();
  Counters before_;
};

}  // namespace isochron::programs
