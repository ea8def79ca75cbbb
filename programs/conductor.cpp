#include "programs/conductor.hpp"

#include <algorithm>
#include <utility>

#include "core/foreign_text.hpp"
#include "programs/futex.hpp"

namespace isochron::programs {

namespace {
constexpr WallSpan board_look_beside_programs = std::chrono::microseconds(200);
constexpr WallSpan worth_counting = std::chrono::milliseconds(1);  // of being late against the pace
constexpr WallSpan stop_look = std::chrono::milliseconds(50);
constexpr WallSpan progress_period = std::chrono::milliseconds(200);
}  // namespace

Conductor::Conductor(Plant& plant, const std::vector<RobotSpec>& robots, const CoordinatorOptions& options,
                     Recorder* recorder, SimTime until)
    : all_(plant, robots, options, recorder, until, *this, *this),
      teller_(all_),
      drift_(all_),
      tapes_(all_),
      execution_(all_, tapes_, drift_),
      stacks_(all_, tapes_, execution_, teller_),
      foreign_calls_(all_, tapes_, drift_),
      limits_(all_),
      arrivals_(all_, tapes_, limits_),
      answers_(all_, tapes_, execution_, foreign_calls_, stacks_, teller_),
      launch_(all_, execution_, stacks_, answers_, limits_),
      stall_watch_(all_, stacks_) {
  if (all_.boards != nullptr) all_.boards->enter(*all_.timeline, all_.desk, drift_, all_.robot_cpus);
  all_.add_correspondents();
  stacks_.open(robots);
}

Conductor::~Conductor() {
  for (auto& [correspondent, post] : all_.correspondents) correspondent->leave();
}

RunOutcome Conductor::conduct(std::stop_token stop, const ProgressTold& progress) {
  RunOutcome& outcome = all_.outcome;
  launch_.start();
  launch_.await_attach();
  if (!all_.stopping && all_.boards != nullptr) launch_.await_boards(stop);
  if (!all_.stopping) {
    execution_.open_lanes();
    take_control();
    all_.watch.restart();
    for (auto& [correspondent, post] : all_.correspondents) correspondent->enter(stacks_.system());
    exchange_with_correspondents();
    loop(stop, progress);
  }
  teller_.flush(all_.failure ? all_.failure->first + SimSpan::from_ns(1) : SimTime::never());
  tapes_.record_unfinished();
  all_.timeline->end_turns();
  teller_.turns();
  outcome.accounting = all_.watch.total();
  outcome.reached = all_.timeline->world();
  outcome.completed = outcome.why_ended.empty();
  if (all_.boards != nullptr) all_.boards->end(std::max(outcome.reached, all_.timeline->seen()));
  launch_.end();
  settle_figures();
  return std::move(outcome);
}

// Every program has asked to attach, or ended. What it executed before is not charged.
void Conductor::take_control() {
  for (auto& called : all_.callees) called->start(all_.plant.time());
  for (const auto& one : all_.members) {
    Member& m = *one;
    const Pending found = *m.pending;
    const bool ended = found.kind == Charge::Kind::ended;
    m.pending.reset();
    m.cpu_base = m.process->cpu_time();
    if (m.cost.recorded()) tapes_.start(m.number);
    if (m.cost.measured() && !ended) {
      m.seat = all_.lanes->admit(m.lane, m.cores, *m.process, *m.channel);
    } else if (all_.lanes) {
      all_.lanes->send_away(*m.process);
    }
    ended ? arrivals_.ended(m.number) : arrivals_.asked(m.number, found.link);
  }
}

void Conductor::loop(std::stop_token stop, const ProgressTold& progress) {
  WallTime told = all_.watch.last();
  while (!all_.stopping) {
    const WallTime safe = all_.boards != nullptr ? all_.boards->safe() : WallTime::zero();
    const Timeline::Event event = all_.timeline->next(safe);
    if (event.kind == Timeline::Event::Kind::finished) return all_.failure ? all_.end_after_failure() : void();
    perform(event);
    stall_watch_.look(event);
    if (all_.boards != nullptr) look_at_boards();
    if (stop.stop_requested() || all_.told_to_stop()) all_.stop_with("stopped");
    if (progress && all_.watch.last() - told > progress_period) {
      told = all_.watch.last();
      progress(all_.timeline->world(), drift_.so_far());
    }
    foreign_calls_.look_after();
    limits_.check_memory_sometimes();
    if (all_.failure) all_.end_after_failure();
  }
}

void Conductor::perform(const Timeline::Event& event) {
  using Kind = Timeline::Event::Kind;
  switch (event.kind) {
    case Kind::step:
      return step_world(event.at);
    case Kind::operation:
      return operate(event);
    case Kind::wake:
      return wake(event);
    case Kind::run:
      return run_programs(event);
    case Kind::arrive:
      return arrivals_.await(event.program);
    case Kind::listen:
      return listen(event);
    case Kind::stalled:
      return all_.is_board(event.program) ? listen(event) : foreign_calls_.await(event.program);
    case Kind::finished:
      return;
  }
}

void Conductor::operate(const Timeline::Event& event) {
  if (all_.is_board(event.program)) return all_.boards->operate(event);
  if (Callee* called = all_.callee(event.program)) return called->operate(event.at);
  answers_.operate(event.program, event.at);
}

void Conductor::wake(const Timeline::Event& event) {
  if (all_.is_board(event.program)) return all_.boards->operate(event);
  if (Callee* called = all_.callee(event.program)) return called->wake(event.at);
  answers_.wake(event);
}

void Conductor::run_programs(const Timeline::Event& least) {
  execution_.run(least);
  for (std::size_t i = 0; i < execution_.turns(); ++i) arrivals_.turn_over(execution_.settle(i));
}

// Programs that run freely may have asked meanwhile: they ring another bell.
void Conductor::listen(const Timeline::Event& event) {
  execution_.rest();
  all_.watch.was(&Accounting::coordination);
  Boards& boards = *all_.boards;
  boards.wait_for(event, boards.now() + (all_.members.empty() ? stop_look : board_look_beside_programs));
  all_.watch.was(&Accounting::waited);
  if (!all_.members.empty()) arrivals_.collect();
}

void Conductor::look_at_boards() {
  if (!all_.boards->failure().empty()) all_.stop_with(all_.boards->failure());
  if (all_.boards->all_left()) all_.stopping = true;
}

void Conductor::step_world(SimTime to) {
  if (all_.options.pace && !keep_pace(to)) return;
  all_.watch.was(&Accounting::coordination);
  all_.desk.apply(to);
  if (all_.options.host_steps) execution_.rest();
  const WallTime before = all_.now();
  const auto advanced = all_.plant.advance_to(to);
  all_.watch.was(&Accounting::world);
  if (all_.boards != nullptr) all_.boards->world_took(all_.now() - before);
  if (!advanced.ok()) return all_.stop_with("the world: " + advanced.error());
  all_.timeline->stepped();
  ++all_.outcome.steps;
  drift_.record_all();
  teller_.flush(to);
  teller_.turns();
  if (all_.recorder != nullptr) all_.recorder->stepped(to);
  exchange_with_correspondents();
}

void Conductor::exchange_with_correspondents() {
  for (auto& [correspondent, post] : all_.correspondents) {
    const bool waits = correspondent->waits_outside();
    if (waits) {
      execution_.rest();
      all_.watch.was(&Accounting::coordination);
    }
    correspondent->exchange(post, all_.timeline->world(), all_.timeline->boundary());
    if (waits) all_.watch.was(&Accounting::waited);
    if (const auto over = correspondent->over()) {
      all_.stopping = true;
      if (!over->empty()) all_.stop_with(*over);
    }
  }
}

/// Whether the wall clock has come to where the world may step; it waits for that. Beside boards it waits for them too,
/// and what they ask meanwhile comes first.
bool Conductor::keep_pace(SimTime to) {
  Boards* boards = all_.boards;
  const WallSpan due = all_.options.pace->apply(to.since_zero());
  const auto clock = [boards] { return boards != nullptr ? boards->now() : wall_now(); };
  const WallTime start = boards != nullptr ? all_.outcome.began : all_.watch.last() - all_.watch.total().wall;
  const WallTime before = clock();
  if (const WallSpan late = before - (start + due); late >= WallSpan::zero()) {
    if (late < worth_counting || std::exchange(paced_, SimTime::never()) == to) return true;
    ++all_.outcome.times_late;
    all_.outcome.late_most = std::max(all_.outcome.late_most, late);
    return true;
  }
  execution_.rest();
  all_.watch.was(&Accounting::coordination);
  paced_ = to;
  std::atomic<std::uint32_t> nobody{0};
  for (WallTime at = before; at < start + due && !all_.told_to_stop(); at = clock()) {
    const WallTime until = std::min(start + due, at + stop_look);
    if (boards == nullptr) {
      futex_wait_until(nobody, 0, until);
    } else if (boards->idle(until)) {
      break;
    }
  }
  if (boards != nullptr) boards->pace_took(clock() - before);
  all_.watch.was(&Accounting::idle);
  return boards == nullptr || clock() >= start + due;
}

void Conductor::message(std::uint32_t program, std::uint32_t link, SimTime at) {
  if (all_.boards != nullptr && all_.boards->is_party(program)) return all_.boards->message(program, link, at);
  if (all_.timeline->receiving(program, link)) all_.timeline->message(program, link, at);
}

void Conductor::show_world(SimTime at) {
  all_.watch.was(&Accounting::coordination);
  all_.desk.apply(at);
  all_.watch.was(&Accounting::world);
}

void Conductor::settle_figures() {
  drift_.settle();
  for (const auto& m : all_.members) settle_figures(*m);
  for (std::size_t i = 0; i < all_.callees.size(); ++i) {
    Callee& called = *all_.callees[i];
    settle(called.figures(), static_cast<std::uint32_t>(all_.executables + i));
    called.figures().cpu = called.executed();
    all_.outcome.programs.push_back(called.figures());
  }
  if (all_.boards == nullptr) return;
  for (const TargetOutcome& target : all_.boards->outcome().targets) {
    ProgramOutcome& figures = all_.outcome.programs.emplace_back();
    static_cast<DeskFigures&>(figures) = target.figures;
    figures.name = target.name;
    figures.executed = target.executed;
    figures.ended = target.ended;
  }
}

void Conductor::settle_figures(Member& m) {
  settle(m.figures, m.number);
  m.figures.output = all_.watcher->output(m.watched);
  m.figures.output_size = all_.watcher->output_size(m.watched);
  std::string& why = all_.outcome.why_ended;
  if (m.figures.failed && !why.empty() && why.find('\n') == std::string::npos) {
    const std::string tail = foreign_tail(m.figures.output, 400);
    if (!tail.empty()) why += "\nit printed last: " + tail;
  }
  all_.outcome.programs.push_back(std::move(m.figures));
}

/// What desk and timeline know of a program.
void Conductor::settle(ProgramOutcome& figures, std::uint32_t program) {
  static_cast<DeskFigures&>(figures) = all_.desk.figures(program);
  figures.executed = all_.timeline->executed_by(program);
  figures.preemptions = all_.timeline->preemptions(program);
  if (figures.last_state.empty()) figures.last_state = all_.timeline->describe(program);
}

}  // namespace isochron::programs
