// Every figure is of real processes. The machine matters: real-time privileges, and what else it does.

#include "programs/bench/coordinator_bench.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/forwarding_plant.hpp"
#include "programs/bench/bare_switch.hpp"
#include "programs/bench/empty_plant.hpp"
#include "programs/coordinator.hpp"
#include "programs/futex.hpp"
#include "rt/allocation_guard.hpp"

namespace isochron::bench {

namespace {

using namespace programs;
using namespace std::chrono_literals;

RobotSpec robot(const std::string& name, std::vector<std::string> arguments, Compute compute = MeasuredCompute{}) {
  ProgramSpec program;
  program.name = "program";
  program.run = std::move(arguments);
  program.run.insert(program.run.begin(), BENCH_PROGRAM);
  program.compute = std::move(compute);
  return {name, 1, {}, {program}};
}

RunOutcome run(std::vector<RobotSpec> robots, SimSpan until, SimSpan step, SimSpan quantum,
               Recorder* recorder = nullptr, std::uint32_t lanes = 0) {
  EmptyPlant plant;
  CoordinatorOptions options;
  options.cores = lanes;
  options.step = step;
  options.quantum = quantum;
  options.grace = 50ms;
  options.interpose_library = INTERPOSE_LIBRARY;
  return Coordinator(plant, std::move(robots), options, recorder).run(SimTime::zero() + until);
}

double us(auto span) { return static_cast<double>(span.ns()) * 1e-3; }

void drift(Report& report, SimSpan quantum, const std::string& name, double p99_us, double share) {
  const std::vector<RobotSpec> robots{robot("a", {"spin"}), robot("b", {"period", "10000"}), robot("c", {"spin"})};
  const RunOutcome r = run(robots, 1s, quantum, quantum);
  report.at_most("drift_p99_quantum_" + name, us(r.drift_p99), "us", p99_us);
  const Accounting& a = r.accounting;
  // Of the CPU time that was ours: what the machine took away in between is nobody's.
  const double busy = (a.executed + a.world + a.coordination).seconds();
  report.at_most("coordination_share_quantum_" + name, 100 * a.coordination.seconds() / busy, "%", share);
}

void growth(Report& report) {
  const std::vector<RobotSpec> robots{robot("a", {"spin"}), robot("b", {"spin"})};
  const double brief = us(run(robots, 200ms, 1ms, 1ms).drift_p99);
  const double extended = us(run(robots, 2s, 1ms, 1ms).drift_p99);
  report.ratio_at_most("drift_p99_after_2_s", extended, "us", "after 0.2 s", brief, 1.1);
}

/// This thread alone at a real-time priority on the last core, as the coordinator is; its children stay below it.
class OnTheLastCore {
 public:
  OnTheLastCore() {
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<int>(std::thread::hardware_concurrency()) - 1, &one);
    sched_setaffinity(0, sizeof one, &one);
    set(SCHED_FIFO, 90);
  }
  ~OnTheLastCore() {
    set(SCHED_OTHER, 0);
    sched_setaffinity(0, sizeof all_, &all_);
  }
  OnTheLastCore(const OnTheLastCore&) = delete;
  OnTheLastCore& operator=(const OnTheLastCore&) = delete;
  static void set(int policy, int priority) {
    sched_param parameter{};
    parameter.sched_priority = priority;
    sched_setscheduler(0, policy, &parameter);
  }

