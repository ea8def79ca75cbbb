#pragma once
// One program of a run with all that belongs to it: its process, its end of the shared memory, its cost, and the
// figures for the report.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "programs/channel.hpp"
#include "programs/compute.hpp"
#include "programs/lanes.hpp"
#include "programs/outcome.hpp"
#include "programs/process.hpp"
#include "programs/spec.hpp"

namespace isochron::programs {

/// What stands at the end of what a program owes.
struct Pending {
  Charge::Kind kind = Charge::Kind::asked;
  std::uint32_t link = 0;
  protocol::Call call;  // where it asks for one
  bool others_run = false;
  protocol::Exchange exchange;
  SimTime resumed;     // of a recorded stall
  std::string output;  // printed before it
};

/// A program that asks for nothing, as it was looked at.
struct Silence {
  CpuTime from, newest;   // what it had executed when it was first and last seen to execute
  WallTime stands_since;  // it executed nothing since
};

/// Whether a request is answered in the order of time between all CPUs.
inline bool in_order(protocol::Ask ask) { return ask == protocol::Ask::read || ask == protocol::Ask::receive; }

struct Member {
  Member(const ProgramSpec& program, std::string robot_name, std::string whole_name)
      : spec(program), robot(std::move(robot_name)), name(std::move(whole_name)), cost(spec, name) {
    figures.name = name;
  }
  ProgramSpec spec;
  std::uint32_t number = 0;  // of all programs of the run
  Member* root = nullptr;    // the program of the scenario that it came from; null: it is one itself
  std::uint32_t born = 0;    // of a root: processes that came from it so far
  std::string robot;
  std::string name;  // "predator/planner"
  std::uint32_t cpu = 0;
  std::uint32_t cores = 1;  // of its robot that its threads may use at once
  std::uint32_t robot_cores = 1;
  ComputeCost cost;
  std::size_t watched = 0;  // its number at the watcher
  std::unique_ptr<Process> process;
  std::unique_ptr<Channel> channel;
  std::size_t lane = 0;  // measured only: where it executes
  std::optional<Lanes::Seat> seat;

  std::optional<Pending> pending;
  std::map<std::uint32_t, Pending> stopped;  // by a fault: what its threads ask for when they go on
  bool promised = false;                     // recorded: what it owes before its next request is known already
  bool recovering = false;                   // it was stalled: its first link goes on, which asked for nothing

  enum class StartUp { before, going_on, over };
  StartUp start_up = StartUp::before;
  [[nodiscard]] bool starts_up() const { return start_up == StartUp::going_on; }
  bool interpreter = false;  // its looks at the clock do not end its start-up
  CpuTime cpu_base;          // executed before it attached, and free of charge while it started up
  CpuTime cpu_newest;        // since then, as last seen; of a program on several cores: how long that took
  CpuSpan cpu_of_threads;    // of a program on several cores: what its threads executed since then
  SimTime stalled_since;
  WallTime stalled_wall;
  std::optional<CpuTime> blocked_at;  // seen blocked once, when it had executed this
  std::optional<Silence> silence;     // since it was last let go, for those that run freely
  struct Turns {                      // between its requests, for Placement
    std::uint32_t count = 0;
    CpuTime cpu;
    bool seen = false;
    bool at_home = false;
  } turns;
  bool limit_struck = false;
  std::uint64_t requests_at_once = 0;
  std::uint32_t at_once = 0;  // calls that were answered at once while other threads could run
  SimTime last_request;
  protocol::Ask last_ask = protocol::Ask::none;
  protocol::SystemCall last_call = protocol::SystemCall::none;
  std::map<std::uint32_t, std::uint64_t> signals;  // by link: that it sends itself when that is answered
  std::unique_ptr<SharedMemory> child_memory;      // of the child that it is about to have
  std::uint64_t output_taken = 0;                  // bytes, up to what it asked for last
  std::uint64_t output_told = 0;
  std::map<pid_t, CpuSpan> outsiders;  // that came from it and live, with the CPU time they used
  ProgramOutcome figures;
};

}  // namespace isochron::programs
