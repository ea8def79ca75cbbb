#pragma once
// The lanes are the cores of this machine on which measured programs execute, each with a dispatcher of its own. Within
// a window every lane executes at most one program, all of them at once; then all have stopped and the schedule is
// asked again. The programs of one virtual CPU always execute on the same lane.
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

#include "coordinator/dispatcher.hpp"

namespace isochron::coordinator {

class Lanes {
 public:
  struct Seat {
    std::size_t lane = 0;
    std::size_t index = 0;  // in that lane's dispatcher
  };
  struct Turn {
    Seat seat;
    CpuSpan budget;
    Dispatcher::Why why = Dispatcher::Why::used_up;
  };

  /// One lane for each claim, dispatched with real-time priorities; as many bells.
  Lanes(std::vector<std::unique_ptr<CoreClaim>> claims, std::span<protocol::Bell* const> bells);
  /// A single lane.
  explicit Lanes(std::unique_ptr<Dispatcher> only);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  [[nodiscard]] std::size_t count() const { return 1 + helpers_.size(); }
  /// As the report names it.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool degraded() const { return own_->degraded(); }

  Seat admit(std::size_t lane, Process& process, Channel& channel);
  /// A program that is not measured keeps off all lanes.
  void send_away(Process& process);
  /// Lets all of them execute at the same time, each on its lane, and returns when all have stopped. At most one turn
  /// for each lane.
  void run(std::span<Turn> turns);
  [[nodiscard]] CpuTime executed(Seat seat) const { return dispatcher(seat.lane).executed(seat.index); }
  Dispatcher::Why try_blocked(Seat seat, WallSpan span);
  void favour(Seat seat, pid_t thread);
  void hold();

 private:
  class Helper;
  [[nodiscard]] Dispatcher& dispatcher(std::size_t lane) const;
  std::vector<int> cores_;
  std::unique_ptr<Dispatcher> own_;
  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace isochron::coordinator
