#pragma once
// One program of a run with all that belongs to it: its process, its end of the shared memory, its cost, what it waits
// for, its letters, and the figures for the report.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/channel.hpp"
#include "coordinator/compute.hpp"
#include "coordinator/lanes.hpp"
#include "coordinator/mailbox.hpp"
#include "coordinator/outcome.hpp"
#include "coordinator/process.hpp"
#include "coordinator/spec.hpp"

namespace isochron::coordinator {

/// What stands at the end of what a program owes.
struct Pending {
  Charge::Kind kind = Charge::Kind::asked;
  std::uint32_t link = 0;
  bool others_run = false;
  protocol::Exchange exchange;
  SimTime resumed;  // of a recorded stall
};

/// The releases of one thread that waits periodically.
struct Releases {
  SimSpan period;
  SimTime release;
  bool started = false;
};

/// What a waiting link waits for.
struct Wait {
  bool receiving = false;
  bool periodic = false;
  bool recovering = false;  // not a request: a stalled program goes on
  bool reading = false;     // a sensor that takes its time
  std::uint32_t variable = 0;
  std::uint32_t from = anybody;
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
  ComputeCost cost;
  std::unique_ptr<Process> process;
  std::unique_ptr<Channel> channel;
  std::size_t lane = 0;  // measured only: where it executes
  std::optional<Lanes::Seat> seat;

  std::optional<Pending> pending;
  bool promised = false;  // recorded: what it owes before its next request is known already
  std::array<Releases, protocol::links_max> releases;
  std::array<Wait, protocol::links_max> waits;
  Mailbox mailbox;
  std::uint64_t letters_sent = 0;

  CpuTime cpu_base;    // executed before it attached
  CpuTime cpu_newest;  // since then, as last seen
  SimTime stalled_since;
  WallTime stalled_wall;
  std::optional<CpuTime> blocked_at;  // seen blocked once, when it had executed this
  std::optional<Silence> silence;     // since it was last let go, for those that run freely
  std::uint64_t requests_at_once = 0;
  SimTime last_request;
  protocol::Ask last_ask = protocol::Ask::none;
  ProgramOutcome figures;
};

}  // namespace isochron::coordinator