 private:
  cpu_set_t all_;
};

/// A process that computes and one that interrupts it every millisecond, no more: what the kernel and the machine take
/// for a preemption, by the computing process's own CPU clock. Gaps over 50 us are the machine's, as in the accounting.
double bare_preemption_us() {
  const OnTheLastCore core;
  const pid_t spinner = fork();
  if (spinner == 0) {
    OnTheLastCore::set(SCHED_FIFO, 80);
    for (;;) keep(spinner);
  }
  clockid_t clock = 0;
  clock_getcpuclockid(spinner, &clock);
  const auto executed = [clock] {
    timespec t{};
    clock_gettime(clock, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
  };
  std::atomic<std::uint32_t> nobody{0};
  double lost = 0;
  int preemptions = 0;
  for (int i = 0; i < 500; ++i) {
    const auto executed_before = executed();
    const WallTime start = wall_now();
    futex_wait_until(nobody, 0, start + WallSpan(1ms));
    const double rest = us(wall_now() - start) - static_cast<double>(executed() - executed_before) * 1e-3;
    if (i < 10 || rest > 50) continue;
    lost += rest;
    ++preemptions;
  }
  kill(spinner, SIGKILL);
  waitpid(spinner, nullptr, 0);
  return lost / std::max(preemptions, 1);
}

double coordinated_preemption_us() {
  const RunOutcome r = run({robot("a", {"spin"}), robot("b", {"spin"})}, 250ms, 1ms, 1ms);
  return us(r.accounting.coordination) / static_cast<double>(r.dispatches);
}

/// How far the share of coordination is from what this machine makes possible at all.
void preempting(Report& report) {
  const auto [coordinated, bare] = side_by_side(3, coordinated_preemption_us, bare_preemption_us);
  report.ratio_at_most("coordination_per_preemption", coordinated, "us", "a bare preemption by a timer", bare, 1.6);
}

/// One program that waits for 100 us again and again: each wait is a switch to the coordinator and back.
double coordinated_switch_us() {
  const RunOutcome r = run({robot("a", {"ask"})}, 1s, 10ms, 1ms);
  const Accounting& a = r.accounting;
  return us(a.executed + a.world + a.coordination) / static_cast<double>(r.requests);
}

void switching(Report& report) {
  const auto [coordinated, bare] = side_by_side(5, coordinated_switch_us, bare_switch_us);
  report.ratio_at_most("wait_and_release_round_trip", coordinated, "us", "bare futex switch and back", bare, 1.3);
}

/// A program that knows nothing of us.
RobotSpec guest(std::vector<std::string> arguments, std::uint32_t cores = 1) {
  RobotSpec plain = robot("a", std::move(arguments));
  plain.cores = cores;
  plain.programs[0].virtual_clock = true;
  return plain;
}

/// Two programs of one robot that take turns, by the rule that a scenario has unless it says otherwise.
double switch_under_us(const MakePolicy& policy) {
  RobotSpec both = robot("a", {"spin"});
  both.policy = policy;
  both.programs.push_back(both.programs[0]);
  both.programs[1].name = "other";
  const RunOutcome r = run({both}, 300ms, 10ms, 1ms);
  return us(r.accounting.coordination) / static_cast<double>(r.dispatches);
}

void policies(Report& report) {
  const auto [standard, fixed] = side_by_side(
      3, [] { return switch_under_us({}); },
      [] { return switch_under_us([] { return std::make_unique<FixedPriority>(SimSpan(1ms)); }); });
  report.ratio_at_most("switch_under_the_default_policy", standard, "us", "fixed priority", fixed, 1.1);
  const auto [least, again] = side_by_side(
      3, [] { return switch_under_us([] { return std::make_unique<LeastProgress>(SimSpan(1ms)); }); },
      [] { return switch_under_us({}); });
  report.ratio_at_most("switch_under_least_progress", least, "us", "the default policy", again, 1.1);
}

double looks_bare() {
  int output[2];
  if (pipe(output) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    dup2(output[1], 1);
    execl(BENCH_PROGRAM, BENCH_PROGRAM, "poll", "100", nullptr);
    _exit(127);
  }
  close(output[1]);
  char text[64] = {};
  [[maybe_unused]] const ssize_t size = read(output[0], text, sizeof text - 1);
  close(output[0]);
  waitpid(child, nullptr, 0);
  return std::atof(text) / 0.1;
}

/// What users get: every look is recorded, so that a replay sees it again.
double looks_measured() {
  MemoryRecorder recorder;
  const RunOutcome r = run({guest({"poll", "100"})}, 200ms, 10ms, 1ms, &recorder);
  return std::atof(r.programs[0].output.c_str()) / r.accounting.wall.seconds();
}

void polling(Report& report) {
  const auto [measured, bare] = side_by_side(3, looks_measured, looks_bare);
  report.ratio_at_least("looks_at_the_clock_per_s", measured, "1/s", "the program alone", bare, 0.3);
}

void threads(Report& report) {
  const std::vector<RobotSpec> robots{guest({"threads", "900"}), robot("b", {"period", "10000"}), robot("c", {"spin"})};
  report.at_most("drift_p99_with_threads_quantum_1ms", us(run(robots, 1s, 1ms, 1ms).drift_p99), "us", 1100);
  const auto speed = [](std::uint32_t lanes) {
    return [lanes] {
      return 0.2 / run({guest({"threads", "200"}, 4)}, 250ms, 10ms, 1ms, nullptr, lanes).accounting.wall.seconds();
    };
  };
  const auto [two, one] = side_by_side(3, speed(2), speed(1));
  report.ratio_at_least("four_threads_on_two_cores_at_once", two, "s/s", "on one", one, 1.7);
}

void clock_read(Report& report) {
  const RunOutcome r = run({guest({"clock"})}, 1s, 10ms, 1ms);
  report.at_most("interposed_clock_read", std::atof(r.programs[0].output.c_str()), "ns", 15);
}

void replay(Report& report) {
  MemoryRecorder recorder;
  constexpr const char* pieces = "200";
  run({robot("a", {"computing", pieces})}, 10s, 10ms, 10ms, &recorder);
  auto tape = std::make_shared<ComputeTape>(recorder.tape(0));
  const auto recorded = [&] {
    const RunOutcome r = run({robot("a", {"computing", pieces}, RecordedCompute{tape})}, 10s, 10ms, 10ms);
    return 1 / r.accounting.wall.seconds();
  };
  const auto freely = [&] {
    const WallTime start = wall_now();
    const pid_t child = fork();
    if (child == 0) {
      execl(BENCH_PROGRAM, BENCH_PROGRAM, "compute", pieces, nullptr);
      _exit(127);
    }
    waitpid(child, nullptr, 0);
    return 1 / (wall_now() - start).seconds();
  };
  const auto [replayed, free] = side_by_side(3, recorded, freely);
  report.ratio_at_least("recorded_replay_speed", replayed, "1/s", "the program alone", free, 0.9);
}

double dispatch_us(int programs) {
  std::vector<RobotSpec> robots;
  for (int i = 0; i < programs; ++i) robots.push_back(robot("r" + std::to_string(i), {"spin"}));
  const SimSpan until = 400ms / programs + 10ms;
  const RunOutcome r = run(robots, until, 1ms, 250us);
  return us(r.accounting.coordination) / static_cast<double>(r.dispatches);
}

void many(Report& report) {
  const auto [hundred, two] = side_by_side(
      3, [] { return dispatch_us(100); }, [] { return dispatch_us(2); });
  report.ratio_at_most("cost_per_dispatch_100_programs", hundred, "us", "2 programs", two, 2.0);
}

/// A world with one sensor. It watches the heap of the thread that reads it, for a thousand reads.
class WatchedSensor final : public ForwardingPlant {
 public:
  explicit WatchedSensor(Plant& rest) : ForwardingPlant(rest), variables_{{"a/fx", "float64", 8}} {}
  [[nodiscard]] const std::vector<Variable>& variables() const override { return variables_; }
  void read(std::uint32_t, SimTime, std::span<std::byte> value) override {
    std::fill(value.begin(), value.end(), std::byte{});
    if (++reads_ == first) guard_.emplace("coordinator");
    if (reads_ != first + 1000) return;
    allocations = guard_->report().allocations;
    guard_.reset();
  }
  std::optional<std::uint64_t> allocations;

 private:
  static constexpr int first = 100;
  std::vector<Variable> variables_;
  int reads_ = 0;
  std::optional<rt::AllocationGuard> guard_;
};

void heap(Report& report) {
  if (!rt::AllocationGuard::watches_heap()) return;
  EmptyPlant nothing;
  WatchedSensor plant(nothing);
  CoordinatorOptions options;
  options.grace = 50ms;
  const RobotSpec reader = robot("a", {"requests", "10000", "read", "/dev/null"}, ZeroCompute{});
  Coordinator(plant, {reader}, options).run(SimTime::zero() + 2s);
  report.at_most("heap_allocations_in_1000_reads", static_cast<double>(plant.allocations.value_or(UINT64_MAX)), "", 0);
}

}  // namespace

double bare_switch_us() {
  auto* words = static_cast<std::atomic<std::uint32_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const OnTheLastCore core;
  constexpr int rounds = 5000;
  const auto wait = [](std::atomic<std::uint32_t>& word, std::uint32_t old) {
    while (word.load() == old) futex_wait_until(word, old, wall_now() + WallSpan(1s));
  };
  const pid_t other = fork();
  if (other == 0) {
    for (std::uint32_t i = 0; i < rounds; ++i) {
      wait(words[0], i);
      words[16] = i + 1;
      futex_wake(words[16]);
    }
    _exit(0);
  }
  const WallTime start = wall_now();
  for (std::uint32_t i = 0; i < rounds; ++i) {
    words[0] = i + 1;
    futex_wake(words[0]);
    wait(words[16], i);
  }
  const double each = us(wall_now() - start) / rounds;
  waitpid(other, nullptr, 0);
  munmap(words, 4096);
  return each;
}

void bench_coordinator(Report& report) {
  if (const std::string missing = programs::missing_privileges(); !missing.empty()) {
    report.found("real_time_privileges", 0, "(" + missing + ": all below is the degraded mode)");
  }
  drift(report, 1ms, "1ms", 1100, 2.5);
  drift(report, 250us, "250us", 300, 8);
  preempting(report);
  growth(report);
  switching(report);
  policies(report);
  clock_read(report);
  polling(report);
  threads(report);
  replay(report);
  many(report);
  heap(report);
}

}  // namespace isochron::bench
