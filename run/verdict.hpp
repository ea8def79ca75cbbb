#pragma once
// What a person wants to know first of a run, in one line, and the one place where it is decided: was it coherent
// within what its mode promises, were deadlines kept, did expectations hold, will it be the same again. Summary, JSON,
// report and page show this.
//
//     coherent: 99.9 % of drift within 1.02ms (1ms promised), at most 1.40ms: a preemption at 3.2s came 350us late: the
//     host took the core · no deadline missed · all 3 expectations held · does not repeat: predator/planner: its
//     computing is measured
//
// Coherence. A mode promises that participants drift by max(quantum, step) at most, and by what a preemption came late.
//   coherent        99.9 % of the time within that; the worst is within it too, or a late preemption explains it
//   not_coherent    anything else
//   free            mode callback: computing cost no simulated time, so nothing is promised
//   wall_clock      mode realtime: the wall clock goes on, whoever is late; lateness is counted instead
//   in_order        flows: every message is taken in at its time, by construction; no drift is promised
//   not_judged      free-running flows, and a run that left no figures
//
// Threads: any.

#include <cstdint>
#include <string>

#include "run/run.hpp"

namespace isochron {

enum class Coherence : std::uint8_t { coherent, not_coherent, free, wall_clock, in_order, not_judged };
/// "coherent", "not coherent", "computing was free", …
const char* to_string(Coherence coherence);

struct Verdict {
  Coherence coherence = Coherence::not_judged;
  std::string why;   // of that: "99.9 % of drift within 1.02ms (1ms promised)"
  std::string line;  // all of it
};
Verdict verdict_of(const RunReport& report);

}  // namespace isochron
