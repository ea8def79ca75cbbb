#include "coordinator/conductor.hpp"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "coordinator/futex.hpp"
#include "coordinator/time_stamp_counter.hpp"
#include "core/time_text.hpp"

namespace isochron::coordinator {

namespace {
constexpr WallSpan stalled_look = std::chrono::microseconds(50);
constexpr WallSpan stalled_look_when_busy = std::chrono::microseconds(200);
constexpr WallSpan arrival_look = std::chrono::milliseconds(2);
constexpr WallSpan awake = std::chrono::microseconds(30);  // to wake a sleeping core takes longer than that
constexpr WallSpan progress_period = std::chrono::milliseconds(200);
}  // namespace

Outcome Conductor::conduct(std::stop_token stop, const ProgressTold& progress) {
  start_programs();
  await_attach();
  if (!stopping_) {
    open_lanes();
    take_control();
    watch_.restart();
    loop(stop, progress);
  }
  flush_happenings(failure_ ? failure_->first + SimSpan::from_ns(1) : SimTime::never());
  record_unfinished();
  schedule_->end_turns();
  tell_turns();
  outcome_.accounting = watch_.total();
  outcome_.reached = schedule_->world();
  outcome_.completed = outcome_.why_ended.empty();
  end_programs();
  settle_figures();
  return std::move(outcome_);
}

void Conductor::loop(std::stop_token stop, const ProgressTold& progress) {
  WallTime told = watch_.last();
  while (!stopping_) {
    const Schedule::Event event = schedule_->next();
    if (event.kind == Schedule::Event::Kind::finished) return failure_ ? end_after_failure() : void();
    perform(event);
    if (stop.stop_requested()) stop_with("stopped");
    if (progress && watch_.last() - told > progress_period) {
      told = watch_.last();
      progress(schedule_->world(), drift_so_far());
    }
    if (stalled_ > 0) look_after_stalled();
    if (failure_) end_after_failure();
  }
}

void Conductor::perform(const Schedule::Event& event) {
  using Kind = Schedule::Event::Kind;
  switch (event.kind) {
    case Kind::step:
      return step_world(event.at);
    case Kind::operation:
      return operate(event.program, event.at);
    case Kind::wake:
      return wake(event.program, event.link, event.at);
    case Kind::run:
      return run_programs(event);
    case Kind::arrive:
      return await_arrival(event.program);
    case Kind::stalled:
      return await_stalled(event.program);
    case Kind::finished:
      return;
  }
}

void Conductor::step_world(SimTime to) {
  if (options_.pace) keep_pace(to);
  watch_.was(&Accounting::coordination);
  apply_effects(to);
  const auto advanced = plant_.advance_to(to);
  watch_.was(&Accounting::world);
  if (!advanced.ok()) return stop_with("the world: " + advanced.error());
  schedule_->stepped();
  ++outcome_.steps;
  record_drift_of_all();
  flush_happenings(to);
  tell_turns();
  if (recorder_ != nullptr) recorder_->stepped(to);
}

void Conductor::tell_turns() {
  if (recorder_ != nullptr) {
    for (const Turn& turn : schedule_->turns()) recorder_->turn(turn);
  }
  schedule_->turns().clear();
}

void Conductor::keep_pace(SimTime to) {
  const WallSpan due = options_.pace->apply(to.since_zero());
  const WallTime start = watch_.last() - watch_.total().wall;
  if (wall_now() >= start + due) return;
  if (lanes_) lanes_->hold();
  watch_.was(&Accounting::coordination);
  std::atomic<std::uint32_t> nobody{0};
  while (wall_now() < start + due) futex_wait_until(nobody, 0, start + due);
  watch_.was(&Accounting::idle);
}

void Conductor::show_clock(Member& m, SimTime base, SimTime limit, bool flowing) {
  const double rate = m.cost.rate().factor().value();
  m.channel->set_clock(base, limit, time_stamp_counter(), flowing ? watch_.counter_scale(rate) : 0);
}

// One window: the program that came least far, and on every other lane one that may execute meanwhile.
void Conductor::run_programs(const Schedule::Event& least) {
  find_turns(least);
  watch_.was(&Accounting::coordination);
  lanes_->run(turns_);
  CpuSpan longest;
  for (const Schedule::Event& event : events_) {
    const CpuSpan executed = charge_executed(event.program);
    longest = std::max(longest, executed);
    outcome_.executed += executed;
  }
  watch_.was_running(WallSpan::from_ns(longest.ns()));
  outcome_.dispatches += turns_.size();
  for (std::size_t i = 0; i < turns_.size(); ++i) settle_turn(events_[i], turns_[i].why);
}

void Conductor::find_turns(const Schedule::Event& least) {
  events_.assign(1, least);
  if (lanes_->count() > 1) {
    schedule_->beside(beside_);
    std::uint64_t taken = std::uint64_t{1} << members_[least.program]->lane;
    for (const Schedule::Event& other : beside_) {
      const std::uint64_t lane = std::uint64_t{1} << members_[other.program]->lane;
      if ((taken & lane) == 0) events_.push_back(other);
      taken |= lane;
    }
  }
  turns_.clear();
  for (const Schedule::Event& event : events_) {
    Member& m = *members_[event.program];
    const SimTime from = schedule_->program_time(event.program);
    show_clock(m, from, from + event.budget, true);
    turns_.push_back({*m.seat, std::max(m.cost.rate().inverse().apply(event.budget), CpuSpan::from_ns(1)), {}});
  }
}

/// What a program came to in its turn, which began at `event.at` and had the budget of the event.
void Conductor::settle_turn(const Schedule::Event& event, Dispatcher::Why why) {
  Member& m = *members_[event.program];
  const SimSpan beyond = schedule_->program_time(event.program) - (event.at + event.budget);
  outcome_.overrun_max = std::max(outcome_.overrun_max, beyond);
  record_drift(m.cpu);
  if (why == Dispatcher::Why::asked) return request_arrived(event.program, *m.channel->asking());
  if (why == Dispatcher::Why::blocked) return m.process->ended() ? ended(event.program) : blocked(event.program);
}

CpuSpan Conductor::charge_executed(std::uint32_t program) {
  Member& m = *members_[program];
  const CpuTime before = m.cpu_newest;
  const CpuTime total = CpuTime::zero() + (lanes_->executed(*m.seat) - m.cpu_base);
  m.cpu_newest = std::max(m.cpu_newest, total);
  schedule_->executed(program, m.cost.up_to(m.cpu_newest));
  return m.cpu_newest - before;
}

void Conductor::request_arrived(std::uint32_t program, std::uint32_t link) {
  Member& m = *members_[program];
  Pending pending;
  pending.link = link;
  pending.exchange = m.channel->take(link);
  const auto ask = static_cast<protocol::Ask>(pending.exchange.ask);
  const bool may_wait = ask == protocol::Ask::wait || ask == protocol::Ask::receive;
  ++outcome_.requests;
  if (m.cost.recorded()) {
    const Charge* charge = m.cost.next_charge();
    pending.others_run = charge != nullptr && charge->others_run;
    m.cost.take_charge();
    m.promised = false;
  } else {
    pending.others_run = may_wait && m.process->thread_count() > 1;
  }
  if (m.cost.measured()) {
    take_clock_values(program, link);
    if (recorder_ != nullptr) {
      recorder_->charge(program, {Charge::Kind::asked, pending.others_run, link, m.cpu_newest, {}});
    }
  } else if (!m.cost.recorded()) {
    schedule_->executed(program, m.cost.of_request(ask, m.spec.best_effort));
  }
  m.pending = pending;
  schedule_->arrived(program, ask == protocol::Ask::read || ask == protocol::Ask::receive);
}

void Conductor::take_clock_values(std::uint32_t program, std::uint32_t link) {
  Member& m = *members_[program];
  m.channel->empty_ring(link, [&](SimTime value) {
    ++m.figures.clock_reads;
    if (recorder_ != nullptr) recorder_->clock(program, link, value);
  });
}

// No thread of the program runs. If one of them waits for a time or a message, that is what the others wait for; if
// none does, the program is in a call that nobody told us about.
void Conductor::blocked(std::uint32_t program) {
  Member& m = *members_[program];
  Pending pending;
  const bool waits = schedule_->any_link_waits(program);
  pending.kind = waits ? Charge::Kind::blocked : Charge::Kind::stalled;
  if (m.cost.measured() && recorder_ != nullptr && waits) {
    recorder_->charge(program, {Charge::Kind::blocked, false, 0, m.cpu_newest, {}});
  }
  m.pending = pending;
  m.stalled_wall = wall_now();
  schedule_->arrived(program, false);
}

void Conductor::ended(std::uint32_t program) {
  Member& m = *members_[program];
  for (std::uint32_t link = 0; m.cost.measured() && link < m.channel->links_used(); ++link) {
    take_clock_values(program, link);
  }
  if (m.cost.measured() && recorder_ != nullptr) {
    recorder_->charge(program, {Charge::Kind::ended, false, 0, m.cpu_newest, {}});
  }
  if (m.cost.recorded()) {
    if (m.cost.next_charge() != nullptr) m.cost.take_charge();
    m.promised = false;
  }
  m.pending = Pending{};
  m.pending->kind = Charge::Kind::ended;
  schedule_->arrived(program, false);
}

void Conductor::await_arrival(std::uint32_t program) {
  if (lanes_) lanes_->hold();
  const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
  if (collect_arrivals()) return;
  watch_.was(&Accounting::coordination);
  for (const WallTime end = watch_.last() + awake; wall_now() < end;) {
    if (bell_.rings.load(std::memory_order_acquire) != rings) break;
  }
  futex_wait_until(bell_.rings, rings, wall_now() + arrival_look);
  watch_.was(&Accounting::executed);
  if (!collect_arrivals()) check_silence(program);
}

bool Conductor::collect_arrivals() {
  bool any = false;
  for (std::uint32_t i = 0; i < members_.size(); ++i) any = collect_arrival(i) || any;
  return any;
}

bool Conductor::collect_arrival(std::uint32_t program) {
  Member& m = *members_[program];
  if (m.cost.measured() || m.pending || !schedule_->computing(program)) return false;
  if (m.cost.recorded()) {
    const Charge* charge = m.cost.next_charge();
    if (charge != nullptr && charge->kind == Charge::Kind::asked && m.channel->asks(charge->link)) {
      request_arrived(program, charge->link);
      return true;
    }
    const bool to_the_end = charge != nullptr && charge->kind == Charge::Kind::unfinished;
    if (to_the_end && schedule_->program_time(program) >= until_) return false;
    const bool off_the_record = charge == nullptr || to_the_end || charge->kind == Charge::Kind::ended;
    if (!off_the_record) {
      if (!watcher_->ended(program) || !m.process->ended()) return false;
      return ended(program), true;
    }
  }
  if (const auto link = m.channel->asking()) {
    if (m.cost.recorded()) ++m.figures.replay_parted;
    request_arrived(program, *link);
    return true;
  }
  if (watcher_->ended(program) && m.process->ended()) return ended(program), true;
  return false;
}

void Conductor::check_silence(std::uint32_t program) {
  Member& m = *members_[program];
  if (schedule_->any_link_waits(program) && !m.cost.recorded() && !m.process->runnable() && !m.channel->asking()) {
    // Seen twice, having executed nothing: a thread may just have been in the middle of a system call.
    const CpuTime executed = m.process->cpu_time();
    if (m.blocked_at == executed) return blocked(program);
    m.blocked_at = executed;
    return;
  }
  if (!hangs(m)) return;
  fault(program, schedule_->program_time(program),
        "hangs: it computed or was blocked for " + to_string(options_.hang_after) + " without asking for anything");
  m.process->kill_group(SIGKILL);  // its end is noticed like any other
  m.silence.reset();
}

// By what it executed, or by how long it has been blocked: one that only waits for a busy machine does not hang.
bool Conductor::hangs(Member& m) const {
  const WallTime now = wall_now();
  const CpuTime executed = m.process->cpu_time();
  if (!m.silence) m.silence = Silence{executed, executed, now};
  if (executed > m.silence->newest) {
    m.silence->newest = executed;
    m.silence->stands_since = now;
  }
  if (executed - m.silence->from >= CpuSpan::from_ns(options_.hang_after.ns())) return true;
  if (now - m.silence->stands_since < options_.hang_after) return false;
  if (!m.process->runnable()) return true;
  m.silence->stands_since = now;
  return false;
}

void Conductor::await_stalled(std::uint32_t program) {
  Member& m = *members_[program];
  watch_.was(&Accounting::coordination);
  if (m.seat) {
    const auto why = lanes_->try_blocked(*m.seat, stalled_look);
    watch_.was(&Accounting::waited);
    if (why != Dispatcher::Why::blocked || m.process->ended()) return recover(program, watch_.last());
  }
  schedule_->stalled_until(program, m.stalled_since + SimSpan::from_ns((watch_.last() - m.stalled_wall).ns()));
  record_drift(m.cpu);
}

void Conductor::look_after_stalled() {
  const WallTime now = wall_now();
  if (now - stalled_checked_ < stalled_look_when_busy) return;
  stalled_checked_ = now;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (!schedule_->stalled(i)) continue;
    Member& m = *members_[i];
    if (m.process->ended() || m.channel->asking() || m.process->runnable()) {
      recover(i, now);
    } else if (m.spec.blocking == Blocking::charge_wall) {
      schedule_->stalled_until(i, m.stalled_since + SimSpan::from_ns((now - m.stalled_wall).ns()));
    }
  }
}

