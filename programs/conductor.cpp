#include "programs/conductor.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/time_text.hpp"
#include "programs/futex.hpp"
#include "programs/time_stamp_counter.hpp"

namespace isochron::programs {

namespace {
constexpr WallSpan stalled_look = std::chrono::microseconds(50);
constexpr WallSpan stalled_look_when_busy = std::chrono::microseconds(200);
constexpr WallSpan arrival_look = std::chrono::milliseconds(2);
constexpr WallSpan arrival_look_beside_boards = std::chrono::microseconds(200);
constexpr WallSpan awake = std::chrono::microseconds(30);              // to wake a sleeping core takes longer than that
constexpr WallSpan memory_look = std::chrono::milliseconds(10);        // a program fills some 30 MB meanwhile
constexpr WallSpan worth_explaining = std::chrono::microseconds(200);  // timers are seldom later
constexpr WallSpan time_to_die = std::chrono::seconds(5);
constexpr WallSpan worth_counting = std::chrono::milliseconds(1);  // of being late against the pace
constexpr WallSpan stop_look = std::chrono::milliseconds(50);
constexpr WallSpan progress_period = std::chrono::milliseconds(200);
}  // namespace

Outcome Conductor::conduct(std::stop_token stop, const ProgressTold& progress) {
  start_programs();
  await_attach();
  if (!stopping_ && boards_ != nullptr) await_boards(stop);
  if (!stopping_) {
    open_lanes();
    take_control();
    interference_ = std::make_unique<Interference>();
    watch_.restart();
    for (auto& [correspondent, post] : correspondents_) correspondent->enter(system_.get());
    exchange_with_correspondents();
    loop(stop, progress);
  }
  flush_happenings(failure_ ? failure_->first + SimSpan::from_ns(1) : SimTime::never());
  record_unfinished();
  timeline_->end_turns();
  tell_turns();
  outcome_.accounting = watch_.total();
  outcome_.reached = timeline_->world();
  outcome_.completed = outcome_.why_ended.empty();
  if (boards_ != nullptr) boards_->end(std::max(outcome_.reached, timeline_->seen()));
  end_programs();
  settle_figures();
  return std::move(outcome_);
}

void Conductor::loop(std::stop_token stop, const ProgressTold& progress) {
  WallTime told = watch_.last();
  while (!stopping_) {
    const Timeline::Event event = timeline_->next(boards_ != nullptr ? boards_->safe() : WallTime::zero());
    if (event.kind == Timeline::Event::Kind::finished) return failure_ ? end_after_failure() : void();
    perform(event);
    look_for_stall(event);
    if (boards_ != nullptr) look_at_boards();
    if (stop.stop_requested() || told_to_stop()) stop_with("stopped");
    if (progress && watch_.last() - told > progress_period) {
      told = watch_.last();
      progress(timeline_->world(), drift_so_far());
    }
    if (stalled_ > 0) look_after_stalled();
    if (watch_.last() - memory_checked_ >= memory_look) check_memory();
    if (failure_) end_after_failure();
  }
}

// Nothing happened in simulated time for long: whoever the timeline waits for is named, once for each standstill.
void Conductor::look_for_stall(const Timeline::Event& event) {
  using Kind = Timeline::Event::Kind;
  const bool waits = event.kind == Kind::arrive || event.kind == Kind::stalled || event.kind == Kind::listen;
  if (!waits || moved_ == WallTime()) {
    moved_ = watch_.last();
    stall_told_ = false;
    return;
  }
  if (stall_told_ || !options_.on_stall || watch_.last() - moved_ < options_.stall_after) return;
  stall_told_ = true;
  const std::string& culprit = name_of_program(event.program);
  std::vector<CoordinatorOptions::Standing> all;
  all.push_back({culprit,
                 is_board(event.program) ? "computes, or its link is silent" : timeline_->describe(event.program), "",
                 timeline_->program_time(event.program)});
  all.push_back({"world", "waits at " + to_string(timeline_->world()), culprit, timeline_->world()});
  for (std::uint32_t i = 0; i < timeline_->programs(); ++i) {
    if (i == event.program || timeline_->gone(i)) continue;
    const std::string in_call = system_ ? system_->describe(i) : "";
    all.push_back(
        {name_of_program(i), in_call.empty() ? timeline_->describe(i) : in_call, culprit, timeline_->program_time(i)});
  }
  options_.on_stall(all);
}

void Conductor::perform(const Timeline::Event& event) {
  using Kind = Timeline::Event::Kind;
  switch (event.kind) {
    case Kind::step:
      return step_world(event.at);
    case Kind::operation:
      if (is_board(event.program)) return boards_->operate(event);
      if (Callee* called = callee(event.program)) return called->operate(event.at);
      return operate(event.program, event.at);
    case Kind::wake:
      if (is_board(event.program)) return boards_->operate(event);
      if (Callee* called = callee(event.program)) return called->wake(event.at);
      return wake(event);
    case Kind::run:
      return run_programs(event);
    case Kind::arrive:
      return await_arrival(event.program);
    case Kind::listen:
      return listen(event);
    case Kind::stalled:
      if (is_board(event.program)) return listen(event);
      return await_stalled(event.program);
    case Kind::finished:
      return;
  }
}

// Programs that run freely may have asked meanwhile: they ring another bell.
void Conductor::listen(const Timeline::Event& event) {
  rest_lanes();
  watch_.was(&Accounting::coordination);
  boards_->wait_for(event, boards_->now() + (members_.empty() ? stop_look : arrival_look_beside_boards));
  watch_.was(&Accounting::waited);
  if (!members_.empty()) collect_arrivals();
}

void Conductor::look_at_boards() {
  if (!boards_->failure().empty()) stop_with(boards_->failure());
  if (boards_->all_left()) stopping_ = true;
}

void Conductor::board_at(std::uint32_t slot, WallTime now, SimTime executed) {
  drift_->record(ParticipantId(1 + robot_cpus_ + slot), now, executed);
}

void Conductor::board_left(std::uint32_t slot, WallTime now) {
  drift_->leave(ParticipantId(1 + robot_cpus_ + slot), now);
}

void Conductor::step_world(SimTime to) {
  if (options_.pace && !keep_pace(to)) return;
  watch_.was(&Accounting::coordination);
  desk_.apply(to);
  if (options_.host_steps) rest_lanes();
  const WallTime before = now();
  const auto advanced = plant_.advance_to(to);
  watch_.was(&Accounting::world);
  if (boards_ != nullptr) boards_->world_took(now() - before);
  if (!advanced.ok()) return stop_with("the world: " + advanced.error());
  timeline_->stepped();
  ++outcome_.steps;
  record_drift_of_all();
  flush_happenings(to);
  tell_turns();
  if (recorder_ != nullptr) recorder_->stepped(to);
  exchange_with_correspondents();
}

void Conductor::exchange_with_correspondents() {
  for (auto& [correspondent, post] : correspondents_) {
    const bool waits = correspondent->waits_outside();
    if (waits) {
      rest_lanes();
      watch_.was(&Accounting::coordination);
    }
    correspondent->exchange(post, timeline_->world(), timeline_->boundary());
    if (waits) watch_.was(&Accounting::waited);
    if (const auto over = correspondent->over()) {
      stopping_ = true;
      if (!over->empty()) stop_with(*over);
    }
  }
}

void Conductor::tell_turns() {
  const auto recorded_as = [this](std::uint32_t program) {
    const bool board = program != Turn::nobody && boards_ != nullptr && boards_->has(program);
    return board ? boards_->party_of(program) : program;
  };
  for (Turn& turn : timeline_->turns()) {
    turn.program = recorded_as(turn.program);
    turn.preempted_by = recorded_as(turn.preempted_by);
    if (recorder_ != nullptr) recorder_->turn(turn);
  }
  timeline_->turns().clear();
}

/// Whether the wall clock has come to where the world may step; it waits for that. Beside boards it waits for them too,
/// and what they ask meanwhile comes first.
bool Conductor::keep_pace(SimTime to) {
  const WallSpan due = options_.pace->apply(to.since_zero());
  const auto clock = [this] { return boards_ != nullptr ? boards_->now() : wall_now(); };
  const WallTime start = boards_ != nullptr ? outcome_.began : watch_.last() - watch_.total().wall;
  const WallTime before = clock();
  if (const WallSpan late = before - (start + due); late >= WallSpan::zero()) {
    if (late < worth_counting || std::exchange(paced_, SimTime::never()) == to) return true;
    ++outcome_.times_late;
    outcome_.late_most = std::max(outcome_.late_most, late);
    return true;
  }
  rest_lanes();
  watch_.was(&Accounting::coordination);
  paced_ = to;
  std::atomic<std::uint32_t> nobody{0};
  for (WallTime at = before; at < start + due && !told_to_stop(); at = clock()) {
    const WallTime until = std::min(start + due, at + stop_look);
    if (boards_ == nullptr) {
      futex_wait_until(nobody, 0, until);
    } else if (boards_->idle(until)) {
      break;
    }
  }
  if (boards_ != nullptr) boards_->pace_took(clock() - before);
  watch_.was(&Accounting::idle);
  return boards_ == nullptr || clock() >= start + due;
}

// We wait for something else than programs. Who was stopped in the middle of its computing must be kept from it, which
// takes the core; where nobody was, others may have it.
void Conductor::rest_lanes() {
  if (!lanes_) return;
  for (const auto& m : members_) {
    if (m->cost.measured() && timeline_->computing(m->number)) return lanes_->hold();
  }
  lanes_->rest();
}

void Conductor::show_clock(std::uint32_t program, SimTime base, SimTime limit, bool flowing) {
  Member& m = *members_[program];
  const double rate = m.cost.rate().factor().value();
  const bool spread = m.seat && m.cores > 1;  // then its threads executed more than it took
  m.channel->set_clock(base, limit, time_stamp_counter(), flowing ? watch_.counter_scale(rate) : 0,
                       spread ? m.cost.rate().apply(m.cpu_of_threads) : timeline_->executed_by(program));
}

// One window: the program that came least far, and on every other lane one that may execute meanwhile.
void Conductor::run_programs(const Timeline::Event& least) {
  find_turns(least);
  watch_.was(&Accounting::coordination);
  lanes_->run(turns_);
  CpuSpan longest;
  for (const Timeline::Event& event : events_) {
    const Member& m = *members_[event.program];
    const CpuSpan before = m.cpu_of_threads;
    const CpuSpan executed = charge_executed(event.program);
    longest = std::max(longest, executed);
    outcome_.executed += m.cores > 1 ? std::max(m.cpu_of_threads - before, CpuSpan::zero()) : executed;
  }
  if (boards_ != nullptr) boards_->programs_took(WallSpan::from_ns(longest.ns()));
  watch_.was_running(WallSpan::from_ns(longest.ns()));
  outcome_.dispatches += turns_.size();
  for (std::size_t i = 0; i < turns_.size(); ++i) settle_turn(events_[i], turns_[i].why);
}

void Conductor::find_turns(const Timeline::Event& least) {
  events_.assign(1, least);
  if (lanes_->count() > 1) {
    timeline_->beside(beside_);
    std::uint64_t taken = lanes_->lanes_of(*members_[least.program]->seat);
    for (const Timeline::Event& other : beside_) {
      const std::uint64_t lanes = lanes_->lanes_of(*members_[other.program]->seat);
      if ((taken & lanes) == 0) events_.push_back(other);
      taken |= lanes;
    }
  }
  turns_.clear();
  for (Timeline::Event& event : events_) {
    Member& m = *members_[event.program];
    // Threads on several cores get apart by a window at most.
    if (m.cores > 1) event.budget = std::min(event.budget, options_.quantum);
    const SimTime from = timeline_->program_time(event.program);
    show_clock(event.program, from, from + event.budget, m.start_up != Member::StartUp::going_on);
    turns_.push_back({*m.seat, std::max(m.cost.rate().inverse().apply(event.budget), CpuSpan::from_ns(1)), {}});
  }
}

/// What a program came to in its turn, which began at `event.at` and had the budget of the event.
void Conductor::settle_turn(const Timeline::Event& event, Dispatcher::Why why) {
  Member& m = *members_[event.program];
  const SimSpan beyond = timeline_->program_time(event.program) - (event.at + event.budget);
  if (beyond > outcome_.overrun_max) {
    outcome_.overrun_max = beyond;
    LatePreemption late{event.at + event.budget, beyond, lanes_->late(*m.seat), {}, {}};
    if (late.late >= worth_explaining) {
      interference_->explain(late);
      outcome_.latest_preemption = late;
    }
  }
  record_drift(m.cpu);
  if (why == Dispatcher::Why::asked) return request_arrived(event.program, *m.channel->asking());
  if (why == Dispatcher::Why::blocked) return m.process->ended() ? ended(event.program) : blocked(event.program);
}

CpuSpan Conductor::charge_executed(std::uint32_t program) {
  Member& m = *members_[program];
  const CpuTime before = m.cpu_newest;
  const CpuTime total = CpuTime::zero() + (lanes_->executed(*m.seat) - m.cpu_base);
  if (m.start_up == Member::StartUp::going_on && total > before) return forgive_start_up(program, total - before);
  m.cpu_newest = std::max(m.cpu_newest, total);
  if (m.cores > 1 && !m.process->ended()) m.cpu_of_threads = m.process->cpu_time() - m.cpu_base;
  timeline_->executed(program, m.cost.up_to(m.cpu_newest));
  return m.cpu_newest - before;
}

// Whether other threads of a program go on while one waits. Who hands on a baton knows it; of others it is a guess that
// the end of their turn corrects.
bool Conductor::others_run(const Member& m, const protocol::Exchange& exchange) const {
  const auto ask = static_cast<protocol::Ask>(exchange.ask);
  const bool baton = exchange.index == 1 && (ask == protocol::Ask::wait || ask == protocol::Ask::call);
  if (!baton || m.cost.measured()) {
    return m.process->thread_count() > 1;
  }
  return exchange.size > 0 || m.channel->waits_answered() > exchange.stamp;
}

// No thread of the program goes on by itself, unless it was answered meanwhile.
void Conductor::idle(std::uint32_t program, const protocol::Exchange& exchange) {
  if (members_[program]->channel->waits_answered() <= exchange.stamp) blocked(program);
}

void Conductor::request_arrived(std::uint32_t program, std::uint32_t link) {
  Member& m = *members_[program];
  Pending pending;
  pending.link = link;
  pending.exchange = m.channel->take(link);
  const auto ask = static_cast<protocol::Ask>(pending.exchange.ask);
  if (ask == protocol::Ask::call) pending.call = m.channel->call(link);
  const bool waits_in_call = ask == protocol::Ask::call && System::may_wait(pending.call);
  const bool may_wait = ask == protocol::Ask::wait || ask == protocol::Ask::receive || waits_in_call;
  if (ask == protocol::Ask::idle) return idle(program, pending.exchange);
  ++outcome_.requests;
  if (ask == protocol::Ask::attach) {
    attached(m, pending.exchange);
  } else if (m.start_up == Member::StartUp::going_on && !(m.interpreter && ask == protocol::Ask::clock)) {
    end_start_up(m);
  }
  pending.output = take_output(program, m.cost.recorded() ? m.cost.next_charge() : nullptr);
  if (m.cost.recorded()) {
    const Charge* charge = m.cost.next_charge();
    pending.others_run = charge != nullptr && charge->others_run;
    const auto expected = charge == nullptr ? protocol::Ask::none : static_cast<protocol::Ask>(charge->ask);
    if (expected != protocol::Ask::none && expected != ask) {
      parted(program, "asked for " + name_of(ask) + " where the record has " + name_of(expected));
    }
    if (charge != nullptr) m.cpu_newest = charge->total;
    hand_clock_values(m, link);
    take_charge(program);
  } else {
    pending.others_run = may_wait && others_run(m, pending.exchange);
  }
  if (m.cost.measured()) {
    take_clock_values(program, link);
    take_order(program, false);
    if (recorder_ != nullptr) {
      recorder_->charge(program, {Charge::Kind::asked,
                                  pending.others_run,
                                  link,
                                  static_cast<std::uint8_t>(pending.exchange.ask),
                                  m.cpu_newest,
                                  {},
                                  m.output_taken});
    }
  } else if (!m.cost.recorded()) {
    timeline_->executed(program, ask == protocol::Ask::call ? m.cost.of_call(pending.call, m.spec.best_effort)
                                                            : m.cost.of_request(ask, m.spec.best_effort));
  }
  m.pending = std::move(pending);
  timeline_->arrived(program, in_order(ask), ask == protocol::Ask::call);
}

// No thread of the program runs. If one of them waits for a time or a message, that is what the others wait for; if
// none does, the program is in a call that nobody told us about.
void Conductor::blocked(std::uint32_t program) {
  Member& m = *members_[program];
  Pending pending;
  const bool waits = timeline_->any_link_waits(program);
  // To take a process apart takes the kernel a while, which is not the program's.
  for (const WallTime end = wall_now() + time_to_die; m.process->exiting() && wall_now() < end;) {
    if (m.process->ended()) return ended(program);
    usleep(100);
  }
  pending.kind = waits ? Charge::Kind::blocked : Charge::Kind::stalled;
  if (m.cost.measured() && recorder_ != nullptr && waits) {
    recorder_->charge(program, {Charge::Kind::blocked, false, 0, 0, m.cpu_newest, {}});
  }
  m.pending = std::move(pending);
  m.stalled_wall = wall_now();
  timeline_->arrived(program, false);
}

void Conductor::ended(std::uint32_t program) {
  Member& m = *members_[program];
  if (m.start_up == Member::StartUp::going_on) charge_start_up(program);
  for (std::uint32_t link = 0; m.cost.measured() && link < m.channel->links_used(); ++link) {
    take_clock_values(program, link);
  }
  if (m.cost.measured()) take_order(program, true);
  Pending pending;
  pending.kind = Charge::Kind::ended;
  pending.output = take_output(program, nullptr);
  if (m.cost.measured() && recorder_ != nullptr) {
    recorder_->charge(program, {Charge::Kind::ended, false, 0, 0, m.cpu_newest, {}, m.output_taken});
  }
  if (m.cost.recorded()) take_charge(program);
  m.pending = std::move(pending);
  timeline_->arrived(program, false);
}

void Conductor::await_arrival(std::uint32_t program) {
  if (lanes_) lanes_->hold();
  const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
  if (collect_arrivals()) return;
  watch_.was(&Accounting::coordination);
  for (const WallTime end = watch_.last() + awake; wall_now() < end;) {
    if (bell_.rings.load(std::memory_order_acquire) != rings) break;
  }
  futex_wait_until(bell_.rings, rings, wall_now() + (boards_ != nullptr ? arrival_look_beside_boards : arrival_look));
  const WallTime begun = watch_.last();
  watch_.was(&Accounting::executed);
  if (boards_ != nullptr) {
    boards_->programs_took(watch_.last() - begun);
    boards_->take();
  }
  if (!collect_arrivals()) check_silence(program);
}

bool Conductor::collect_arrivals() {
  bool any = false;
  for (const auto& m : members_) any = collect_arrival(m->number) || any;
  return any;
}

bool Conductor::collect_arrival(std::uint32_t program) {
  Member& m = *members_[program];
  if (m.cost.measured() || m.pending || !timeline_->computing(program)) return false;
  if (m.cost.recorded()) {
    const Charge* charge = m.cost.next_charge();
    if (charge != nullptr && charge->kind == Charge::Kind::asked && m.channel->asks(charge->link)) {
      request_arrived(program, charge->link);
      return true;
    }
    const bool to_the_end = charge != nullptr && charge->kind == Charge::Kind::unfinished;
    if (to_the_end && timeline_->program_time(program) >= until_) return false;
    const bool off_the_record = charge == nullptr || to_the_end || charge->kind == Charge::Kind::ended;
    if (!off_the_record) {
      if (!watcher_->ended(m.watched) || !m.process->ended()) return false;
      return ended(program), true;
    }
  }
  if (const auto link = m.channel->asking()) {
    if (m.cost.recorded()) {
      const protocol::Exchange asked = m.channel->look(*link);
      parted(program, "asked for " + name_of(static_cast<protocol::Ask>(asked.ask)) + ", beyond its record");
    }
    request_arrived(program, *link);
    return true;
  }
  if (watcher_->ended(m.watched) && m.process->ended()) return ended(program), true;
  return false;
}

void Conductor::check_silence(std::uint32_t program) {
  Member& m = *members_[program];
  if (timeline_->any_link_waits(program) && !m.cost.recorded() && !m.process->runnable() && !m.channel->asking()) {
    // Seen twice, having executed nothing: a thread may just have been in the middle of a system call.
    const CpuTime executed = m.process->cpu_time();
    if (m.blocked_at == executed) return blocked(program);
    m.blocked_at = executed;
    return;
  }
  const bool silent = hangs(m);
  if (m.cost.recorded()) {
    if (const std::string why = cannot_follow(program); !why.empty()) {
      parted(program, why);
      return stop_with(m.name + " " + m.figures.parted);
    }
  }
  if (!silent) return;
  desk_.fault(
      program, timeline_->program_time(program),
      "hangs: it computed or was blocked for " + to_string(options_.hang_after) + " without asking for anything");
  m.process->kill_group(SIGKILL);  // its end is noticed like any other
  m.silence.reset();
}

void Conductor::check_memory() {
  memory_checked_ = watch_.last();
  for (const auto& one : members_) {
    Member& m = *one;
    const std::uint32_t i = m.number;
    const std::uint64_t used = m.process->ended() ? 0 : m.process->resident();
    if (used <= m.spec.memory_limit || m.limit_struck) continue;
    m.limit_struck = true;
    const std::string limit = std::to_string(m.spec.memory_limit >> 20) + " MiB";
    desk_.fault(i, timeline_->program_time(i),
                "uses " + std::to_string(used >> 20) + " MiB of memory, more than its limit of " + limit +
                    " (`memory` in the scenario)");
    m.process->end_because("ended by its memory limit of " + limit);
  }
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
  if (blocks_while_starting(program, watch_.last())) return;
  timeline_->stalled_until(program, m.stalled_since + SimSpan::from_ns((watch_.last() - m.stalled_wall).ns()));
  record_drift(m.cpu);
}

void Conductor::look_after_stalled() {
  const WallTime now = wall_now();
  if (now - stalled_checked_ < stalled_look_when_busy) return;
  stalled_checked_ = now;
  for (const auto& one : members_) {
    Member& m = *one;
    const std::uint32_t i = m.number;
    if (!timeline_->stalled(i)) continue;
    if (m.process->ended() || m.channel->asking() || m.process->runnable()) {
      recover(i, now);
    } else if (!blocks_while_starting(i, now) && m.spec.blocking == Blocking::charge_wall) {
      timeline_->stalled_until(i, m.stalled_since + SimSpan::from_ns((now - m.stalled_wall).ns()));
    }
  }
}

void Conductor::recover(std::uint32_t program, WallTime when) {
  Member& m = *members_[program];
  --stalled_;
  SimTime at = m.stalled_since;
  const bool free = m.spec.blocking == Blocking::free || m.start_up == Member::StartUp::going_on;
  if (!free) at += SimSpan::from_ns((when - m.stalled_wall).ns());
  const SimTime resumed = timeline_->recovered(program, at);
  m.recovering = true;
  m.figures.stalled += resumed - m.stalled_since;
  if (recorder_ != nullptr) recorder_->charge(program, {Charge::Kind::stalled, false, 0, 0, m.cpu_newest, resumed});
}

// The program computes from here on: what is known of its cost is owed at once.
void Conductor::begin(std::uint32_t program, SimTime at) {
  Member& m = *members_[program];
  if (m.cost.measured()) return;
  show_clock(program, at, at, false);
  m.silence.reset();
  if (m.cost.recorded() && !m.promised && !m.pending) promise(program);
}

// Where computing is free it was done all the same: who computed longer than the world lasted is that far ahead.
SimSpan Conductor::drift_so_far() const {
  SimSpan most = drift_->max();
  for (const auto& m : members_) {
    if (!m->cost.zero()) continue;
    const CpuSpan used = m->process->cpu_time() - m->cpu_base;
    most = std::max(most, ComputeRate().apply(used) - timeline_->world().since_zero());
  }
  for (const auto& called : callees_) {
    if (!called->free()) continue;
    most = std::max(most, ComputeRate().apply(called->executed()) - timeline_->world().since_zero());
  }
  return most;
}

void Conductor::record_drift(std::uint32_t cpu) {
  drift_->record(ParticipantId(cpu + 1), now(), timeline_->progress(cpu));
}

void Conductor::record_drift_of_all() {
  const WallTime when = now();
  drift_->record(ParticipantId(0), when, timeline_->world());
  for (std::uint32_t c = 0; c < robot_cpus_; ++c) {
    drift_->record(ParticipantId(c + 1), when, timeline_->progress(c));
  }
  if (boards_ != nullptr) boards_->record_times(when);
  if (outcome_.steps % 64 == 0) drift_->fold([this](SimSpan delta) { drift_histogram_.record(delta.ns()); });
}

// The run ends at this time, not at once: what others do until then belongs to it, however fast they are here. Of two
// that fail at one time the first in the scenario is named.
void Conductor::fails_run(std::uint32_t program, SimTime at) {
  if (failure_ && *failure_ < std::pair(at, program)) return;
  failure_ = {at, program};
}

void Conductor::end_after_failure() {
  if (timeline_->front() <= failure_->first) return;
  const ProgramOutcome& figures = figures_of(failure_->second);
  stop_with(figures.name + " " + figures.ended);
}

void Conductor::stop_with(std::string why) {
  if (outcome_.why_ended.empty()) outcome_.why_ended = std::move(why);
  stopping_ = true;
}

}  // namespace isochron::programs
