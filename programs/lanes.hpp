#pragma once
// The lanes are the cores of this machine on which measured programs execute, each with a dispatcher of its own. Within
// a window every lane executes at most one program, all of them at once; then all have stopped and the timeline is
// asked again. The programs of one virtual CPU always execute on the same lane; one that is spread over several cores
// of its robot executes on several lanes at once, see spread.hpp.
//
//   lane 0   coordinator ──▶ program a ──▶│ coordinator answers ──▶ program a …
//   lane 1   helper      ──▶ program b ▶  │ spins                ──▶ program b …
//                                         └ all have stopped
//
// A helper spins between windows rather than sleeps: waking a core takes longer than most answers, and while it spins
// the programs of its core stand still.
//
// Threads: owner thread, which is lane 0; a thread of our own for each other lane.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "programs/dispatcher.hpp"

namespace isochron::programs {

class Lanes {
 public:
  using Seat = std::size_t;
  struct Turn {
    Seat seat;
    CpuSpan budget;
    Dispatcher::Why why = Dispatcher::Why::used_up;
  };

  /// One lane for each claim, dispatched with real-time priorities; as many bells.
  Lanes(std::vector<std::unique_ptr<CoreClaim>> claims, std::span<protocol::Bell* const> bells);
  /// A single lane.
  Lanes(std::unique_ptr<Dispatcher> only, protocol::Bell& bell);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  [[nodiscard]] std::size_t count() const { return 1 + helpers_.size(); }
  /// As the report names it.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool degraded() const { return own_->degraded(); }

  /// `first`: its lane, the one whose bell it rings; where it may use several cores of its robot, the first of several.
  Seat admit(std::size_t first, std::uint32_t cores, Process& process, Channel& channel);
  /// A program that is not measured keeps off all lanes.
  void send_away(Process& process);
  /// The lanes that a program takes, a bit each.
  [[nodiscard]] std::uint64_t lanes_of(Seat seat) const { return seats_[seat].lanes; }
  /// Lets all of them execute at the same time, each on its lanes, and returns when all have stopped. No two turns take
  /// the same lane.
  void run(std::span<Turn> turns);
  /// Up to the end of its last turn, in CPU time of one core.
  [[nodiscard]] CpuTime executed(Seat seat) const { return seats_[seat].executed; }
  /// By how much its last turn was ended late.
  [[nodiscard]] WallSpan late(Seat seat) const;
  Dispatcher::Why try_blocked(Seat seat, WallSpan span);
  void favour(Seat seat, pid_t thread);
  void hold();
  /// The same for a while: their cores are left to whoever else wants them.
  void rest();

 private:
  class Helper;
  /// A program, or a part of one, on one lane.
  struct Part {
    std::size_t lane = 0;
    std::size_t index = 0;  // in that lane's dispatcher
    CpuSpan budget;
    Dispatcher::Why why = Dispatcher::Why::used_up;
    CpuTime before;
  };
  struct Admitted {
    std::vector<Part> parts;
    std::unique_ptr<Spread> spread;
    std::uint64_t lanes = 0;
    CpuTime executed;
  };
  [[nodiscard]] Dispatcher& dispatcher(std::size_t lane) const;
  void begin(Turn& turn);
  Dispatcher::Why settle(Admitted& seat);
  void balance(Admitted& seat);
  std::vector<int> cores_;
  std::vector<protocol::Bell*> bells_;
  std::vector<Admitted> seats_;
  std::vector<std::unique_ptr<SecondTimer>> second_timers_;  // by lane
  std::unique_ptr<Dispatcher> own_;
  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace isochron::programs
