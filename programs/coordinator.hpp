#pragma once
// The coordinator runs programs against a world so that what they compute costs simulated time. It launches them,
// lets the one that has come least far go on, answers what they ask in the order of simulated time, and accounts for
// every nanosecond. The same executables run with free computing (all contracts zero: the callback mode), measured,
// recorded and modelled computing.
//
//     plant ◄─ advance, read, write ─ Coordinator ─ who next? ─ Timeline          pure decisions
//                                          │    └── how long did it take? ─ ComputeCost
//                                          └─ Process, Channel, Dispatcher         the operating system
//
// Promises: with recorded, modelled or zero contracts throughout, the recorder is told the same happenings on any
//           machine, under any load, on any number of cores. A measured run's tapes replay to its own happenings.
// Requires: run() once.
// Threads:  owner thread; stop from any, through the token.
// Fails:    throws InputError for what the specs cannot mean and for programs that cannot be started. Everything else
//           is in the RunOutcome. However it ends, no process of the run is left.

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "programs/outcome.hpp"
#include "programs/plant.hpp"
#include "programs/recorder.hpp"
#include "programs/spec.hpp"

namespace isochron::programs {

/// How far the world is, and the most that anybody drifted apart so far.
using ProgressTold = std::function<void(SimTime now, SimSpan drift)>;

class Coordinator {
 public:
  Coordinator(Plant& plant, std::vector<RobotSpec> robots, CoordinatorOptions options, Recorder* recorder = nullptr);
  ~Coordinator();

  /// `progress` is called a few times a second, on this thread.
  RunOutcome run(SimTime until, std::stop_token stop = {}, ProgressTold progress = {});

 private:
  Plant& plant_;
  std::vector<RobotSpec> robots_;
  CoordinatorOptions options_;
  Recorder* recorder_;
};

/// The programs by their numbers: executables in the order of the specs, then those that are called. The recorder and
/// RunOutcome::programs have them in this order.
struct Numbered {
  std::vector<std::string> names;
  std::vector<Fraction> speeds;
};
Numbered numbered(const std::vector<RobotSpec>& robots);

/// "" when this process may use real-time priorities, otherwise what is missing. For `doctor`.
std::string missing_privileges();

}  // namespace isochron::programs
