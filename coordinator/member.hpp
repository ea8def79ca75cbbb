#pragma once
// One program of a run with all that belongs to it: its process, its end of the shared memory, its cost, what it waits
// for, its letters, and the figures for the report.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/channel.hpp"
#include "coordinator/compute.hpp"
#include "coordinator/lanes.hpp"
#include "coordinator/outcome.hpp"
#include "coordinator/per_link.hpp"
#include "coordinator/process.hpp"
#include "coordinator/spec.hpp"
#include "core/releases.hpp"
#include "link/mailbox.hpp"

namespace isochron::coordinator {

/// What stands at the end of what a program owes.
struct Pending {
  Charge::Kind kind = Charge::Kind::asked;
  std::uint32_t link = 0;
  bool others_run = false;
  protocol::Exchange exchange;
  SimTime resumed;     // of a recorded stall
  std::string output;  // printed before it
};

/// What a waiting link waits for.
struct Wait {
  bool receiving = false;
  bool periodic = false;
  bool recovering = false;  // not a request: a stalled program goes on
  bool reading = false;     // a sensor that takes its time
  std::uint32_t variable = 0;
  std::uint32_t from = protocol::anybody;
  std::string type;
  std::size_t capacity = 0;
};

/// A program that asks for nothing, as it was looked at.
struct Silence {
  CpuTime from, newest;   // what it had executed when it was first and last seen to execute
  WallTime stands_since;  // it executed nothing since
};

struct Member {
  Member(const ProgramSpec& program, std::string robot_name, std::string whole_name)
      : spec(program), robot(std::move(robot_name)), name(std::move(whole_name)), cost(spec, name) {
    figures.name = name;
  }
  ProgramSpec spec;
  std::string robot;
  std::string name;  // "predator/planner"
  std::uint32_t cpu = 0;
  std::uint32_t cores = 1;  // of its robot that its threads may use at once
  std::uint32_t robot_cores = 1;
  ComputeCost cost;
  std::unique_ptr<Process> process;
  std::unique_ptr<Channel> channel;
  std::size_t lane = 0;  // measured only: where it executes
  std::optional<Lanes::Seat> seat;

  std::optional<Pending> pending;
  bool promised = false;  // recorded: what it owes before its next request is known already
  PerLink<Releases> releases;
  PerLink<Wait> waits;
  protocol::Mailbox mailbox;
  std::uint64_t letters_sent = 0;

  enum class StartUp { before, going_on, over };
  StartUp start_up = StartUp::before;
  bool interpreter = false;  // its looks at the clock do not end its start-up
  CpuTime cpu_base;          // executed before it attached, and free of charge while it started up
  CpuTime cpu_newest;        // since then, as last seen; of a program on several cores: how long that took
  CpuSpan cpu_of_threads;    // of a program on several cores: what its threads executed since then
  SimTime stalled_since;
  WallTime stalled_wall;
  std::optional<CpuTime> blocked_at;  // seen blocked once, when it had executed this
  std::optional<Silence> silence;     // since it was last let go, for those that run freely
  bool limit_struck = false;
  std::uint64_t requests_at_once = 0;
  SimTime last_request;
  protocol::Ask last_ask = protocol::Ask::none;
  std::uint64_t output_taken = 0;  // bytes, up to what it asked for last
  std::uint64_t output_told = 0;
  std::map<pid_t, CpuSpan> outsiders;  // that came from it and live, with the CPU time they used
  ProgramOutcome figures;
};

}  // namespace isochron::coordinator
