#pragma once
// The stopwatch tiles the wall time of a run: every moment belongs to exactly one part, so the parts add up. It also
// relates the time stamp counter to the wall clock, ever better the longer the run takes.
//
// Threads: owner thread. Cost: one clock read for each change of part.

#include <cstdint>

#include "core/time.hpp"
#include "programs/futex.hpp"
#include "programs/outcome.hpp"

namespace isochron::programs {

class Stopwatch {
 public:
  Stopwatch();
  /// What passed since the last call belongs to this part.
  void was(WallSpan Accounting::*part);
  /// A program was let go: `executed` of what passed was its own; a short rest is the cost of switching, a long one
  /// means that the machine was busy elsewhere.
  void was_running(WallSpan executed);
  [[nodiscard]] Accounting total() const;
  [[nodiscard]] WallTime last() const { return last_; }
  void restart();

  /// Simulated ns for each count of the time stamp counter, times 2^32, when one ns of CPU is worth `rate`.
  [[nodiscard]] std::uint64_t counter_scale(double rate);

 private:
  Accounting sum_;
  WallTime start_;
  WallTime last_;
  WallTime calibrated_at_;
  WallTime measured_at_;
  std::uint64_t calibrated_count_;
  double ns_per_count_ = 0;
};

}  // namespace isochron::programs
