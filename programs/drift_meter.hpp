#pragma once
// How far the participants of a run got apart, moment by moment: the world, the cores of robots, the threads of boards.
//
// Threads: the coordinator's.

#include "core/drift.hpp"
#include "programs/ensemble.hpp"
#include "rt/histogram.hpp"

namespace isochron::programs {

class DriftMeter final : public Boards::House {
 public:
  explicit DriftMeter(Ensemble& all);

  /// How far a core has come.
  void record(std::uint32_t cpu);
  /// After each step of the world: where all of them stand.
  void record_all();
  /// The most up to now. Where computing is free it was done all the same: who computed longer than the world lasted is
  /// that far ahead.
  [[nodiscard]] SimSpan so_far() const;
  /// The run is over; its outcome has the figures.
  void settle();

 private:
  void board_at(std::uint32_t slot, WallTime now, SimTime executed) override;
  void board_left(std::uint32_t slot, WallTime now) override;

  Ensemble& all_;
  DriftLedger ledger_;
  rt::Histogram histogram_;
};

}  // namespace isochron::programs
