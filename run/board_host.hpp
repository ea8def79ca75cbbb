#pragma once
// The boards of a scenario: listens for them, starts those that the scenario gives a `run`, records how long each was
// held and why, and says at the end how the links were. They take part in the run like every other program
// (programs/board/boards.hpp).
//
// Requires: begin() before the run, finish() after it. Threads: the run's.

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "link/faults.hpp"
#include "link/reactor.hpp"
#include "link/serial.hpp"
#include "programs/board/boards.hpp"
#include "programs/board/local_target.hpp"
#include "run/hold_record.hpp"
#include "run/run.hpp"
#include "run/run_record.hpp"

namespace isochron {

std::vector<programs::TargetSpec> target_specs(const Scenario& scenario);
/// The scenario without its boards and the autopilots outside: what runs here.
Scenario without_targets(const Scenario& scenario);
/// Throws InputError for what cannot be listened on.
void check_boards(const Scenario& scenario);

class BoardHost {
 public:
  /// Where there is a record, holds are written to it by `producer`.
  BoardHost(const Scenario& scenario, RunRecord* record, Producer* producer, programs::Trouble* trouble);
  ~BoardHost();

  [[nodiscard]] programs::Boards& boards() { return *boards_; }
  /// Listens and starts those that run here. Throws InputError.
  using Listening = std::function<void(const std::string& address, const std::vector<std::string>& targets)>;
  void begin(const Listening& on_listening = {});
  /// Gives who still computes time to hear of the end, then says what there is to say.
  void finish(RunReport& report);

 private:
  void record(const programs::Hold& hold);
  void look_for_the_missing();
  [[nodiscard]] std::optional<std::string> missing(const std::vector<std::string>& awaited);
  [[nodiscard]] bool all_ended();
  void hear_of_the_end(RunReport& report);

  Scenario scenario_;
  Producer* producer_;
  Address at_;
  ChannelId holds_;
  HoldRecord hold_;
  link::EpollReactor reactor_;
  link::FaultyReactor network_;
  std::vector<std::unique_ptr<link::SerialListener>> lines_;
  std::unique_ptr<programs::Boards> boards_;
  std::list<programs::LocalTarget> local_;
  Reactor::TimerId timer_ = 0;
};

}  // namespace isochron
