#include "programs/execution.hpp"

#include <sched.h>

#include <algorithm>
#include <map>

#include "core/input_error.hpp"
#include "programs/time_stamp_counter.hpp"

namespace isochron::programs {

namespace {
constexpr std::size_t lanes_max = 64;
constexpr WallSpan worth_explaining = std::chrono::microseconds(200);  // timers are seldom later

std::size_t cores_allowed() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  return static_cast<std::size_t>(CPU_COUNT(&allowed));
}
}  // namespace

void Execution::plan_lanes() {
  std::map<std::uint32_t, std::uint32_t> cpus;  // that have measured programs, and how many cores each stands for
  for (const auto& m : all_.members) {
    if (m->cost.measured()) cpus[m->cpu] = std::max(cpus[m->cpu], m->cores);
  }
  if (cpus.empty()) return;
  std::size_t useful = 0;
  std::map<std::uint32_t, std::size_t> first_lane;
  for (const auto& [cpu, width] : cpus) {
    first_lane[cpu] = useful;
    useful += width;
  }
  const CoordinatorOptions& options = all_.options;
  missing_ = options.privileges == Privileges::do_without ? "the scenario asks to do without" : missing_privileges();
  if (!missing_.empty() && options.privileges == Privileges::insist) {
    throw InputError({}, "this run needs real-time privileges: " + missing_,
                     "run as root, or grant CAP_SYS_NICE; or leave out `privileges: insist`; see isochron doctor");
  }
  const std::size_t cores = cores_allowed();
  const std::size_t wanted = options.cores > 0 ? options.cores : std::max<std::size_t>(cores, 2) - 1;
  claims_.push_back(std::make_unique<CoreClaim>());
  while (missing_.empty() && claims_.size() < std::min({wanted, useful, cores, lanes_max})) {
    auto claim = std::make_unique<CoreClaim>();
    if (!claim->alone()) break;  // the others belong to other coordinators
    claims_.push_back(std::move(claim));
    all_.add_bell();
  }
  for (const auto& m : all_.members) {
    if (m->cost.measured()) m->lane = first_lane.at(m->cpu) % claims_.size();
  }
}

void Execution::open_lanes() {
  interference_ = std::make_unique<Interference>();
  if (claims_.empty()) return;  // nobody is measured
  RunOutcome& outcome = all_.outcome;
  outcome.lanes = claims_.size();
  if (missing_.empty()) {
    std::vector<protocol::Bell*> bells;
    for (const auto& memory : all_.bells) bells.push_back(static_cast<protocol::Bell*>(memory->data()));
    all_.lanes = std::make_unique<Lanes>(std::move(claims_), bells);
  } else {
    all_.lanes = std::make_unique<Lanes>(make_stop_dispatcher(all_.bell, std::move(claims_[0])), all_.bell);
  }
  outcome.control = all_.lanes->name();
  outcome.degraded = all_.lanes->degraded();
}

void Execution::run(const Timeline::Event& least) {
  find_turns(least);
  all_.watch.was(&Accounting::coordination);
  all_.lanes->run(turns_);
  CpuSpan longest;
  for (const Timeline::Event& event : events_) {
    const Member& m = *all_.members[event.program];
    const CpuSpan before = m.cpu_of_threads;
    const CpuSpan executed = charge_executed(event.program);
    longest = std::max(longest, executed);
    all_.outcome.executed += m.cores > 1 ? std::max(m.cpu_of_threads - before, CpuSpan::zero()) : executed;
  }
  if (all_.boards != nullptr) all_.boards->programs_took(WallSpan::from_ns(longest.ns()));
  all_.watch.was_running(WallSpan::from_ns(longest.ns()));
  all_.outcome.dispatches += turns_.size();
}

void Execution::find_turns(const Timeline::Event& least) {
  Lanes& lanes = *all_.lanes;
  events_.assign(1, least);
  if (lanes.count() > 1) {
    all_.timeline->beside(beside_);
    std::uint64_t taken = lanes.lanes_of(*all_.members[least.program]->seat);
    for (const Timeline::Event& other : beside_) {
      const std::uint64_t its = lanes.lanes_of(*all_.members[other.program]->seat);
      if ((taken & its) == 0) events_.push_back(other);
      taken |= its;
    }
  }
  turns_.clear();
  for (Timeline::Event& event : events_) {
    const Member& m = *all_.members[event.program];
    // Threads on several cores get apart by a window at most.
    if (m.cores > 1) event.budget = std::min(event.budget, all_.options.quantum);
    const SimTime from = all_.timeline->program_time(event.program);
    show_clock(event.program, from, from + event.budget, !m.starts_up());
    turns_.push_back({*m.seat, std::max(m.cost.rate().inverse().apply(event.budget), CpuSpan::from_ns(1)), {}});
  }
}

/// What a program came to in its turn, which began at the time of the event and had its budget.
Execution::Over Execution::settle(std::size_t turn) {
  const Timeline::Event& event = events_[turn];
  const Member& m = *all_.members[event.program];
  RunOutcome& outcome = all_.outcome;
  const SimSpan beyond = all_.timeline->program_time(event.program) - (event.at + event.budget);
  if (beyond > outcome.overrun_max) {
    outcome.overrun_max = beyond;
    LatePreemption late{event.at + event.budget, beyond, all_.lanes->late(*m.seat), {}, {}};
    if (late.late >= worth_explaining) {
      interference_->explain(late);
      outcome.latest_preemption = late;
    }
  }
  drift_.record(m.cpu);
  return {event.program, turns_[turn].why};
}

CpuSpan Execution::charge_executed(std::uint32_t program) {
  Member& m = *all_.members[program];
  const CpuTime before = m.cpu_newest;
  const CpuTime total = CpuTime::zero() + (all_.lanes->executed(*m.seat) - m.cpu_base);
  if (m.starts_up() && total > before) {
    forgive_start_up(m, total - before, *all_.timeline);
    return total - before;
  }
  m.cpu_newest = std::max(m.cpu_newest, total);
  if (m.cores > 1 && !m.process->ended()) m.cpu_of_threads = m.process->cpu_time() - m.cpu_base;
  all_.timeline->executed(program, m.cost.up_to(m.cpu_newest));
  return m.cpu_newest - before;
}

void Execution::begin(std::uint32_t program, SimTime at) {
  Member& m = *all_.members[program];
  if (m.cost.measured()) return;
  show_clock(program, at, at, false);
  m.silence.reset();
  if (m.cost.recorded() && !m.promised && !m.pending) tapes_.promise(program);
}

void Execution::show_clock(std::uint32_t program, SimTime base, SimTime limit, bool flowing) {
  Member& m = *all_.members[program];
  const double rate = m.cost.rate().factor().value();
  const bool spread = m.seat && m.cores > 1;  // then its threads executed more than it took
  m.channel->set_clock(base, limit, time_stamp_counter(), flowing ? all_.watch.counter_scale(rate) : 0,
                       spread ? m.cost.rate().apply(m.cpu_of_threads) : all_.timeline->executed_by(program));
}

void Execution::rest() {
  if (!all_.lanes) return;
  for (const auto& m : all_.members) {
    if (m->cost.measured() && all_.timeline->computing(m->number)) return all_.lanes->hold();
  }
  all_.lanes->rest();
}

}  // namespace isochron::programs
