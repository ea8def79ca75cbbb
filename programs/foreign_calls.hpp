#pragma once
// Programs that are stalled: all their threads are blocked in calls that nobody told us about, such as the read of a
// file. What that costs the scenario says: as much as it takes, or nothing.
//
// Threads: the coordinator's.

#include "programs/drift_meter.hpp"
#include "programs/tapes.hpp"

namespace isochron::programs {

class ForeignCalls {
 public:
  ForeignCalls(Ensemble& all, Tapes& tapes, DriftMeter& drift) : all_(all), tapes_(tapes), drift_(drift) {}

  /// `resumed`: of a replay, when it went on.
  void begin(std::uint32_t program, SimTime at, SimTime resumed);
  /// Nothing can happen before this one goes on, or its time does.
  void await(std::uint32_t program);
  /// Others act meanwhile: looks now and then whether one goes on.
  void look_after() {
    if (stalled_ > 0) look_after_all();
  }

 private:
  void look_after_all();
  void recover(Member& m, WallTime when);
  /// It costs what the wall clock says.
  void charge_wall(const Member& m, WallTime now);

  Ensemble& all_;
  Tapes& tapes_;
  DriftMeter& drift_;
  std::uint32_t stalled_ = 0;
  WallTime checked_;
};

}  // namespace isochron::programs
