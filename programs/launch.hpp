#pragma once
// How the programs of a run begin and end: their processes are started and attach, and when the run is over they are
// told so, given a moment, and ended with all that came from them.
//
// Threads: the coordinator's.

#include <stop_token>

#include "programs/answers.hpp"
#include "programs/program_limits.hpp"

namespace isochron::programs {

class Launch {
 public:
  Launch(Ensemble& all, Execution& execution, Stacks& stacks, Answers& answers, ProgramLimits& limits)
      : all_(all), execution_(execution), stacks_(stacks), answers_(answers), limits_(limits) {}

  void start();
  /// Until every executable has asked to attach, or ended; Member::pending says which.
  void await_attach();
  /// Their hello was said to the reactor; the world begins when the last of them is there.
  void await_boards(const std::stop_token& stop);
  /// Whoever waits is told that the run is over, and has a moment to exit by itself.
  void end();

 private:
  bool all_attached();
  void tell_over(Member& m);
  void await_end();
  /// Processes that came from our programs and are there. What a program waited for itself is in its children's CPU
  /// time.
  void look_for_outsiders(bool at_the_end);
  static void count_outsiders(Member& m);

  Ensemble& all_;
  Execution& execution_;
  Stacks& stacks_;
  Answers& answers_;
  ProgramLimits& limits_;
};

}  // namespace isochron::programs
