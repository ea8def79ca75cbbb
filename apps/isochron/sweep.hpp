#pragma once
// One scenario at many speeds of its robots' computers, or over any other keys, several seeds each. Every run is a
// child process of this same command, so that a run that dies takes nothing with it; every finished one is a line in
// sweep.jsonl at once, so that whatever happens to the sweep, a second start goes on where the first one was.
//
// Threads: owner thread.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/sweep_over.hpp"
#include "core/rate.hpp"

namespace isochron::app {

/// One run of the sweep: what is changed.
struct SweepPoint {
  Fraction speed;
  std::uint64_t seed = 1;
  Settings settings = {};
};

/// One run of the sweep: what came out.
struct SweepResult {
  SweepPoint point;
  std::string end;  // finished, interrupted, failed, violated
  std::string why;
  double missed = 0, overruns = 0, drift_s = 0, wall_s = 0;
  std::optional<double> distance_m;  // mean between the first two robots
  std::string digest, journal;
  std::size_t expected = 0, held = 0;  // expectations
  std::string not_held;                // their names

  /// It need not be run again.
  [[nodiscard]] bool done() const { return end == "finished" || end == "violated"; }
};
nlohmann::ordered_json to_json(const SweepResult& result);

/// What all runs of a sweep share.
struct SweepPlan {
  std::string file;
  std::vector<std::string> sets;  // handed on as they were given
  std::string folder;
  std::string fingerprint;          // of the scenario's text and the settings: results of another one do not count
  std::vector<std::string> bodies;  // of the first two robots, or fewer
  std::size_t jobs = 1;
};

/// The results file. Fails: InputError when the folder cannot be written.
class SweepLog {
 public:
  explicit SweepLog(const SweepPlan& plan);
  ~SweepLog();
  SweepLog(const SweepLog&) = delete;
  SweepLog& operator=(const SweepLog&) = delete;

  /// Of this fingerprint, the last line of each point.
  [[nodiscard]] const std::vector<SweepResult>& results() const { return results_; }
  /// Lines that belong to another scenario or other settings, or cannot be read.
  [[nodiscard]] std::size_t foreign() const { return foreign_; }
  [[nodiscard]] const SweepResult* find(const SweepPoint& point) const;
  /// On the disk when it returns. Throws std::runtime_error when it cannot be.
  void add(SweepResult result);

 private:
  void read_line(const std::string& line);
  void keep(SweepResult result);

  std::string path_, fingerprint_;
  int file_ = -1;
  std::vector<SweepResult> results_;
  std::size_t foreign_ = 0;
};

/// Runs what is missing, at most plan.jobs at once. False: stopped by Ctrl-C; children ended and what they had
/// finished is in the log.
bool run_sweep(const SweepPlan& plan, const std::vector<SweepPoint>& missing, std::size_t all, SweepLog& log);

/// Mean and standard deviation; n = 0 means that there is nothing to show.
struct Spread {
  std::size_t n = 0;
  double mean = 0, deviation = 0;
};
Spread spread_of(const std::vector<double>& values);

struct SweepRow {
  Fraction speed;
  Settings settings;
  std::size_t all_held = 0;  // runs in which every expectation held
  std::size_t finished = 0, failed = 0;
  Spread missed, overruns, drift_s, distance_m;
};
/// One for each speed and setting, in the order of the points.
std::vector<SweepRow> rows_of(const std::vector<SweepPoint>& points, const SweepLog& log);
/// All results in one table, a line for each run: what was set, then what came out.
std::string sweep_csv(const std::vector<SweepPoint>& points, const SweepLog& log);
/// A picture: one panel for each quantity, speed to the right in factors of two.
std::string sweep_svg(const std::string& title, const std::vector<SweepRow>& rows);

}  // namespace isochron::app
