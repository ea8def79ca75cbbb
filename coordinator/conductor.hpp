#pragma once
// The conductor is one run in progress: it asks the schedule what comes next and makes it so. launch.cpp starts and
// ends the programs, start_up.cpp knows what is free until they first wait, conductor.cpp has the loop and the physical
// execution, requests.cpp answers what programs ask, tapes.cpp records what it cost and plays it again. Programs that
// are called instead (callee.hpp) have the numbers after the executables.
//
// Threads: the coordinator's.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/callee.hpp"
#include "coordinator/coordinator.hpp"
#include "coordinator/keeper.hpp"
#include "coordinator/lanes.hpp"
#include "coordinator/member.hpp"
#include "coordinator/schedule.hpp"
#include "coordinator/stopwatch.hpp"
#include "coordinator/watcher.hpp"
#include "core/drift.hpp"
#include "rt/histogram.hpp"

namespace isochron::coordinator {

class Conductor : private Callee::House {
 public:
  Conductor(Plant& plant, const std::vector<RobotSpec>& robots, const CoordinatorOptions& options, Recorder* recorder,
            SimTime until);
  ~Conductor() override;

  Outcome conduct(std::stop_token stop, const ProgressTold& progress);

 private:
  struct Effect {
    SimTime at;
    std::uint32_t cpu = 0;
    std::uint64_t order = 0;
    std::uint32_t variable = 0;
    std::vector<std::byte> bytes;
    friend bool operator<(const Effect& a, const Effect& b) {
      return std::tie(a.at, a.cpu, a.order) < std::tie(b.at, b.cpu, b.order);
    }
  };

  // launch.cpp
  void make_members(const std::vector<RobotSpec>& robots);
  static void check_program(const ProgramSpec& spec, const std::string& name);
  void make_schedule(const std::vector<RobotSpec>& robots, SimTime until);
  void start_programs();
  void await_attach();
  [[nodiscard]] bool all_attached();
  protocol::Bell& add_bell();
  void plan_lanes();
  void open_lanes();
  void take_control();
  void end_programs();
  void answer_after_end(Member& member);
  void look_for_outsiders(bool at_the_end);
  void count_outsiders(Member& member);
  void settle_figures();
  void settle_figures(Callee& called, std::uint32_t program);

  // conductor.cpp
  void loop(std::stop_token stop, const ProgressTold& progress);
  void perform(const Schedule::Event& event);
  void step_world(SimTime to);
  void keep_pace(SimTime to);
  void rest_lanes();
  [[nodiscard]] bool told_to_stop() const { return options_.stopping && options_.stopping(); }
  void look_for_stall(const Schedule::Event& event);
  void run_programs(const Schedule::Event& least);
  void find_turns(const Schedule::Event& least);
  void settle_turn(const Schedule::Event& event, Dispatcher::Why why);
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

