#pragma once
// What a program came to: it asked for something, no thread of it runs any more, or it ended. That is taken here and
// told to the timeline, which says when it happens. Of measured programs their lanes say it; the others run freely and
// are watched.
//
// Threads: the coordinator's.

#include "programs/execution.hpp"
#include "programs/placement.hpp"
#include "programs/program_limits.hpp"
#include "programs/tapes.hpp"

namespace isochron::programs {

class Arrivals {
 public:
  Arrivals(Ensemble& all, Tapes& tapes, ProgramLimits& limits)
      : all_(all), tapes_(tapes), limits_(limits), placement_(all) {}

  /// The turn of a measured program is over.
  void turn_over(const Execution::Over& turn);
  void asked(std::uint32_t program, std::uint32_t link);
  void ended(std::uint32_t program);
  /// Waits until one that runs freely comes to something, or for a while.
  void await(std::uint32_t program);
  /// Those that run freely; true: there was one.
  bool collect();

 private:
  bool collect(Member& m);
  void idle(Member& m, const protocol::Exchange& exchange);
  void blocked(Member& m);
  [[nodiscard]] static bool others_run(const Member& m, const protocol::Exchange& exchange);
  void check_silence(Member& m);

  Ensemble& all_;
  Tapes& tapes_;
  ProgramLimits& limits_;
  Placement placement_;
};

}  // namespace isochron::programs
