#pragma once
// The conductor is one run in progress: it asks the timeline what comes next and has it done, by whoever does such
// things (ensemble.hpp), until the run is over. The world it steps itself.
//
// Threads: the coordinator's.

#include <memory>
#include <stop_token>
#include <vector>

#include "programs/answers.hpp"
#include "programs/arrivals.hpp"
#include "programs/coordinator.hpp"
#include "programs/launch.hpp"
#include "programs/stall_watch.hpp"

namespace isochron::programs {

class Conductor : private Callee::House, private Desk::House {
 public:
  Conductor(Plant& plant, const std::vector<RobotSpec>& robots, const CoordinatorOptions& options, Recorder* recorder,
            SimTime until);
  ~Conductor() override;

  RunOutcome conduct(std::stop_token stop, const ProgressTold& progress);

 private:
  void take_control();
  void loop(std::stop_token stop, const ProgressTold& progress);
  void perform(const Timeline::Event& event);
  void operate(const Timeline::Event& event);
  void wake(const Timeline::Event& event);
  void run_programs(const Timeline::Event& least);
  void listen(const Timeline::Event& event);
  void look_at_boards();
  void step_world(SimTime to);
  bool keep_pace(SimTime to);
  void exchange_with_correspondents();
  void settle_figures();
  void settle_figures(Member& m);
  void settle(ProgramOutcome& figures, std::uint32_t program);

  // Of the desk.
  void tell(std::uint32_t program, Happening::Kind kind, SimTime at, std::uint32_t about,
            std::span<const std::byte> bytes, SimTime stamp) override {
    teller_.tell(program, kind, at, about, bytes, stamp);
  }
  void message(std::uint32_t program, std::uint32_t link, SimTime at) override;

  // Of programs that are called.
  void show_world(SimTime at) override;
  void computed() override { all_.watch.was(&Accounting::executed); }
  void charged(std::uint32_t program, const Charge& charge) override { all_.charge(program, charge); }
  Trouble* trouble() override { return all_.options.trouble; }
  void failed(std::uint32_t program, SimTime at) override { all_.fails_run(program, at); }

  Ensemble all_;
  Teller teller_;
  DriftMeter drift_;
  Tapes tapes_;
  Execution execution_;
  Stacks stacks_;
  ForeignCalls foreign_calls_;
  ProgramLimits limits_;
  Arrivals arrivals_;
  Answers answers_;
  Launch launch_;
  StallWatch stall_watch_;
  SimTime paced_ = SimTime::never();  // the step that the pace held back
};

}  // namespace isochron::programs