void Conductor::recover(std::uint32_t program, WallTime when) {
  Member& m = *members_[program];
  --stalled_;
  SimTime at = m.stalled_since;
  if (m.spec.blocking == Blocking::charge_wall) at += SimSpan::from_ns((when - m.stalled_wall).ns());
  const SimTime resumed = schedule_->recovered(program, at);
  m.waits[0] = {};
  m.waits[0].recovering = true;
  m.figures.stalled += resumed - m.stalled_since;
  if (recorder_ != nullptr) recorder_->charge(program, {Charge::Kind::stalled, false, 0, m.cpu_newest, resumed});
}

// The program computes from here on: what is known of its cost is owed at once.
void Conductor::begin(std::uint32_t program, SimTime at) {
  Member& m = *members_[program];
  if (m.cost.measured()) return;
  show_clock(m, at, at, false);
  m.silence.reset();
  if (m.cost.recorded() && !m.promised && !m.pending) promise(program);
}

void Conductor::promise(std::uint32_t program) {
  Member& m = *members_[program];
  const Charge* charge = m.cost.next_charge();
  if (charge == nullptr) return;
  m.promised = true;
  schedule_->executed(program, m.cost.up_to(charge->total));
  for (std::uint32_t link = 0; link < protocol::links_max; ++link) {
    if (m.cost.has_clock(link)) m.channel->fill_ring(link, [&] { return m.cost.next_clock(link); });
  }
  if (charge->kind == Charge::Kind::asked) return;
  if (charge->kind == Charge::Kind::ended || charge->kind == Charge::Kind::unfinished) return;  // its process says when
  m.pending = Pending{};
  m.pending->kind = charge->kind;
  m.pending->resumed = charge->resumed;
  m.cost.take_charge();
  m.promised = false;
  schedule_->arrived(program, false);
}

