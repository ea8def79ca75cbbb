#pragma once
// Where programs that run freely execute on this machine. To hand the turn to a program on the coordinator's own core
// costs a few microseconds, to wake another core tens. So programs whose turns are short come home to the coordinator's
// core, and one whose turns are long has all cores: those that really compute do so at the same time.
//
//     answer ▐ turn ▌ request        its length: by the CPU clock of the program, the mean of sixteen
//
// Now and then everybody is let go and comes home anew, to wherever the coordinator is then: its core may have become busy.
// A place changes when a run is there and never what comes of it.
//
// Threads: the coordinator's, which stays at home as long as anybody is there.
// Cost:    a reading of a CPU clock for sixteen requests. Allocates when a program moves out.

#include <sched.h>

#include "programs/ensemble.hpp"

namespace isochron::programs {

class Placement {
 public:
  explicit Placement(Ensemble& all);
  ~Placement();
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  /// A program that runs freely has asked for something.
  void asked(Member& m);
  void ended(Member& m) { leave(m); }
  /// Whoever is at home executes only while the coordinator sleeps.
  [[nodiscard]] bool anybody_at_home() const { return at_home_ > 0; }

 private:
  void look_at(Member& m);
  void come_home(Member& m);
  void move_out(Member& m);
  void leave(Member& m);
  void open();
  void close();

  Ensemble& all_;
  cpu_set_t everywhere_{};
  cpu_set_t home_{};
  bool usable_ = false;  // there is more than one core
  int core_ = -1;        // of the home; -1: there is none
  std::size_t at_home_ = 0;
  WallTime opened_;
};

}  // namespace isochron::programs
