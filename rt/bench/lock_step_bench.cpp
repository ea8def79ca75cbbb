// The three threads of a humanoid's controller, as in paper 002 but with made-up work: data at 1 kHz with up to 20 %
// jitter, an estimator (0.13 ms), a controller every 6 ms (1.4 ms), and a logger that takes 8,000 variables a tick. How
// often are estimator and controller out of step, and does a real-time thread touch the heap or a new page?

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "rt/allocation_guard.hpp"
#include "rt/bench/cyclictest.hpp"
#include "rt/bench/rt_bench.hpp"
#include "rt/bench/two_threads.hpp"
#include "rt/cpu_clock.hpp"
#include "rt/cpu_latency.hpp"
#include "rt/histogram.hpp"
#include "rt/lock_step.hpp"
#include "rt/ring.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;

struct RobotState {
  double joints[28] = {};
};
struct LogRecord {
  double variables[8000] = {};
};

void burn(rt::nanoseconds cpu) {
  const rt::CpuClock mine = rt::CpuClock::this_thread();
  const auto until = *mine.now() + cpu;
  while (*mine.now() < until) rt::spin_pause();
}

/// One of the estimator's: when its data was due, when it saw it, when the estimate was there.
struct Tick {
  rt::nanoseconds due{}, arrived{}, published{};
};
/// One of the controller's: when it was to wake, when it did, and the newest tick that it found.
struct Turn {
  rt::nanoseconds next{}, woken{};
  std::uint64_t tick = 0;
};

struct Robot {
  Robot(int seconds, rt::nanoseconds phase)
      : step(1ms, 6ms, phase),
        ticks(static_cast<std::size_t>(seconds) * 1000 + 1),
        turns(static_cast<std::size_t>(seconds) * 1000) {}
  rt::LockStep<RobotState> step;
  rt::Ring<LogRecord> log{256};
  std::vector<Tick> ticks;  // by LockStep's number: from 1
  std::vector<Turn> turns;
  std::size_t turns_taken = 0;
  rt::Histogram wake, delay;  // of the data's arrival; from data to command
  std::uint64_t logged = 0, log_full = 0;
  rt::GuardReport estimator_guard, controller_guard;
};

// When data arrives within 0.2 ms. The paper gives the bounds of the jitter, not its shape, and the shape decides: the
// controller wakes when the data after its own is due, and is out of step if that one came early enough to be
// estimated.
enum class Jitter { bell, uniform };

double draw_us(Jitter jitter, std::minstd_rand& random) {
  std::normal_distribution<double> bell(100, 20);
  std::uniform_real_distribution<double> uniform(0, 200);
  return jitter == Jitter::bell ? std::clamp(bell(random), 0.0, 200.0) : uniform(random);
}

void estimate(Robot& robot, int cycles, Jitter shape) {
  std::minstd_rand random(1);
  const rt::MonotonicTime start = rt::MonotonicClock::now() + 10ms;
  rt::AllocationGuard guard("estimator");
  for (int i = 0; i < cycles; ++i) {
    const auto jitter = std::chrono::microseconds(std::lround(draw_us(shape, random)));
    const rt::MonotonicTime data = start + i * 1ms + jitter;
    rt::wait_until(data);
    const rt::MonotonicTime arrived = rt::MonotonicClock::now();
    robot.wake.record(arrived - data);
    burn(130us);
    robot.step.state().joints[0] = i;
    robot.step.publish(arrived);
    robot.ticks[static_cast<std::size_t>(i) + 1] = {data.time_since_epoch(), arrived.time_since_epoch(),
                                                    rt::MonotonicClock::now().time_since_epoch()};
    if (LogRecord* record = robot.log.next()) {
      for (double& v : record->variables) v = i;
      robot.log.commit();
    } else {
      ++robot.log_full;
    }
  }
  robot.estimator_guard = guard.report();
}

void control(Robot& robot, const std::stop_token& stop, int warm_up) {
  rt::AllocationGuard guard("controller");
  rt::nanoseconds woken{};
  for (int i = 0; !stop.stop_requested(); ++i) {
    if (const auto* estimate = robot.step.begin()) {
      if (robot.turns_taken < robot.turns.size() && i > warm_up)
        robot.turns[robot.turns_taken++] = {woken - robot.step.woken_late(), woken, estimate->tick};
      burn(1400us);
      robot.delay.record(rt::MonotonicClock::now() - estimate->t_est);
    }
    robot.step.wait();
    woken = rt::MonotonicClock::now().time_since_epoch();
    if (i == warm_up) robot.step.clear_counts();
  }
  robot.controller_guard = guard.report();
}

void write_log(Robot& robot, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (; robot.log.take() != nullptr; robot.log.flush()) ++robot.logged;
    rt::wait_until(rt::MonotonicClock::now() + 5ms);
  }
}

