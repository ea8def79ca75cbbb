// The control computer of paper 002: an estimator that runs when data comes in (nominally 1 kHz over UDP), a whole-body
// controller every 6 ms in lock-step with it, a log of 8,000 variables at 1 kHz, and orders that come in whenever they
// like.
//
//      UDP ──► estimator ──LockStep──► controller ──► UDP            real-time threads, no heap, no locks
//                 │  ▲  latest value      │  ▲ ring
//                 ▼  └────────────────────┘  └────── orders ◄── UDP  an ordinary thread
//              journal's ring ──► writer thread ──► disk             an ordinary thread
//
//   atlas_computer SECONDS [JOURNAL [PHASE_US [PORT [ROBOT_PORT [ORDER_PORT]]]]]   ends with one line of JSON
//
// PHASE_US: how long after data is due the controller wakes; 1000 is the paper's rule, which suits an estimator that
// computes for long. Figures are of the time after the first second.
//
// Where estimator and controller are out of step, the cause is found out: data that the robot sent late, a thread that
// was woken late, an estimate that took long. An order to freeze has the robot's own position controllers hold it, and
// the controller keeps house meanwhile (paper 002, section 7).

#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "experiments/atlas/datagrams.hpp"
#include "experiments/atlas/estimator.hpp"
#include "experiments/atlas/state_log.hpp"
#include "journal/disk.hpp"
#include "journal/variables.hpp"
#include "rt/allocation_guard.hpp"
#include "rt/cpu_clock.hpp"
#include "rt/cpu_latency.hpp"
#include "rt/histogram.hpp"
#include "rt/latest_value.hpp"
#include "rt/lock_step.hpp"
#include "rt/ring.hpp"
#include "rt/thread.hpp"
#include "run/wall_clock.hpp"

using namespace std::chrono_literals;
namespace rt = isochron::rt;
using Json = nlohmann::ordered_json;

namespace {

struct Settings {
  int seconds = 20;
  std::string journal;
  std::chrono::microseconds phase{500};
  std::uint16_t port = 47002, robot_port = 47001, order_port = 47003;
};

constexpr std::uint64_t warm_up_ticks = 1000;
constexpr std::size_t log_ring_bytes = 128U << 20U;  // two seconds of a disk that does not answer

/// The worst of the last ticks, of what can bring the two out of step.
struct Worst {
  rt::nanoseconds gap{};       // between two data, as the kernel took them in
  rt::nanoseconds robot{};     // CPU time that the robot used for one
  rt::nanoseconds waited{};    // from when the estimator could have had it until it did
  rt::nanoseconds executed{};  // CPU time that the estimator used for one, the log among it
  rt::nanoseconds taken{};     // wall time beyond that: it could have run and was not let
};

/// Three turns of the controller: what was late for one of them shows in the next, and is told one turn after that.
class RecentTicks {
 public:
  void add(const Worst& tick) { ticks_[next_++ % ticks_.size()] = tick; }
  [[nodiscard]] Worst worst() const {
    Worst all;
    for (const Worst& tick : ticks_) {
      all.gap = std::max(all.gap, tick.gap);
      all.robot = std::max(all.robot, tick.robot);
      all.waited = std::max(all.waited, tick.waited);
      all.executed = std::max(all.executed, tick.executed);
      all.taken = std::max(all.taken, tick.taken);
    }
    return all;
  }

 private:
  std::array<Worst, 19> ticks_{};
  std::size_t next_ = 0;
};

/// Why the two were out of step: whatever was latest by most. An estimate that is late is not there yet when the
/// controller misses it, so events of one turn are explained in the next.
class Causes {
 public:
  // the machine's doing
  std::uint64_t data = 0;        // the robot sent late, and had not computed for long
  std::uint64_t controller = 0;  // woken late
  std::uint64_t estimator = 0;   // woken late
  std::uint64_t taken = 0;       // the estimator lost its core while it computed
  // ours
  std::uint64_t robot = 0;      // the robot computed for longer than its period
  std::uint64_t computing = 0;  // the estimator computed for long, by its own CPU clock
  std::uint64_t unknown = 0;    // nothing was late by as much as a tenth of a period

  /// A turn of the controller: the events that it had, how late it was woken, and what was late for it.
  void turn(std::uint64_t events, const Worst& worst, rt::nanoseconds controller_late) {
    explain(worst, std::max({controller_late, late_before_, late_before_that_}));
    pending_ = events;
    late_before_that_ = std::exchange(late_before_, controller_late);
  }
  /// The last turn's have no turn after them.
  void finish() { explain(last_, std::max(late_before_, late_before_that_)); }

