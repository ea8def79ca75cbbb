#pragma once
// The conductor is one run in progress: it asks the timeline what comes next and makes it so. launch.cpp starts and
// ends the programs, start_up.cpp knows what is free until they first wait, conductor.cpp has the loop and the physical
// execution, requests.cpp takes what programs ask to the desk, tapes.cpp records what it cost and plays it again,
// stacks.cpp is the simulated system's house.
// Programs that are called instead (callee.hpp) have the numbers after the executables, and the threads of boards
// (board/boards.hpp) those after them.
//
// Threads: the coordinator's.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/drift.hpp"
#include "programs/board/boards.hpp"
#include "programs/callee.hpp"
#include "programs/coordinator.hpp"
#include "programs/correspondent.hpp"
#include "programs/desk.hpp"
#include "programs/happening_queue.hpp"
#include "programs/keeper.hpp"
#include "programs/lanes.hpp"
#include "programs/members.hpp"
#include "programs/stopwatch.hpp"
#include "programs/system/system.hpp"
#include "programs/timeline.hpp"
#include "programs/watcher.hpp"
#include "rt/histogram.hpp"

namespace isochron::programs {

class Conductor : private Callee::House, private Desk::House, private Boards::House, private System::House {
 public:
  Conductor(Plant& plant, const std::vector<RobotSpec>& robots, const CoordinatorOptions& options, Recorder* recorder,
            SimTime until);
  ~Conductor() override;

  Outcome conduct(std::stop_token stop, const ProgressTold& progress);

 private:
  // launch.cpp
  void make_members(const std::vector<RobotSpec>& robots);
  static void check_program(const ProgramSpec& spec, const std::string& name);
  void make_timeline(const std::vector<RobotSpec>& robots, SimTime until);
  void add_correspondents();
  void start_programs();
  void await_attach();
  void await_boards(const std::stop_token& stop);
  [[nodiscard]] bool all_attached();
  protocol::Bell& add_bell();
  void plan_lanes();
  void open_lanes();
  void take_control();
  void end_programs();
  void answer_after_end(std::uint32_t program);
  void look_for_outsiders(bool at_the_end);
  void count_outsiders(Member& member);
  void settle_figures();
  void settle_figures(Callee& called, std::uint32_t program);

  // conductor.cpp
  void loop(std::stop_token stop, const ProgressTold& progress);
  void perform(const Timeline::Event& event);
  void listen(const Timeline::Event& event);
  void look_at_boards();
  [[nodiscard]] WallTime now() { return boards_ != nullptr ? boards_->now() : watch_.last(); }
  void step_world(SimTime to);
  void exchange_with_correspondents();
  bool keep_pace(SimTime to);
  void rest_lanes();
  [[nodiscard]] bool told_to_stop() const { return options_.stopping && options_.stopping(); }
  void look_for_stall(const Timeline::Event& event);
  void run_programs(const Timeline::Event& least);
  void find_turns(const Timeline::Event& least);
  void settle_turn(const Timeline::Event& event, Dispatcher::Why why);
  void show_clock(std::uint32_t program, SimTime base, SimTime limit, bool flowing);
  CpuSpan charge_executed(std::uint32_t program);
  void request_arrived(std::uint32_t program, std::uint32_t link);
  void take_clock_values(std::uint32_t program, std::uint32_t link);
  static void hand_clock_values(Member& m, std::uint32_t link);
  void take_order(std::uint32_t program, bool all);
  static void hand_order(Member& m);
  [[nodiscard]] bool others_run(const Member& m, const protocol::Exchange& exchange) const;
  void idle(std::uint32_t program, const protocol::Exchange& exchange);
  [[nodiscard]] std::string take_output(std::uint32_t program, const Charge* then);
  void tell_output(std::uint32_t program, const std::string& output, SimTime at);
  void blocked(std::uint32_t program);
  void ended(std::uint32_t program);
  void await_arrival(std::uint32_t program);
  bool collect_arrivals();
  bool collect_arrival(std::uint32_t program);
  void check_silence(std::uint32_t program);
  void parted(std::uint32_t program, const std::string& how);
  [[nodiscard]] std::string cannot_follow(std::uint32_t program);
  void check_memory();
  bool hangs(Member& m) const;
  void await_stalled(std::uint32_t program);
  void look_after_stalled();
  void recover(std::uint32_t program, WallTime when);
  void begin(std::uint32_t program, SimTime at);
  void promise(std::uint32_t program);
  void take_charge(std::uint32_t program);
  void follow(std::uint32_t program);
  void record_wake(std::uint32_t program, std::uint32_t link);
  void record_unfinished();
  void tell_turns();
  [[nodiscard]] SimSpan drift_so_far() const;
  void record_drift(std::uint32_t cpu);
  void record_drift_of_all();
  void fails_run(std::uint32_t program, SimTime at);
  void end_after_failure();
  void stop_with(std::string why);

  // start_up.cpp
  void attached(Member& m, const protocol::Exchange& exchange);
  CpuSpan forgive_start_up(std::uint32_t program, CpuSpan executed);
  void charge_start_up(std::uint32_t program);
  void end_start_up(Member& m);
  bool blocks_while_starting(std::uint32_t program, WallTime now);

