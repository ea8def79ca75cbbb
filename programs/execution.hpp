#pragma once
// Measured programs execute: for one window the program that came least far, and on every other lane one that may
// execute meanwhile; then what they executed is charged. Also where the clocks of programs stand while they do.
//
// Threads: the coordinator's. Cost: no allocation after the first windows.

#include <memory>
#include <string>
#include <vector>

#include "programs/drift_meter.hpp"
#include "programs/interference.hpp"
#include "programs/start_up.hpp"
#include "programs/tapes.hpp"

namespace isochron::programs {

class Execution {
 public:
  Execution(Ensemble& all, Tapes& tapes, DriftMeter& drift) : all_(all), tapes_(tapes), drift_(drift) {}

  /// Which cores are ours, and who executes on which: a program rings the bell of its lane from its start.
  void plan_lanes();
  void open_lanes();

  /// One window; then settle() of each of its turns.
  void run(const Timeline::Event& least);
  [[nodiscard]] std::size_t turns() const { return turns_.size(); }
  struct Over {
    std::uint32_t program;
    Dispatcher::Why why;
  };
  Over settle(std::size_t turn);

  /// The program computes from here on: what is known of its cost is owed at once.
  void begin(std::uint32_t program, SimTime at);
  /// Its clock shows `base`, and if it flows no more than `limit`.
  void show_clock(std::uint32_t program, SimTime base, SimTime limit, bool flowing);
  /// The thread that is answered goes first among its siblings: on the robot it would just go on, or preempt its equals.
  void favour(const Member& m, std::uint32_t link) {
    if (m.seat) all_.lanes->favour(*m.seat, static_cast<pid_t>(m.channel->owner(link)));
  }
  /// We wait for something else than programs. Who was stopped in the middle of its computing must be kept from it,
  /// which takes the core; where nobody was, others may have it.
  void rest();

 private:
  void find_turns(const Timeline::Event& least);
  CpuSpan charge_executed(std::uint32_t program);

  Ensemble& all_;
  Tapes& tapes_;
  DriftMeter& drift_;
  std::string missing_;  // privileges
  std::vector<std::unique_ptr<CoreClaim>> claims_;
  std::unique_ptr<Interference> interference_;
  std::vector<Timeline::Event> events_;  // the turns of a window, and what they are for
  std::vector<Timeline::Event> beside_;
  std::vector<Lanes::Turn> turns_;
};

}  // namespace isochron::programs