 private:
  void explain(const Worst& worst, rt::nanoseconds controller_late) {
    last_ = worst;
    const std::pair<rt::nanoseconds, std::uint64_t*> late[] = {{worst.gap - 1ms, worst.robot > 1ms ? &robot : &data},
                                                               {controller_late, &controller},
                                                               {worst.waited, &estimator},
                                                               {worst.taken, &taken},
                                                               {worst.executed, &computing}};
    const auto most = *std::max_element(std::begin(late), std::end(late));
    *(most.first > 100us ? most.second : &unknown) += std::exchange(pending_, 0);
  }

  std::uint64_t pending_ = 0;
  rt::nanoseconds late_before_{}, late_before_that_{};
  Worst last_;
};

struct State {
  atlas::Estimate estimate;
  std::uint64_t sequence = 0;
  Worst worst;
};

/// Everything the threads share, and what each found.
struct Computer {
  explicit Computer(const Settings& s) : settings(s), socket(s.port), step(1ms, 6ms, s.phase) {
    socket.time_arrivals();
  }

  Settings settings;
  atlas::DatagramSocket socket;
  atlas::Estimator estimator{ATLAS_MODEL};
  atlas::Controller controller{ATLAS_MODEL};
  rt::LockStep<State> step;
  rt::LatestValue<atlas::ControllerState> thoughts;
  rt::Ring<atlas::Order> orders{64};

  std::unique_ptr<isochron::Journal> journal;
  isochron::Producer* producer = nullptr;
  std::optional<isochron::VariableLog> log;

  rt::Histogram arrivals;  // between two datagrams
  rt::Histogram estimating, controlling, delay;
  rt::Histogram controller_late, estimator_late;  // from when it could have run
  Causes causes;
  std::uint64_t frozen = 0;
  rt::nanoseconds frozen_for{};
  rt::LockStepCounts in_step;     // as of the last data: what follows is only that the robot is gone
  std::atomic<bool> gone{false};  // the robot
  std::uint64_t received = 0, lost = 0, logged = 0, log_dropped = 0;
  rt::GuardReport estimator_guard, controller_guard;
};

void open_journal(Computer& c, isochron::Clock& clock, isochron::Disk& disk) {
  if (c.settings.journal.empty()) return;
  auto journal = isochron::Journal::create(disk, clock, c.settings.journal);
  if (!journal.ok()) throw std::runtime_error(journal.error().what);
  c.journal = std::move(journal).value();
  c.producer = &c.journal->producer("estimator", log_ring_bytes);
  c.log.emplace(*c.journal, *c.producer, "/atlas/state", atlas::logged_names(),
                isochron::ChannelOptions{.in_digest = false});
}

/// The controller's newest thoughts beside this estimate, in place.
void write_log(Computer& c, const atlas::SensorDatagram& data) {
  if (!c.log) return;
  const auto values = c.log->begin(isochron::SimTime::from_ns(data.time_ns));
  if (values.empty()) {
    ++c.log_dropped;
    return;
  }
  atlas::copy(data.sensors, c.estimator.estimate(), values.first<atlas::estimator_state>());
  if (const atlas::ControllerState* thought = c.thoughts.read()) {
    std::copy(thought->values.begin(), thought->values.end(), values.begin() + atlas::estimator_state);
  }
  c.log->end();
  ++c.logged;
}

void estimate(Computer& c) {
  atlas::SensorDatagram data;
  rt::MonotonicTime before{};
  std::uint64_t last = 0;
  std::optional<rt::AllocationGuard> guard;
  const rt::CpuClock cpu = rt::CpuClock::this_thread();
  RecentTicks recent;
  Worst tick;
  rt::MonotonicTime came_before{}, done_before{};
  rt::nanoseconds waited{};
  while (c.socket.receive(data, waited)) {
    const rt::MonotonicTime arrived = rt::MonotonicClock::now();
    const rt::nanoseconds executed = *cpu.now();
    const bool warm = c.received++ > warm_up_ticks;
    if (warm && !guard) guard.emplace("estimator");
    if (warm) c.arrivals.record(arrived - before);
    if (warm) c.estimator_late.record(waited);
    const rt::MonotonicTime came = arrived - waited;
    tick.gap = last == 0 ? 0ns : came - came_before;
    tick.robot = rt::nanoseconds(data.executed_ns);
    tick.waited = arrived - std::max(came, done_before);
    came_before = came;
    recent.add(tick);
    if (last != 0 && data.sequence > last + 1) c.lost += data.sequence - last - 1;
    const double dt = last == 0 ? 1e-3 : 1e-3 * static_cast<double>(std::max<std::uint64_t>(data.sequence - last, 1));
    last = data.sequence;
    before = arrived;
    State& state = c.step.state();
    state.estimate = c.estimator.update(data.sensors, data.time_ns, std::min(dt, 0.05));
    state.sequence = data.sequence;
    state.worst = recent.worst();
    c.step.publish(arrived);
    if (warm) c.estimating.record(rt::MonotonicClock::now() - arrived);
    write_log(c, data);
    done_before = rt::MonotonicClock::now();  // of this one, told with the next
    tick.executed = *cpu.now() - executed;
    tick.taken = done_before - arrived - tick.executed;
  }
  if (guard) c.estimator_guard = guard->report();
  c.gone.store(true, std::memory_order_relaxed);
}

/// The robot stands by itself; what is put off while it is controlled is done now.
void freeze(Computer& c, double seconds, std::uint64_t sequence) {
  const rt::MonotonicTime begun = rt::MonotonicClock::now();
  atlas::TorqueDatagram datagram;
  datagram.sequence = sequence;
  datagram.hold = c.controller.hold();
  c.socket.send(datagram, c.settings.robot_port);
  malloc_trim(0);
  rt::wait_until(begun + std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * std::min(seconds, 60.0))));
  c.step.stood_by();
  ++c.frozen;
  c.frozen_for += rt::MonotonicClock::now() - begun;
}