std::unique_ptr<Robot> run_robot(int seconds, Jitter jitter, rt::nanoseconds phase) {
  const auto [a, b] = two_cores();
  const rt::CpuLatencyRequest awake(0us);
  auto robot = std::make_unique<Robot>(seconds, phase);
  {
    rt::Thread logger({.name = "logger", .policy = rt::Policy::other},
                      [&](std::stop_token stop) { write_log(*robot, stop); });
    rt::Thread controller({.name = "controller", .priority = rt::Priority::below_max(30), .cpus = {a}},
                          [&](std::stop_token stop) { control(*robot, stop, 50); });
    rt::Thread estimator({.name = "estimator", .priority = rt::Priority::below_max(20), .cpus = {b}},
                         [&] { estimate(*robot, seconds * 1000, jitter); });
    estimator.join();
  }
  return robot;
}

/// Draws latencies as often as cyclictest found them.
class Latencies {
 public:
  explicit Latencies(const rt::Histogram& us) {
    us.for_each([&](std::int64_t, std::int64_t value, std::uint64_t n) {
      values_.push_back(std::chrono::microseconds(value));
      weights_.push_back(static_cast<double>(n));
    });
    draw_ = std::discrete_distribution<std::size_t>(weights_.begin(), weights_.end());
  }
  rt::nanoseconds operator()(std::minstd_rand& random) { return values_[draw_(random)]; }

 private:
  std::vector<rt::nanoseconds> values_;
  std::vector<double> weights_;
  std::discrete_distribution<std::size_t> draw_;
};

/// Why estimator and controller were out of step, one cause for each event.
struct Causes {
  std::uint64_t jitter = 0;      // the data's own, at the usual latencies: the rule leaves no more room
  std::uint64_t controller = 0;  // it woke later than usual
  std::uint64_t estimator = 0;   // it saw its data later than usual, or took longer
  std::uint64_t both = 0;        // only together
  [[nodiscard]] std::uint64_t all() const { return jitter + controller + estimator + both; }
};

rt::nanoseconds median(std::vector<rt::nanoseconds> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Each event again, with the usual latency in place of the one that was: would it have been in step?
Causes causes_of(const Robot& robot) {
  std::vector<rt::nanoseconds> controller_late, estimator_late, computing;
  for (std::size_t i = 1; i < robot.ticks.size(); ++i) {
    if (robot.ticks[i].published == rt::nanoseconds{}) continue;
    estimator_late.push_back(robot.ticks[i].arrived - robot.ticks[i].due);
    computing.push_back(robot.ticks[i].published - robot.ticks[i].arrived);
  }
  for (std::size_t i = 0; i < robot.turns_taken; ++i)
    controller_late.push_back(robot.turns[i].woken - robot.turns[i].next);
  const rt::nanoseconds usual_wake = median(controller_late), usual_sight = median(estimator_late),
                        usual_work = median(computing);
  const auto in_step = [&](const Turn& before, const Turn& turn, bool usual_controller, bool usual_estimator) {
    const std::uint64_t wanted = before.tick + 6;
    if (wanted + 1 >= robot.ticks.size()) return true;
    const auto published = [&](std::uint64_t tick) {
      const Tick& t = robot.ticks[tick];
      return usual_estimator ? t.due + usual_sight + usual_work : t.published;
    };
    const Tick& base = robot.ticks[before.tick];
    rt::nanoseconds wakes = turn.next + (usual_controller ? usual_wake : turn.woken - turn.next);
    if (usual_estimator) wakes += base.due + usual_sight - base.arrived;  // its time was counted from then
    return published(wanted) <= wakes && published(wanted + 1) > wakes;
  };
  Causes causes;
  for (std::size_t i = 1; i < robot.turns_taken; ++i) {
    const Turn &before = robot.turns[i - 1], &turn = robot.turns[i];
    if (turn.tick == before.tick + 6 || turn.tick == before.tick) continue;
    if (!in_step(before, turn, true, true)) {
      ++causes.jitter;
    } else if (in_step(before, turn, true, false)) {
      ++causes.controller;
    } else if (in_step(before, turn, false, true)) {
      ++causes.estimator;
    } else {
      ++causes.both;
    }
  }
  return causes;
}

/// How many events out of step the same two threads would have had with cyclictest's wake-up latencies: their rule
/// played with latencies that are drawn, and with the same jitter and computing times.
std::uint64_t expected_out_of_step(const rt::Histogram& controller_us, const rt::Histogram& estimator_us, int seconds,
                                   rt::nanoseconds phase) {
  Latencies controller(controller_us), estimator(estimator_us);
  std::minstd_rand random(1), jitter(1);
  const auto ticks = static_cast<std::size_t>(seconds) * 1000;
  std::vector<rt::nanoseconds> arrived(ticks);
  rt::nanoseconds free{};
  for (std::size_t i = 0; i < ticks; ++i) {
    const auto due = i * 1ms + std::chrono::microseconds(std::lround(draw_us(Jitter::bell, jitter)));
    arrived[i] = std::max<rt::nanoseconds>(due + estimator(random), free);
    free = arrived[i] + 130us;
  }
  std::uint64_t out = 0;
  rt::nanoseconds now = 1ms;
  for (std::size_t newest = 0, used = 0; newest + 1 < ticks; used = newest) {
    while (newest + 1 < ticks && arrived[newest + 1] + 130us <= now) ++newest;
    if (used > 0 && newest - used != 6) ++out;
    const rt::nanoseconds next = newest == used ? now + 6ms : arrived[newest] + phase + 6ms;
    now = std::max<rt::nanoseconds>(next, now + 1400us) + controller(random);
  }
  return out;
}

struct ByCyclictest {
  std::uint64_t paper_rule, half_a_period;
};
constexpr rt::nanoseconds paper_phase = 1ms, half_phase = 500us;

/// Both at once, as the two threads were.
std::optional<ByCyclictest> out_of_step_by_cyclictest(int seconds) {
  const auto [a, b] = two_cores();
  std::unique_ptr<rt::Histogram> controller, estimator;
  std::thread beside([&, core = b] { estimator = run_cyclictest(core, 1000us, seconds); });
  controller = run_cyclictest(a, 6000us, seconds);
  beside.join();
  if (controller == nullptr || estimator == nullptr) return std::nullopt;
  return ByCyclictest{expected_out_of_step(*controller, *estimator, seconds, paper_phase),
                      expected_out_of_step(*controller, *estimator, seconds, half_phase)};
}

}  // namespace