// What a program executed towards a request that it never made delays the others in a replay as it did in the run.
void Conductor::record_unfinished() {
  if (recorder_ == nullptr) return;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const Member& m = *members_[i];
    if (!m.cost.measured() || m.pending || !schedule_->computing(i)) continue;
    for (std::uint32_t link = 0; link < m.channel->links_used(); ++link) take_clock_values(i, link);
    recorder_->charge(i, {Charge::Kind::unfinished, false, 0, m.cpu_newest, {}});
  }
}

// Where computing is free it was done all the same: who computed longer than the world lasted is that far ahead.
SimSpan Conductor::drift_so_far() const {
  SimSpan most = drift_->max();
  for (const auto& m : members_) {
    if (!m->cost.zero()) continue;
    const CpuSpan used = m->process->cpu_time() - m->cpu_base;
    most = std::max(most, ComputeRate().apply(used) - schedule_->world().since_zero());
  }
  return most;
}

void Conductor::record_drift(std::uint32_t cpu) {
  drift_->record(ParticipantId(cpu + 1), watch_.last(), schedule_->progress(cpu));
}

void Conductor::record_drift_of_all() {
  drift_->record(ParticipantId(0), watch_.last(), schedule_->world());
  for (std::uint32_t c = 0; c < schedule_->cpus(); ++c) record_drift(c);
  if (outcome_.steps % 64 == 0) drift_->fold([this](SimSpan delta) { drift_histogram_.record(delta.ns()); });
}

// The run ends at this time, not at once: what others do until then belongs to it, however fast they are here. Of two
// that fail at one time the first in the scenario is named.
void Conductor::fails_run(std::uint32_t program, SimTime at) {
  if (failure_ && *failure_ < std::pair(at, program)) return;
  failure_ = {at, program};
}

void Conductor::end_after_failure() {
  if (schedule_->front() <= failure_->first) return;
  const Member& m = *members_[failure_->second];
  stop_with(m.name + " " + m.figures.ended);
}

void Conductor::stop_with(std::string why) {
  if (outcome_.why_ended.empty()) outcome_.why_ended = std::move(why);
  stopping_ = true;
}

}  // namespace isochron::coordinator