  // stacks.cpp
  void open_system(const std::vector<RobotSpec>& robots);
  void call(std::uint32_t program, const Pending& pending, SimTime at);
  void wake_call(std::uint32_t program, std::uint32_t link, SimTime at, bool others_run);
  void answer_call(std::uint32_t program, std::uint32_t link, SimTime at);
  void look_again(std::uint32_t program, std::uint32_t link, SimTime at) override;
  std::int64_t prepare_child(std::uint32_t program, std::uint32_t number, SimTime at) override;
  std::optional<std::uint32_t> adopt_child(std::uint32_t program, std::int64_t process, SimTime at) override;
  Taken takes(std::uint32_t program, int signal) override;
  void send_signal(std::uint32_t program, int signal, std::uint32_t link) override;
  void kill_process(std::uint32_t program, int signal) override;
  static void hand_signals(Member& m, std::uint32_t link);
  static void let_others_run(Member& m, const Pending& pending);
  void print(std::uint32_t program, std::span<const std::byte> text, SimTime at) override;
  void refuse(std::uint32_t program, SimTime at, const std::string& what) override { desk_.fault(program, at, what); }

  // requests.cpp
  void operate(std::uint32_t program, SimTime at);
  bool held_up(std::uint32_t program, SimTime at);
  void wake(const Timeline::Event& event);
  void answer(std::uint32_t program, const Pending& pending, SimTime at);
  void looked_at_clock(Member& m);
  void suspend(std::uint32_t program, const Pending& pending, const Desk::Suspend& later);
  void reply(std::uint32_t program, std::uint32_t link, SimTime at);
  void message(std::uint32_t program, std::uint32_t link, SimTime at) override;
  void left(std::uint32_t program, SimTime at);
  void tell(std::uint32_t program, Happening::Kind kind, SimTime at, std::uint32_t about,
            std::span<const std::byte> bytes, SimTime stamp) override;
  void flush_happenings(SimTime before);

  // for those that are called
  [[nodiscard]] Callee* callee(std::uint32_t program) {
    return members_.has(program) ? nullptr : callees_[program - executables_].get();
  }
  [[nodiscard]] std::uint32_t cpu_of(std::uint32_t program) const {
    if (members_.has(program)) return members_[program]->cpu;
    return is_correspondent(program) ? desk_.party(program).cpu : callees_[program - executables_]->cpu();
  }
  [[nodiscard]] const ProgramOutcome& figures_of(std::uint32_t program) const {
    return members_.has(program) ? members_[program]->figures : callees_[program - executables_]->figures();
  }
  [[nodiscard]] bool is_correspondent(std::uint32_t party) const {
    return party >= first_correspondent_ && party - first_correspondent_ < correspondent_names_;
  }
  [[nodiscard]] bool is_board(std::uint32_t program) const { return boards_ != nullptr && boards_->has(program); }
  [[nodiscard]] const std::string& name_of_program(std::uint32_t program) const {
    return is_board(program) ? boards_->name(program) : figures_of(program).name;
  }
  void board_at(std::uint32_t slot, WallTime now, SimTime executed) override;
  void board_left(std::uint32_t slot, WallTime now) override;
  void show_world(SimTime at) override;
  void computed() override { watch_.was(&Accounting::executed); }
  void charged(std::uint32_t program, const Charge& charge) override;
  Trouble* trouble() override { return options_.trouble; }
  void failed(std::uint32_t program, SimTime at) override { fails_run(program, at); }

  Plant& plant_;
  CoordinatorOptions options_;
  Recorder* recorder_;
  Boards* boards_;  // null: there are none
  SimTime until_;
  std::string token_;
  Outcome outcome_;
  Desk desk_;
  Reply reply_;
  Stopwatch watch_;
  std::vector<std::unique_ptr<SharedMemory>> bell_memories_;  // one for each lane
  protocol::Bell& bell_;                                      // of lane 0, and of programs that are not measured
  Members members_;
  std::uint32_t executables_ = 0;   // of the scenario
  std::unique_ptr<System> system_;  // null: no program is a stack
  std::vector<std::unique_ptr<Callee>> callees_;
  std::uint32_t robot_cpus_ = 0;  // those of boards come after them
  std::vector<std::pair<Correspondent*, Post>> correspondents_;
  std::uint32_t first_correspondent_ = UINT32_MAX, correspondent_names_ = 0;  // among the desk's parties
  std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<Keeper> keeper_;
  std::string missing_;  // privileges
  std::vector<std::unique_ptr<CoreClaim>> claims_;
  std::unique_ptr<Lanes> lanes_;
  std::unique_ptr<Interference> interference_;
  std::vector<Timeline::Event> events_;  // the turns of a window, and what they are for
  std::vector<Timeline::Event> beside_;
  std::vector<Lanes::Turn> turns_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<DriftLedger> drift_;
  rt::Histogram drift_histogram_;
  std::vector<std::byte> clock_values_;  // room for those that are taken
  HappeningQueue happenings_;            // until nothing earlier can come
  bool stopping_ = false;
  std::optional<std::pair<SimTime, std::uint32_t>> failure_;  // when and whose the first was
  SimTime paced_ = SimTime::never();                          // the step that the pace held back
  WallTime moved_;                                            // something happened in simulated time
  bool stall_told_ = false;
  WallTime stalled_checked_;
  WallTime memory_checked_;
  std::uint32_t stalled_ = 0;
};

}  // namespace isochron::programs
