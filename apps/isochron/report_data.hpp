#pragma once
// What a report needs to know of one run, taken from the journal that the run left. A journal that was cut or damaged
// gives what it has; what is missing stands in `banners`, for the top of the page.
//
// Threads: owner thread.
// Cost:    one pass over the journal for its digest and one for its records; keeps about 40 bytes for each world step.
// Fails:   load_run throws InputError when the file cannot be read at all or is no journal.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/disk.hpp"
#include "run/run.hpp"

namespace isochron::app {

/// One point of a line: x is simulated seconds.
struct Point {
  double x = 0, y = 0;
};
using Line = std::vector<Point>;

/// How far two bodies were from each other, in metres, over time.
struct PairDistance {
  std::string a, b;
  Line line;
};

/// Any number of any topic over time, as asked for with --plot.
struct Variable {
  std::string name;  // prey/imu.linear_acceleration.x
  Line line;
};

/// A program's work for one release: due at, began at, last seen doing something at.
struct Activation {
  double due_s = 0, begin_s = 0, end_s = 0;
};

/// When it had its core: ready for it since, had it from, to; and who took it away, "" if it let go by itself.
struct CoreTurn {
  double asked_s = 0, from_s = 0, to_s = 0;
  std::string preempted_by;
};

/// Something else that a program did, such as a message sent, or that an answer was held.
struct Happened {
  double at_s = 0;
  std::string what;
  std::string about;   // the other program; of a hold, for how long and by whom
  double since_s = 0;  // of a message received: when it was sent
};

/// What one program did.
struct ProgramTrack {
  std::string program;  // "predator/planner"
  std::vector<Activation> activations;
  std::vector<CoreTurn> turns;  // none where it had no virtual core: a board, the wall clock
  std::vector<Happened> happened;
  double charged_s = 0;  // computing time on its tape
};

/// What became of one expectation.
struct ExpectationFigures {
  std::string name, expects, verdict, why;
  std::uint64_t samples = 0, violations = 0;
  std::optional<double> first_s;  // when it was first violated
};

struct WallShare {
  std::string what;
  double seconds = 0;
};

/// Radio: what was delivered how far and how late, and what became of the rest.
struct V2xFigures {
  std::uint64_t messages = 0;
  std::vector<std::pair<std::string, std::uint64_t>> by_type, receptions;
  Line delivery;  // share delivered over metres
  Line latency;   // share delivered within so many milliseconds
  double latency_mean_s = 0, latency_p99_s = 0, latency_max_s = 0, busy_mean = 0, busy_max = 0;
};

/// What one vehicle did; the lower half is of those with wheels.
struct VehicleFigures {
  std::string name;
  Line speed;                                          // km/h over time, every peak kept
  double distance = 0, driven_s = 0, stood_s = 0;      // m, s
  double speed_most = 0, accelerated = 0, braked = 0;  // m/s, m/s²
  bool full = false;
  double gear_most = 0, rpm_most = 0, slip_most = 0;  // slip as a share
  double travel_most = 0, load_least = 1e300;         // m, N
};

/// What one aircraft did; the last line is of those with a battery.
struct AircraftFigures {
  std::string name;
  Line height;                                                           // m over time, every peak kept
  double distance = 0, flown_s = 0, height_most = 0;                     // m, s
  double speed_most = 0, airspeed_most = 0, tilt_most = 0;               // m/s, rad
  double energy = 0, power_most = 0, charge = 1, voltage_least = 1e300;  // J, W, share, V
};

/// How the run judged itself (run/verdict.hpp); all "" in journals of versions that did not.
struct VerdictFigures {
  std::string coherence;  // "coherent"
  std::string why;
  std::string line;  // all of it
};

/// The figures at the end of a run; a run that was killed left none.
struct Figures {
  VerdictFigures verdict;
  std::string end, why;
  std::string control;  // how measured programs were dispatched
  double simulated_s = 0, wall_s = 0, real_time_factor = 0;
  double drift_max_s = 0, drift_p99_s = 0, drift_p999_s = 0;
  std::optional<double> promised_s;  // the most drift that its mode promised
  bool drift_exact = true;
  std::vector<ProgramReport> programs;
  std::vector<ExpectationFigures> expectations;
  std::vector<WallShare> shares;
  std::optional<HilReport> hil;
  std::vector<AutopilotReport> autopilots;
  std::vector<WireReport> wires;
  std::optional<V2xFigures> v2x;
  std::optional<AgentsReport> agents;
};

struct RunData {
  std::string file, scenario, mode, seed;
  std::string executor;              // of flows; "" for other runs
  std::vector<std::string> banners;  // what is wrong with the journal
  std::vector<std::string> notes;    // what the run wants its reader to know
  std::optional<Figures> ending;
  std::string digest;
  bool digest_complete = true;
  double last_record_s = 0;
  std::uint64_t records = 0;
  std::string scenario_text;
  Line drift;  // seconds of drift; each point is the most since the one before
  std::vector<PairDistance> pairs;
  std::vector<Variable> variables;
  std::vector<ProgramTrack> tracks;
  std::vector<VehicleFigures> vehicles;
  std::vector<AircraftFigures> aircraft;

  /// The most that its mode lets it drift; nothing if it promises no figure, or left none.
  [[nodiscard]] std::optional<double> bound_s() const;
  [[nodiscard]] std::uint64_t missed() const;
};

RunData load_run(Disk& disk, const std::string& file);
/// Adds a variable by its name (journal/names.hpp). Throws InputError when this run has none of that name.
void load_variable(Disk& disk, RunData& run, const std::string& wanted);

}  // namespace isochron::app
