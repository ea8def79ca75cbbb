#pragma once
// The ensemble is who and what a run of the coordinator consists of: its programs of every kind by their numbers, the
// timeline that orders them, the desk at which they ask, and what the run came to. The conductor and its parts share
// it; each of them does one thing with it:
//
//      Launch         starts the programs and ends them          Answers     takes what they ask to the desk
//      Execution      lets measured ones execute on their lanes  Stacks      is the simulated system's house
//      Arrivals       sees what each of them comes to            Tapes       records what it cost, and plays it again
//      ForeignCalls   those blocked where nobody can answer      Teller      tells the recorder what happened, in order
//      ProgramLimits  memory, and silence                        DriftMeter  how far they got apart
//      StallWatch     nothing moves any more: who waits for whom
//
// Programs that are called (callee.hpp) have the numbers after the executables, the threads of boards
// (board/boards.hpp) those after them.
//
// Threads: the coordinator's.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "programs/board/boards.hpp"
#include "programs/callee.hpp"
#include "programs/coordinator.hpp"
#include "programs/correspondent.hpp"
#include "programs/desk.hpp"
#include "programs/keeper.hpp"
#include "programs/lanes.hpp"
#include "programs/members.hpp"
#include "programs/stopwatch.hpp"
#include "programs/timeline.hpp"
#include "programs/watcher.hpp"

namespace isochron::programs {

struct Ensemble {
  /// Fails: throws InputError for what the specs cannot mean.
  Ensemble(Plant& plant, const std::vector<RobotSpec>& robots, const CoordinatorOptions& options, Recorder* recorder,
           SimTime until, Desk::House& desk_house, Callee::House& callee_house);
  ~Ensemble();
  Ensemble(const Ensemble&) = delete;
  Ensemble& operator=(const Ensemble&) = delete;

  Plant& plant;
  CoordinatorOptions options;
  Recorder* recorder;  // null: nobody is told
  Boards* boards;      // null: there are none
  SimTime until;
  std::string token;  // of the run, in the environment of all its processes
  RunOutcome outcome;
  Desk desk;
  Stopwatch watch;
  std::vector<std::unique_ptr<SharedMemory>> bells;  // one for each lane
  protocol::Bell& bell;                              // of lane 0, and of programs that are not measured
  Members members;
  std::uint32_t executables = 0;  // of the scenario
  std::vector<std::unique_ptr<Callee>> callees;
  std::uint32_t robot_cpus = 0;  // those of boards come after them
  std::vector<std::pair<Correspondent*, Post>> correspondents;
  std::unique_ptr<Timeline> timeline;
  std::unique_ptr<Keeper> keeper;    // null: no process was started
  std::unique_ptr<Lanes> lanes;      // null: nobody is measured
  std::unique_ptr<Watcher> watcher;  // null: there are no executables
  bool stopping = false;
  std::optional<std::pair<SimTime, std::uint32_t>> failure;  // when and whose the first was

  /// After all programs. They have no CPU: the number only keeps what they do in order beside what programs do.
  void add_correspondents();
  protocol::Bell& add_bell();

  /// Null: it is an executable.
  [[nodiscard]] Callee* callee(std::uint32_t program) {
    return members.has(program) ? nullptr : callees[program - executables].get();
  }
  [[nodiscard]] std::uint32_t cpu_of(std::uint32_t program) const;
  [[nodiscard]] bool is_board(std::uint32_t program) const { return boards != nullptr && boards->has(program); }
  [[nodiscard]] const std::string& name_of(std::uint32_t program) const {
    return is_board(program) ? boards->name(program) : figures_of(program).name;
  }

  /// Of the wall clock, as boards have it where there are any.
  [[nodiscard]] WallTime now() { return boards != nullptr ? boards->now() : watch.last(); }
  void charge(std::uint32_t program, const Charge& charge) {
    if (recorder != nullptr) recorder->charge(program, charge);
  }

  [[nodiscard]] bool told_to_stop() const { return options.stopping && options.stopping(); }
  void stop_with(std::string why);
  /// The run ends at this time, not at once: what others do until then belongs to it, however fast they are here. Of
  /// two that fail at one time the first in the scenario is named.
  void fails_run(std::uint32_t program, SimTime at);
  void end_after_failure();

 private:
  void make_members(const std::vector<RobotSpec>& robots, Callee::House& callee_house);
  void make_timeline(const std::vector<RobotSpec>& robots);
  [[nodiscard]] bool is_correspondent(std::uint32_t party) const {
    return party >= first_correspondent_ && party - first_correspondent_ < correspondent_names_;
  }
  [[nodiscard]] const ProgramOutcome& figures_of(std::uint32_t program) const {
    return members.has(program) ? members[program]->figures : callees[program - executables]->figures();
  }
  std::uint32_t first_correspondent_ = UINT32_MAX, correspondent_names_ = 0;  // among the desk's parties
};

}  // namespace isochron::programs
