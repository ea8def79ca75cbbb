#pragma once
// What every run leaves, whatever its mode: a journal with the scenario inside, the drift of its participants, and the
// figures at the end. Runners record into it; finish() closes everything and fills the report.
//
// Threads: owner thread; progress() of one participant from that participant's thread.

#include <memory>
#include <string>
#include <vector>

#include "core/drift.hpp"
#include "rt/histogram.hpp"
#include "run/filling_disk.hpp"
#include "run/run.hpp"

namespace isochron {

namespace expect {
class Judge;
}

/// Δ over time, as found at the end of a run.
struct DriftRecord {
  SimTime until;
  double drift_s = 0;
};
ISOCHRON_MESSAGE(DriftRecord, "isochron_msgs/msg/Drift", until, drift_s)

class RunRecord {
 public:
  /// Throws InputError when the journal's file cannot be made.
  RunRecord(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
            std::vector<std::string> participants);
  ~RunRecord();

  [[nodiscard]] Journal& journal() { return *journal_; }
  [[nodiscard]] Producer& producer() { return *producer_; }
  [[nodiscard]] Clock& clock() { return clock_; }
  [[nodiscard]] WallTime start() const { return start_; }

  void progress(ParticipantId who, SimTime at) { ledger_.record(who, clock_.now(), at); }
  /// The same for what happened a moment ago.
  void progress(ParticipantId who, SimTime at, WallTime when) { ledger_.record(who, when, at); }
  void leave(ParticipantId who) { ledger_.leave(who, clock_.now()); }
  /// Now and then from the run's loop: keeps the drift exact and the display fresh.
  void look(RunWatch& watch, SimTime now);

  /// For runs whose coordinator keeps the ledger itself.
  void set_drift(SimSpan max, SimSpan p99, SimSpan p999, bool exact, std::vector<DriftSeries::Point> series);

  /// From now on the journal finds no space: a fault.
  void fill_disk() { disk_.fill(); }

  void finish(RunReport& report);

 private:
  /// Drift as found: by our own ledger, or as told.
  struct Found {
    SimSpan max, p99, p999;
    bool exact = true;
    std::vector<DriftSeries::Point> series;
  };
  Found settle();
  /// Of the whole record, when all of it is written.
  void judge(RunReport& report);

  Clock& clock_;
  FillingDisk disk_;
  std::string file_;
  std::unique_ptr<expect::Judge> judge_;  // outlives the journal, whose tap it is; null: nothing is expected
  std::unique_ptr<Journal> journal_;
  Producer* producer_ = nullptr;
  ChannelId drift_channel_;
  bool ends_at_violation_ = false;
  DriftLedger ledger_;
  rt::Histogram drift_;
  std::optional<Found> told_;
  WallTime start_;
  WallTime looked_;
};

/// "late against the pace 3 times, by 2ms at most"; "" where it was never late.
std::string lateness_text(std::uint64_t times, WallSpan most);

/// Waits for the wall clock where the scenario asks for a pace, and counts how late simulated time was against it.
class Pacer {
 public:
  Pacer(const Pace& pace, Clock& clock, const RunWatch& watch);
  /// Counts from now on, or from so long ago, instead of from when it was made.
  void begin(WallSpan ago = WallSpan::zero()) { start_ = clock_.now() - ago; }
  /// Returns when simulated time t may be reached; at once when stopping, or without a pace.
  void wait_for(SimTime t);
  /// "late against the pace by 3ms at most, …"; "" when never late by more than a millisecond.
  [[nodiscard]] std::string lateness() const;

 private:
  std::optional<PaceRate> rate_;
  Clock& clock_;
  const RunWatch& watch_;
  WallTime start_;
  WallSpan latest_;
  std::uint64_t times_late_ = 0;
};

}  // namespace isochron