void bench_lock_step(Report& report) {
  const int seconds = report.long_run() ? 600 : 4;
  const auto robot = run_robot(seconds, Jitter::bell, paper_phase);
  const rt::LockStepCounts& counts = robot->step.counts();
  const std::string during = "in " + std::to_string(seconds) + " s; paper 2, 0, 2 in 30 min";
  report.found("lock_step_lags", static_cast<double>(counts.lags), "", during);
  report.found("lock_step_leads", static_cast<double>(counts.leads), "", during);
  const Causes causes = causes_of(*robot);
  report.found("lock_step_by_jitter", static_cast<double>(causes.jitter), "",
               "the data's own, at usual latencies: the paper's rule leaves no more room");
  report.found("lock_step_by_controller", static_cast<double>(causes.controller), "", "woken later than usual");
  report.found("lock_step_by_estimator", static_cast<double>(causes.estimator), "", "woken later or computed longer");
  report.found("lock_step_by_both", static_cast<double>(causes.both), "");
  const auto half = run_robot(seconds, Jitter::bell, half_phase);
  const rt::LockStepCounts& half_counts = half->step.counts();
  report.found("lock_step_half_phase_out_of_step", static_cast<double>(half_counts.lags + half_counts.leads), "",
               "the controller half a period after the data; " + std::to_string(causes_of(*half).jitter) +
                   " by the data's jitter");
  if (const auto expected = out_of_step_by_cyclictest(seconds)) {
    report.found("lock_step_out_of_step_by_cyclictest", static_cast<double>(expected->paper_rule), "",
                 "what cyclictest's wake-up latencies on both cores, right after, would have given; ours " +
                     std::to_string(counts.lags + counts.leads));
    report.found("lock_step_half_phase_by_cyclictest", static_cast<double>(expected->half_a_period), "",
                 "the same half a period after the data; ours " + std::to_string(half_counts.lags + half_counts.leads));
  }
  report.found("lock_step_activations", static_cast<double>(counts.activations), "");
  report.found("lock_step_worst_wake_us", static_cast<double>(robot->wake.max()) * 1e-3, "us", "estimator's wake-up");
  report.found("lock_step_delay_p50_ms", static_cast<double>(robot->delay.percentile(50)) * 1e-6, "ms", "paper 2.51");
  report.found("lock_step_delay_max_ms", static_cast<double>(robot->delay.max()) * 1e-6, "ms", "paper 3.34");
  report.found("lock_step_log_lost", static_cast<double>(robot->log_full), "", "of 8,000 variables at 1 kHz");
  const auto faults = [](const rt::GuardReport& g) { return static_cast<double>(g.minor_faults + g.major_faults); };
  report.found("lock_step_page_faults", faults(robot->estimator_guard) + faults(robot->controller_guard), "");
  if (rt::AllocationGuard::watches_heap()) {
    const auto heap = [](const rt::GuardReport& g) { return static_cast<double>(g.allocations + g.frees); };
    report.at_most("lock_step_heap_uses", heap(robot->estimator_guard) + heap(robot->controller_guard), "", 0);
  }
  const rt::LockStepCounts uniform = run_robot(4, Jitter::uniform, paper_phase)->step.counts();
  report.found("lock_step_uniform_jitter_out_of_step", static_cast<double>(uniform.lags + uniform.leads), "",
               "of " + std::to_string(uniform.activations) + " activations");
}

}  // namespace isochron::bench