void control(Computer& c, const std::stop_token& stop) {
  atlas::Order order;
  atlas::TorqueDatagram torques;
  std::uint64_t froze = 0, out_of_step = 0;
  std::optional<rt::AllocationGuard> guard;
  bool warm = false;
  std::uint64_t used = 0;
  while (!stop.stop_requested()) {
    while (const atlas::Order* newer = c.orders.take()) order = *newer;
    c.orders.flush();
    const auto* estimate = c.step.begin();
    if (estimate != nullptr && std::exchange(used, estimate->tick) != estimate->tick) {
      const State& state = estimate->state;
      c.in_step = c.step.counts();
      const std::uint64_t events = c.in_step.lags + c.in_step.leads;
      if (warm) c.causes.turn(events - out_of_step, state.worst, c.step.woken_late());
      out_of_step = events;
      if (warm) c.controller_late.record(c.step.woken_late());
      const rt::MonotonicTime begun = rt::MonotonicClock::now();
      const double now = 1e-9 * static_cast<double>(state.estimate.time_ns);
      torques.torques = c.controller.control(state.estimate, now, order);
      torques.sequence = state.sequence;
      c.socket.send(torques, c.settings.robot_port);
      const rt::MonotonicTime sent = rt::MonotonicClock::now();
      if (warm) c.controlling.record(sent - begun);
      if (warm) c.delay.record(sent - estimate->t_est);
      c.thoughts.slot().copy(c.controller);
      c.thoughts.publish();
      if (!warm && estimate->tick > warm_up_ticks) {
        warm = true;
        c.step.clear_counts();
        out_of_step = 0;
        guard.emplace("controller");
      }
      const atlas::Standing standing = c.controller.standing_of(now);
      if (order.freeze > 0 && standing.obeyed == order.number && std::exchange(froze, order.number) != order.number)
        freeze(c, order.freeze, state.sequence);
    }
    c.step.wait();
    if (c.gone.load(std::memory_order_relaxed)) break;
  }
  c.causes.finish();
  if (guard) c.controller_guard = guard->report();
}

void listen(Computer& c, const std::stop_token& stop) {
  atlas::DatagramSocket socket(c.settings.order_port);
  socket.patience(100ms);
  atlas::OrderDatagram datagram;
  while (!stop.stop_requested()) {
    if (socket.receive(datagram)) (void)c.orders.push(datagram.order);
  }
}

Json ms(const rt::Histogram& h) {
  return {{"min", 1e-6 * static_cast<double>(h.min())},
          {"mean", 1e-6 * h.mean()},
          {"p50", 1e-6 * static_cast<double>(h.percentile(50))},
          {"p99", 1e-6 * static_cast<double>(h.percentile(99))},
          {"max", 1e-6 * static_cast<double>(h.max())}};
}

