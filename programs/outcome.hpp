#pragma once
// What a run came to: how far, how coherent, what each program did, and where the wall time went.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/drift.hpp"
#include "core/time.hpp"
#include "programs/desk.hpp"
#include "programs/interference.hpp"

namespace isochron::programs {

/// Where the wall time of a run went. The parts add up to `wall`.
struct Accounting {
  WallSpan executed;      // programs executed
  WallSpan world;         // the world stepped, read and wrote
  WallSpan coordination;  // the coordinator decided, switched and recorded
  WallSpan waited;        // for a blocked program, or for a core that the machine gave to others
  WallSpan idle;          // held back by the pace
  WallSpan wall;
  [[nodiscard]] double coordination_share() const {
    return wall.ns() == 0 ? 0 : coordination.seconds() / wall.seconds();
  }
};

struct ProgramOutcome : DeskFigures {
  std::string name;  // "predator/planner"
  std::uint64_t clock_reads = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t stalls = 0;  // blocked in calls that are not mediated
  SimSpan stalled;
  SimSpan executed;                 // charged to its robot's CPU
  CpuSpan cpu;                      // executed here since it attached
  CpuSpan startup;                  // executed before it first waited, and not charged
  bool startup_too_long = false;    // it did not wait for so long that all of it was charged
  std::uint32_t outsiders = 0;      // processes that it forked or started: they took no part and saw real time
  CpuSpan outsiders_cpu;            // what these used, which nobody was charged for
  std::uint32_t strays = 0;         // of these: still there at the end, and killed
  std::uint64_t replay_parted = 0;  // recorded: requests that were not those of the record
  std::string parted;               // how the first of them did; "" = it followed its record
  bool failed = false;
  std::string ended;       // "exited with 0 at 3.2 s"; "" = it ran to the end
  std::string last_state;  // "waiting until 3.2 s"; of one that ended: what it asked for last
  std::string output;      // what it printed: start and end of it
  std::uint64_t output_size = 0;
};

struct RunOutcome {
  SimTime reached;
  WallTime began = WallTime::never();  // with boards: when all of them were there
  bool completed = false;              // came to the time that was asked for
  std::string why_ended;               // "" when completed
  std::string control;                 // how measured programs were dispatched; "" when none is measured
  std::size_t lanes = 0;               // cores on which they executed
  CpuSpan executed;                    // by all of them: more than Accounting::executed where they executed at once
  bool degraded = false;               // without privileges
  Accounting accounting;
  SimSpan drift_max, drift_p50, drift_p99, drift_p999;
  bool drift_exact = true;
  std::vector<DriftSeries::Point> drift_series;
  std::uint64_t times_late = 0;  // steps that came later than the pace allows, by a millisecond or more
  WallSpan late_most;
  std::uint64_t dispatches = 0;
  std::uint64_t requests = 0;
  std::uint64_t steps = 0;
  SimSpan overrun_max;                              // beyond a budget, in the program's own time
  std::optional<LatePreemption> latest_preemption;  // the worst, if any was late enough to be worth a word
  int strays = 0;                                   // processes that programs left behind and that were killed
  std::vector<ProgramOutcome> programs;
};

}  // namespace isochron::programs
