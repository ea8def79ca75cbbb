#pragma once
// The drift ledger measures the one figure that says how coherent a run was:
//
//     Δ = max over t of ( max_i progress_i(t) − min_i progress_i(t) )
//
// Each participant records (wall time, progress) from its own thread into a ring of its own; one collector merges the
// rings in wall order and so knows max and min at every moment, exactly.
//
//   participant 0   ──(t,p)(t,p)(t,p)──►┐
//   participant 1   ──(t,p)────(t,p)───►├─ fold(): merge by t ─► Δ exactly, Δ over time
//   participant 2   ──────(t,p)────────►┘
//
// Why it is exact: a participant's stamps do not go back, so everything up to the least of the newest stamps is known;
// fold() goes that far and no further. settle() takes the rest once all have stopped recording. A participant that left
// no longer counts. One that stays quiet keeps fold() from going on: whoever runs it records its old progress again.
//
// Promises: exact() unless a ring overflowed, and then missed() says how many records were not seen.
// Threads:  record(who, …) and leave(who): one thread for each who. fold, settle, results: one collector thread.
//           newest(): any.
// Cost:     record: two plain stores and a release store, never blocks, never allocates. Ring and slot are padded: no
//           two participants share a cache line.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/participant.hpp"
#include "core/time.hpp"

namespace isochron {

/// Δ over time for plotting, in a bounded number of points: when full, neighbours are joined and their maximum kept.
class DriftSeries {
 public:
  struct Point {
    SimTime until;  // progress of the slowest at the end of this stretch
    SimSpan most;   // the largest Δ in it
  };
  explicit DriftSeries(std::size_t points);
  void add(SimTime slowest, SimSpan delta);
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

 private:
  std::size_t limit_;
  SimSpan stretch_ = SimSpan::from_ns(1'000'000);
  std::vector<Point> points_;
};

class DriftLedger {
 public:
  /// `records` is the room for each participant between two folds, rounded up to a power of two.
  explicit DriftLedger(std::size_t participants, std::size_t records = 16384, SimTime start = SimTime::zero());
  ~DriftLedger();

  void record(ParticipantId who, WallTime when, SimTime progress);
  /// The participant ended; from now on it holds Δ no longer.
  void leave(ParticipantId who, WallTime when);

  /// Merges what is certain so far; `sample` is told every Δ (for a histogram).
  void fold(const std::function<void(SimSpan)>& sample = {});
  /// Merges all that is left. Requires: nobody records any more.
  void settle(const std::function<void(SimSpan)>& sample = {});

  [[nodiscard]] SimSpan max() const { return max_; }
  [[nodiscard]] const DriftSeries& series() const { return series_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] std::uint64_t missed() const;
  [[nodiscard]] bool exact() const { return missed() == 0; }

  /// The newest progress of a participant, for displays; never() after it left.
  [[nodiscard]] SimTime newest(ParticipantId who) const;

 private:
  struct Record;
  struct Ring;
  struct Merging {  // what is taken of a ring now
    std::uint64_t next = 0, end = 0;
  };
  void merge(bool all, const std::function<void(SimSpan)>& sample);
  void take(std::uint32_t who, const Record& record, const std::function<void(SimSpan)>& sample);
  void find_extremes();

  std::vector<std::unique_ptr<Ring>> rings_;
  std::vector<Merging> merging_;                              // by ring
  std::vector<std::pair<WallTime, std::uint32_t>> earliest_;  // a heap of (stamp, participant), while merging
  std::vector<SimTime> at_;                                   // as of the merged moment; never() = left
  std::vector<WallTime> merged_;                              // the newest stamp taken from each
  SimTime least_;
  std::size_t at_least_;  // how many stand at least_
  SimTime most_;
  SimSpan max_;
  std::uint64_t records_ = 0;
  DriftSeries series_{2048};
};

}  // namespace isochron
