#pragma once
// One scenario at many speeds of its robots' computers, or over any other keys, several seeds each.
//
//     points ──parts──► workers: here, on other hosts by ssh, or jobs of Slurm ──a line for each run──► collector ──►
//     table
//
// A worker takes a part of the points and makes their runs one after the other, each in a process of its own, so that a
// run that dies takes nothing with it. Every finished run is a line in the worker's file at once. The collector merges
// those files into sweep.jsonl; what a worker that died left undone becomes a part of another one. Whatever happens to
// the sweep, a second start goes on where the first one was.
//
// Threads: owner thread.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/isochron/sweep_over.hpp"
#include "core/rate.hpp"
#include "journal/table.hpp"

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
  double spent_s = 0;                // wall time with all that a run needs: reading its files, starting, and ending
  std::optional<double> distance_m;  // mean between the first two robots
  std::string digest, journal;
  std::size_t expected = 0, held = 0;               // expectations
  std::string not_held;                             // their names
  std::vector<std::optional<double>> figures = {};  // as the plan wants them

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
  std::vector<std::string> figures = {};                   // of the report, one column each
  enum class Keep { all, failed, none } keep = Keep::all;  // which journals
  std::size_t jobs = 1;
  std::string where = {};      // in front of journals' names: "host:"
  std::size_t stop_after = 0;  // runs in which something did not hold; 0 = never
  double stop_within = 0;      // 95 % of the share of runs that hold is known to ± this; 0 = never
};
/// For workers elsewhere.
nlohmann::ordered_json to_json(const SweepPlan& plan);
SweepPlan plan_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json to_json(const SweepPoint& point);
SweepPoint point_from(const nlohmann::ordered_json& json);
/// As a line of sweep.jsonl has it. Throws Json::exception.
SweepResult result_from(const nlohmann::ordered_json& json);
/// What tells points apart, and names their files.
std::string name_of(const SweepPoint& point);

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
  void add(const std::vector<SweepResult>& results);

 private:
  void read_line(const std::string& line);
  void keep(SweepResult result);

  std::string path_, fingerprint_;
  int file_ = -1;
  std::vector<SweepResult> results_;
  std::unordered_map<std::string, std::size_t> place_of_;  // by the point's name
  std::size_t foreign_ = 0;
};

/// Makes the runs of these points one after the other; a line for each goes to the end of `results`, where "-" is our
/// standard output. Journals go to `folder`. Returns an exit code.
int work_on(const SweepPlan& plan, const std::vector<SweepPoint>& points, const std::string& folder,
            const std::string& results);

/// How parts come to be worked on.
class SweepEngine {
 public:
  virtual ~SweepEngine() = default;
  /// How many parts it would like at once, and how many points in one.
  [[nodiscard]] virtual std::size_t lanes() const = 0;
  [[nodiscard]] virtual std::size_t part_size(std::size_t points) const = 0;
  /// Begins; false: it has no lane free.
  virtual bool begin(std::size_t part, const std::vector<SweepPoint>& points) = 0;
  /// All parts that wait to begin have been given: those that begin together may do so now.
  virtual void all_given() {}
  /// Lines that came since the last call, of all parts.
  virtual std::vector<std::string> take_lines() = 0;
  /// Parts that have ended since the last call, well or not.
  virtual std::vector<std::size_t> take_ended() = 0;
  /// As with Ctrl-C; the second time at once.
  virtual void stop(bool at_once) = 0;
};
std::unique_ptr<SweepEngine> local_engine(const SweepPlan& plan);

/// How a sweep ended.
enum class SweepEnd { done, interrupted, enough };
/// Runs what is missing. Interrupted: children ended and what they had finished is in the log. Enough: a rule said so.
SweepEnd run_sweep(const SweepPlan& plan, const std::vector<SweepPoint>& missing, std::size_t all, SweepLog& log,
                   SweepEngine& engine);

/// Mean, standard deviation and quantiles; n = 0 means that there is nothing to show. `ci` is half the width of the
/// interval that has the mean with 95 % (Student's t).
struct Spread {
  std::size_t n = 0;
  double mean = 0, deviation = 0;
  double ci = 0, p5 = 0, p50 = 0, p95 = 0;
};
/// A share of n, and the interval that has it with 95 % (Wilson).
struct Share95 {
  double share = 0, low = 0, high = 1;
};
Share95 share_of(std::size_t count, std::size_t n);
Spread spread_of(const std::vector<double>& values);

struct SweepRow {
  Fraction speed;
  Settings settings;
  std::size_t all_held = 0;  // runs in which every expectation held
  std::size_t finished = 0, failed = 0;
  Spread missed, overruns, drift_s, distance_m;
  std::vector<Spread> figures = {};
};
/// One for each speed and setting, in the order of the points.
std::vector<SweepRow> rows_of(const std::vector<SweepPoint>& points, const SweepLog& log);
/// All results in one table, a line for each run: what was set, then what came out.
Table sweep_table(const SweepPlan& plan, const std::vector<SweepPoint>& points, const SweepLog& log);
/// A line for each speed and setting: shares, means and quantiles over its seeds, with their intervals.
Table summary_table(const SweepPlan& plan, const std::vector<SweepRow>& rows);
/// The key that is a number and differs the most often, to be drawn to the right; "" = speed.
std::string key_to_draw(const std::vector<SweepRow>& rows);
/// A picture: one panel for each quantity; to the right the key, or speed in factors of two where that is "".
std::string sweep_svg(const std::string& title, const std::vector<SweepRow>& rows, const std::string& key = "");

}  // namespace isochron::app