  // requests.cpp
  void operate(std::uint32_t program, SimTime at);
  void wake(std::uint32_t program, std::uint32_t link, SimTime at);
  void answer(std::uint32_t program, const Pending& pending, SimTime at);
  void answer_attach(std::uint32_t program, const Pending& pending, SimTime at);
  void answer_wait(std::uint32_t program, const Pending& pending, SimTime at);
  void answer_bind(std::uint32_t program, const Pending& pending, SimTime at);
  void answer_read(std::uint32_t program, const Pending& pending, SimTime at);
  void answer_write(std::uint32_t program, const Pending& pending, SimTime at);
  void answer_send(std::uint32_t program, const Pending& pending, SimTime at);
  void answer_receive(std::uint32_t program, const Pending& pending, SimTime at);
  void answer_clock(std::uint32_t program, const Pending& pending, SimTime at);
  void answer_log(std::uint32_t program, const Pending& pending, SimTime at);
  bool hand_over(std::uint32_t program, std::uint32_t link, SimTime at);
  void suspend(std::uint32_t program, const Pending& pending, SimTime until, bool receiving);
  [[nodiscard]] bool can_read(std::uint32_t variable) const;
  void read_plant(Member& m, std::uint32_t link, std::uint32_t variable, SimTime at, protocol::Exchange& exchange);
  void hand_reading(std::uint32_t program, std::uint32_t link, std::uint32_t variable, SimTime at);
  void done(std::uint32_t program, std::uint32_t link, protocol::Exchange exchange, SimTime at);
  void reply(std::uint32_t program, std::uint32_t link, const protocol::Exchange& exchange);
  void refuse(std::uint32_t program, std::uint32_t link, SimTime at, const protocol::Refusal& refusal);
  void refuse(std::uint32_t program, std::uint32_t link, protocol::Verdict verdict, SimTime at,
              const std::string& why) {
    refuse(program, link, at, {verdict, why});
  }
  void fault(std::uint32_t program, SimTime at, const std::string& what);
  void left(std::uint32_t program, SimTime at);
  [[nodiscard]] std::uint32_t find_program(const Member& from, std::string_view name) const;
  void add_effect(Effect effect);
  void apply_effects(SimTime before);
  void tell(std::uint32_t program, Happening::Kind kind, SimTime at, std::uint32_t about = UINT32_MAX,
            std::span<const std::byte> bytes = {}, SimTime stamp = {}) override;
  void flush_happenings(SimTime before);

  // for those that are called
  [[nodiscard]] Callee* callee(std::uint32_t program) {
    return program < members_.size() ? nullptr : callees_[program - members_.size()].get();
  }
  [[nodiscard]] std::uint32_t cpu_of(std::uint32_t program) const {
    return program < members_.size() ? members_[program]->cpu : callees_[program - members_.size()]->cpu();
  }
  [[nodiscard]] const ProgramOutcome& figures_of(std::uint32_t program) const {
    return program < members_.size() ? members_[program]->figures : callees_[program - members_.size()]->figures();
  }
  void show_world(SimTime at) override;
  void computed() override { watch_.was(&Accounting::executed); }
  void write(std::uint32_t cpu, SimTime at, std::uint32_t variable, std::span<const std::byte> value) override;
  void charged(std::uint32_t program, const Charge& charge) override;
  SimSpan delay(const std::string& name) override { return options_.delay ? options_.delay(name) : SimSpan::zero(); }
  void failed(std::uint32_t program, SimTime at) override { fails_run(program, at); }

  Plant& plant_;
  CoordinatorOptions options_;
  Recorder* recorder_;
  SimTime until_;
  std::string token_;
  Outcome outcome_;
  Stopwatch watch_;
  std::vector<std::unique_ptr<SharedMemory>> bell_memories_;  // one for each lane
  protocol::Bell& bell_;                                      // of lane 0, and of programs that are not measured
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<Callee>> callees_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<Keeper> keeper_;
  std::string missing_;  // privileges
  std::vector<std::unique_ptr<CoreClaim>> claims_;
  std::unique_ptr<Lanes> lanes_;
  std::unique_ptr<Interference> interference_;
  std::vector<Schedule::Event> events_;  // the turns of a window, and what they are for
  std::vector<Schedule::Event> beside_;
  std::vector<Lanes::Turn> turns_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<DriftLedger> drift_;
  rt::Histogram drift_histogram_;
  std::vector<Effect> effects_;  // a heap: the earliest first
  std::uint64_t effect_order_ = 0;
  std::vector<std::byte> clock_values_;            // room for those that are taken
  std::vector<std::deque<Happening>> happenings_;  // by CPU, until nothing earlier can come
  bool stopping_ = false;
  std::optional<std::pair<SimTime, std::uint32_t>> failure_;  // when and whose the first was
  WallTime moved_;                                            // something happened in simulated time
  bool stall_told_ = false;
  WallTime stalled_checked_;
  WallTime memory_checked_;
  std::uint32_t stalled_ = 0;
};

}  // namespace isochron::coordinator
