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
#include "expect/judgement.hpp"
#include "journal/journal.hpp"
#include "run/agents_report.hpp"
#include "run/autopilot_report.hpp"
#include "run/hil_report.hpp"
#include "run/run_control.hpp"
#include "run/wire_report.hpp"
#include "scenario/scenario.hpp"
#include "v2x/comm/figures.hpp"

namespace isochron {

class Rendezvous;

/// What a running federation shows and how it is stopped.
class RunWatch {
 public:
  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stopping() const noexcept { return stop_.load(std::memory_order_relaxed); }

  [[nodiscard]] const std::atomic<bool>& stop_flag() const noexcept { return stop_; }

  void at(SimTime time) { sim_ns_.store(time.ns(), std::memory_order_relaxed); }
  [[nodiscard]] SimTime time() const { return SimTime::from_ns(sim_ns_.load(std::memory_order_relaxed)); }
  void drift(SimSpan most) { drift_ns_.store(most.ns(), std::memory_order_relaxed); }
  /// How the run is steered while it goes on.
  [[nodiscard]] RunControl& control() { return control_; }
  [[nodiscard]] SimSpan drift() const { return SimSpan::from_ns(drift_ns_.load(std::memory_order_relaxed)); }

  /// Real time, live: deadlines missed so far by all programs, and how late releases were.
  struct Deadlines {
    std::uint64_t missed = 0;
    WallSpan late_p99, late_max;
  };
  void deadlines(const Deadlines& d) {
    missed_.store(static_cast<std::int64_t>(d.missed), std::memory_order_relaxed);
    late_p99_ns_.store(d.late_p99.ns(), std::memory_order_relaxed);
    late_max_ns_.store(d.late_max.ns(), std::memory_order_relaxed);
  }
  /// Nothing where no program is on the wall clock.
  [[nodiscard]] std::optional<Deadlines> deadlines() const {
    const std::int64_t missed = missed_.load(std::memory_order_relaxed);
    if (missed < 0) return std::nullopt;
    return Deadlines{static_cast<std::uint64_t>(missed),
                     WallSpan::from_ns(late_p99_ns_.load(std::memory_order_relaxed)),
                     WallSpan::from_ns(late_max_ns_.load(std::memory_order_relaxed))};
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> sim_ns_{0};
  std::atomic<std::int64_t> drift_ns_{0};
  std::atomic<std::int64_t> missed_{-1}, late_p99_ns_{0}, late_max_ns_{0};
  RunControl control_;
};

/// Half, nearly all and the worst of many wall times.
struct Quantiles {
  WallSpan p50, p99, max;
};
/// How a program kept time on the wall clock.
struct Timing {
  Quantiles late;      // from its release until it was let go
  Quantiles response;  // from its release until it waited for the next one
};

struct ProgramReport {
  std::string name;
  std::uint64_t activations = 0;
  std::uint64_t overruns = 0;
  std::uint64_t missed_deadlines = 0;
  std::uint64_t preemptions = 0;
  SimSpan executed;
  SimSpan waited;
  SimSpan blocked;                              // in calls that are not followed
  CpuSpan startup;                              // executed before it first waited, and not charged
  std::uint64_t outsiders = 0;                  // processes that it started: they took no part, and saw real time
  CpuSpan outsiders_cpu;                        // what these used, charged to nobody
  std::string end;                              // how it ended, if not with the run
  std::optional<Timing> timing = std::nullopt;  // in real time
};

/// Where the wall time of a run went.
struct WallShares {
  WallSpan programs, world, coordination;
  WallSpan waited;  // for a blocked program, or for a core that the machine gave to others
  WallSpan idle;    // held back by the pace
};

struct RunReport {
  enum class End { finished, interrupted, failed, violated };  // violated: ended at the first violation
  std::string scenario;
  Mode mode = Mode::callback;
  End end = End::finished;
  std::string why;  // failed: what to read first
  SimSpan simulated;
  WallSpan wall;
  SimSpan drift_max, drift_p99, drift_p999;
  bool drift_exact = true;
  std::optional<SimSpan> promised;  // the most that the mode lets participants drift; nothing: it promises no figure
  bool in_order = false;            // flows: everything is taken in at its time, whatever the drift
  std::string late_preemption;      // the worst, if any was late: when, by how much, by whose doing
  SimSpan late_beyond;              // what a program executed beyond its turn there
  WallShares shares;
  std::string control;  // how measured programs were dispatched, and on which cores; "" where none is measured
  std::vector<ProgramReport> programs;
  std::optional<HilReport> hil;
  std::vector<AutopilotReport> autopilots;
  std::vector<WireReport> wires;
  std::optional<v2x::AirFigures> v2x;  // of runs whose agents talk by radio
  std::optional<AgentsReport> agents;
  std::vector<std::string> not_repeatable;  // who keeps it from being the same twice, and why; none = it repeats
  std::vector<expect::Judgement> expectations;
  std::vector<std::string> notes;  // what the reader should know: degraded, dropped, late against the pace
  std::string journal;
  JournalSummary record;
  bool given_up = false;  // a thread stayed behind in somebody's code: end the process without further ado

  [[nodiscard]] double real_time_factor() const;
  [[nodiscard]] double coordination_share() const;
};
const char* to_string(RunReport::End end);
/// One JSON object, as `isochron run --json` ends with.
std::string to_json(const RunReport& report);
/// A JSON array, as the report has it under `expectations`.
std::string to_json(const std::vector<expect::Judgement>& outcomes);

struct RunOptions {
  std::string journal;                              // "" = as the scenario says
  std::map<std::string, std::string> machine = {};  // recorded with the run
  std::string node = {};                            // run this node only; the others run elsewhere
  std::map<std::string, std::string> places = {};   // where nodes listen of which the scenario does not say it
  const flow::Graph* graph = nullptr;             // the whole system, where it is known and only one node is to be made
  bool show_output = false;                       // of programs, on our stderr
  std::vector<Mark> marks = {};                   // what is done to the run, when; as in a recorded one
  JournalTap* tap = nullptr;                      // sees what is recorded, as it is
  unsigned char poison = 0;                       // not 0: nodes find it in the memory of messages that they fill
  std::function<void()> on_violation = {};        // of the first expectation, if that ends the run; from any thread
  std::function<void()> on_journal_failure = {};  // the disk is full, or the file was deleted; from any thread
  /// Mode hil: told where targets connect to, and who is awaited.
  std::function<void(const std::string& address, const std::vector<std::string>& targets)> on_listening = {};
  /// Runs it another way than the scenario's mode: as one client of a world that is served elsewhere.
  std::function<RunReport(const Scenario&, const RunOptions&, Clock&, Disk&, RunWatch&)> instead = {};
  Rendezvous* rendezvous = nullptr;  // with whoever launched the node, where lost ones are started again
};

/// Builds everything the scenario names and throws what is wrong with it; starts nothing. `isochron check` does just
/// this.
void check_scenario(const Scenario& scenario);

/// Throws InputError where `network.restarts` asks for what cannot be.
void check_restarts(const Scenario& scenario);
/// Whether this build can carry flows between processes as the scenario wants it.
void check_carrier(const Scenario& scenario);
/// Who keeps the run from being the same twice: "prey/planner: its computing is measured".
std::vector<std::string> not_repeatable(const Scenario& scenario);

RunReport run_scenario(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch);

}  // namespace isochron