Json heap(const rt::GuardReport& g) {
  return {{"allocations", g.allocations + g.frees}, {"page_faults", g.minor_faults + g.major_faults}};
}

/// Figure 7: [from, to, how often] in ms.
Json counts(const rt::Histogram& h) {
  Json all = Json::array();
  h.for_each([&](std::int64_t least, std::int64_t last, std::uint64_t n) {
    all.push_back({1e-6 * static_cast<double>(least), 1e-6 * static_cast<double>(last), n});
  });
  return all;
}

Json report(const Computer& c, const std::vector<rt::Weaker>& weaker) {
  const rt::LockStepCounts& in_step = c.in_step;
  return {{"received", c.received},
          {"lost", c.lost},
          {"arrival_ms", ms(c.arrivals)},
          {"arrival_counts", counts(c.arrivals)},
          {"estimator_ms", ms(c.estimating)},
          {"controller_ms", ms(c.controlling)},
          {"delay_ms", ms(c.delay)},
          {"activations", in_step.activations},
          {"lags", in_step.lags},
          {"leads", in_step.leads},
          {"worst_ticks", in_step.worst_ticks},
          {"late", in_step.late},
          {"out_of_step_by",
           {{"data", c.causes.data},
            {"controller", c.causes.controller},
            {"estimator", c.causes.estimator},
            {"taken", c.causes.taken},
            {"robot", c.causes.robot},
            {"computing", c.causes.computing},
            {"unknown", c.causes.unknown}}},
          {"controller_late_ms", ms(c.controller_late)},
          {"estimator_late_ms", ms(c.estimator_late)},
          {"frozen", c.frozen},
          {"frozen_s", 1e-9 * static_cast<double>(c.frozen_for.count())},
          {"unsolved", c.controller.failures()},
          {"logged", c.logged},
          {"log_dropped", c.log_dropped},
          {"heap_watched", rt::AllocationGuard::watches_heap()},
          {"estimator_heap", heap(c.estimator_guard)},
          {"controller_heap", heap(c.controller_guard)},
          {"weaker", to_string(weaker)}};
}

int run(const Settings& settings) {
  isochron::WallClock clock;
  isochron::PosixDisk disk;
  auto c = std::make_unique<Computer>(settings);
  open_journal(*c, clock, disk);
  const rt::CpuLatencyRequest awake(0us);
  std::vector<rt::Weaker> weaker;
  {
    rt::Thread orders({.name = "orders", .policy = rt::Policy::other}, [&](std::stop_token stop) { listen(*c, stop); });
    rt::Thread controller({.name = "controller", .priority = rt::Priority::below_max(30)},
                          [&](std::stop_token stop) { control(*c, stop); });
    // It begins when data comes and ends when none came for a while: the robot is gone.
    c->socket.patience(std::chrono::seconds(settings.seconds));
    rt::Thread estimator({.name = "estimator", .priority = rt::Priority::below_max(20)}, [&] {
      atlas::SensorDatagram first;
      if (!c->socket.receive(first)) return;
      c->socket.patience(500ms);
      estimate(*c);
    });
    weaker = estimator.weaker();
    estimator.join();
  }
  Json json = report(*c, weaker);
  if (c->journal) {
    const isochron::JournalSummary summary = c->journal->close();
    json["journal_bytes"] = summary.bytes;
    json["journal_dropped"] = summary.dropped;
    if (summary.error) json["journal_error"] = summary.error->what;
  }
  std::printf("%s\n", json.dump().c_str());
  return c->received == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (argc > 1) settings.seconds = std::atoi(argv[1]);
  if (argc > 2) settings.journal = argv[2];
  if (argc > 3) settings.phase = std::chrono::microseconds(std::atoi(argv[3]));
  if (argc > 4) settings.port = static_cast<std::uint16_t>(std::atoi(argv[4]));
  if (argc > 5) settings.robot_port = static_cast<std::uint16_t>(std::atoi(argv[5]));
  if (argc > 6) settings.order_port = static_cast<std::uint16_t>(std::atoi(argv[6]));
  if (settings.seconds < 1 || settings.phase < 0us || settings.phase > 1ms) {
    std::fprintf(stderr, "atlas_computer SECONDS [JOURNAL [PHASE_US [PORT [ROBOT_PORT [ORDER_PORT]]]]]\n");
    return 2;
  }
  try {
    return run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "atlas_computer: %s\n", error.what());
    return 1;
  }
}
