#pragma once
// What a program may not do for long: fill the memory, or compute without a word. Who does is ended, and its end is
// noticed like any other.
//
// Threads: the coordinator's.

#include "programs/ensemble.hpp"

namespace isochron::programs {

class ProgramLimits {
 public:
  explicit ProgramLimits(Ensemble& all) : all_(all) {}
  void check_memory();
  /// The same, if the last time is long enough ago.
  void check_memory_sometimes() {
    if (all_.watch.last() - checked_ >= memory_look) check_memory();
  }
  /// Notes whether the program, which asks for nothing, moves; true: for longer than it may.
  bool hangs(Member& m) const;
  void end_hanging(Member& m);

 private:
  static constexpr WallSpan memory_look = std::chrono::milliseconds(10);  // a program fills some 30 MB meanwhile
  Ensemble& all_;
  WallTime checked_;
};

}  // namespace isochron::programs
