#pragma once
// From a scenario to what it left: run_scenario() wires the federation, runs it to its end or until it is told to stop,
// and gives a report. The journal is complete in every case, also after Ctrl-C, a failed participant or a full disk.
//
// Promises: everything that a user could have got wrong (model, names, wiring, files) throws InputError before anything
//           starts. What goes wrong later is in RunReport::why, with RunReport::end == failed.
// Threads:  run_scenario blocks its caller; RunWatch may be read and stopped from any thread, stop() from a signal
// handler.

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/disk.hpp"
#include "journal/journal.hpp"
#include "scenario/hil_report.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

/// What a running federation shows and how it is stopped.
class RunWatch {
 public:
  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stopping() const noexcept { return stop_.load(std::memory_order_relaxed); }

  [[nodiscard]] const std::atomic<bool>& stop_flag() const noexcept { return stop_; }

  void at(SimTime time) { sim_ns_.store(time.ns(), std::memory_order_relaxed); }
  [[nodiscard]] SimTime time() const { return SimTime::from_ns(sim_ns_.load(std::memory_order_relaxed)); }
  void drift(SimSpan most) { drift_ns_.store(most.ns(), std::memory_order_relaxed); }
  [[nodiscard]] SimSpan drift() const { return SimSpan::from_ns(drift_ns_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> sim_ns_{0};
  std::atomic<std::int64_t> drift_ns_{0};
};

struct ProgramReport {
  std::string name;
  std::uint64_t activations = 0;
  std::uint64_t overruns = 0;
  std::uint64_t missed_deadlines = 0;
  std::uint64_t preemptions = 0;
  SimSpan executed;
  SimSpan waited;
  std::string end;  // how it ended, if not with the run
};

/// Where the wall time of a run went.
struct WallShares {
  WallSpan programs, world, coordination, idle;
};

struct RunReport {
  enum class End { finished, interrupted, failed };
  std::string scenario;
  Mode mode = Mode::callback;
  End end = End::finished;
  std::string why;  // failed: what to read first
  SimSpan simulated;
  WallSpan wall;
  SimSpan drift_max, drift_p99;
  bool drift_exact = true;
  WallShares shares;
  std::vector<ProgramReport> programs;
  std::optional<HilReport> hil;
  std::vector<std::string> notes;  // what the reader should know: degraded, dropped, late against the pace
  std::string journal;
  JournalSummary record;

  [[nodiscard]] double real_time_factor() const;
  [[nodiscard]] double coordination_share() const;
};
/// One JSON object, as `isochron run --json` ends with.
std::string to_json(const RunReport& report);

struct RunOptions {
  std::string journal;                              // "" = as the scenario says
  std::map<std::string, std::string> machine = {};  // recorded with the run
  /// Mode hil: told where targets connect to, and who is awaited.
  std::function<void(const std::string& address, const std::vector<std::string>& targets)> on_listening = {};
};

/// Builds everything the scenario names and throws what is wrong with it; starts nothing. `isochron check` does just
/// this.
void check_scenario(const Scenario& scenario);

RunReport run_scenario(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);

}  // namespace isochron
