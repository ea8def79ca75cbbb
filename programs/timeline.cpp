#include "programs/timeline.hpp"

#include <algorithm>
#include <tuple>

#include "core/ensure.hpp"
#include "core/time_text.hpp"

namespace isochron::programs {

Timeline::Timeline(std::vector<std::unique_ptr<Policy>> cpus, std::vector<Place> programs, Options options)
    : options_(options), world_(options.start), seen_(options.start) {
  ENSURE(options.step > SimSpan::zero() && options.quantum > SimSpan::zero(), "step and quantum must be positive");
  for (auto& policy : cpus) {
    cpus_.push_back({});
    cpus_.back().policy = std::move(policy);
    cpus_.back().now = options.start;
  }
  for (const Place& place : programs) {
    ENSURE(place.cpu < cpus_.size(), "a program on a CPU that is not there");
    cpus_[place.cpu].programs.push_back(static_cast<std::uint32_t>(programs_.size()));
    programs_.push_back({});
    programs_.back().place = place;
    programs_.back().ready_since = programs_.back().core_wanted = options.start;
    programs_.back().queued = ++cpus_[place.cpu].queue;
    programs_.back().links.resize(place.links);
  }
  candidates_.reserve(programs_.size());
  turns_.reserve(64 * programs_.size());
  looks_.resize(cpus_.size());
  dirty_.assign(cpus_.size(), true);
  for (Cpu& cpu : cpus_) pick(cpu);
}

bool Timeline::ready(const Program& p) const {
  return p.state == State::computing || p.state == State::asking ||
         (p.state == State::waiting && p.woken > 0 && !p.hold);
}

bool Timeline::computing(std::uint32_t program) const { return programs_[program].state == State::computing; }

bool Timeline::any_link_waits(std::uint32_t program) const {
  const auto& links = programs_[program].links;
  return std::any_of(links.begin(), links.end(), [](const Link& link) { return link.waiting; });
}

SimTime Timeline::earliest_wake(const Cpu& cpu) const {
  SimTime earliest = SimTime::never();
  for (const std::uint32_t i : cpu.programs) earliest = std::min(earliest, programs_[i].next_wake);
  return earliest;
}

void Timeline::find_next_wake(Program& p) {
  p.next_wake = SimTime::never();
  for (const Link& link : p.links) {
    if (link.waiting && !link.woken) p.next_wake = std::min(p.next_wake, link.wake);
  }
}

bool Timeline::receives(const Cpu& cpu) const {
  return std::any_of(cpu.programs.begin(), cpu.programs.end(),
                     [&](std::uint32_t i) { return programs_[i].receiving > 0; });
}

Timeline::Look Timeline::look_at(const Cpu& cpu) const {
  Look look;
  const bool may_receive = receives(cpu);
  if (cpu.selected != none) {
    const Program& p = programs_[cpu.selected];
    look.program = cpu.selected;
    if (p.woken > 0 && p.state != State::asking && !p.hold) {
      const auto link = std::find_if(p.links.begin(), p.links.end(), [](const Link& l) { return l.woken; });
      look.link = static_cast<std::uint32_t>(link - p.links.begin());
      look.at = cpu.now;
      look.kind = Event::Kind::wake;
      look.exact = true;
      look.ordered = link->receiving || may_receive;
      look.strict = link->strict;
      return look;
    }
    look.at = cpu.now + p.owed;
    look.exact = p.state == State::asking;
    look.kind = look.exact        ? Event::Kind::operation
                : p.place.metered ? Event::Kind::run
                : p.place.told    ? Event::Kind::listen
                                  : Event::Kind::arrive;
    look.ordered = p.ordered || may_receive;
    look.strict = p.strict && look.exact;
    if (p.place.told && !look.exact) look.at = board_bound(cpu, p);
  }
  // The earliest of the three; at one time the wake comes first, then the end of the slice, then the operation.
  const bool sliced = cpu.selected != none && cpu.slice_end <= look.at;
  const SimTime wake = std::max(earliest_wake(cpu), cpu.now);
  if (wake != SimTime::never() && wake <= look.at && (!sliced || wake <= cpu.slice_end)) {
    look.at = wake;
    look.wakes = look.exact = true;
    look.ordered = may_receive;
    look.strict = false;
  } else if (sliced) {
    look.at = cpu.slice_end;
    look.slice = look.exact = true;
    look.ordered = may_receive;
    look.strict = false;
  }
  for (const std::uint32_t i : cpu.programs) {
    const Program& p = programs_[i];
    if (p.state != State::stalled || p.stall_floor >= look.at) continue;
    look = {};
    look.at = std::max(p.stall_floor, cpu.now);
    look.kind = Event::Kind::stalled;
    look.program = i;
  }
  return look;
}

void Timeline::refresh() {
  SimTime least = SimTime::never();
  least_ = 0;
  second_ = SimTime::never();
  for (std::uint32_t c = 0; c < cpus_.size(); ++c) {
    if (dirty_[c]) {
      looks_[c] = look_at(cpus_[c]);
      dirty_[c] = false;
    }
    if (looks_[c].at < least) {
      second_ = least;
      least = looks_[c].at;
      least_ = c;
    } else if (c > 0) {
      second_ = std::min(second_, looks_[c].at);
    }
  }
}

SimTime Timeline::bound_of_others(std::uint32_t cpu) const { return cpu == least_ ? second_ : looks_[least_].at; }

bool Timeline::enabled(std::uint32_t cpu) const {
  const Look& look = looks_[cpu];
  if (look.strict && cpu != least_) return false;
  return look.exact && look.at < boundary() && (!look.ordered || look.at <= bound_of_others(cpu));
}

/// How far a board has certainly come that computes.
SimTime Timeline::board_bound(const Cpu& cpu, const Program& p) const {
  if (!p.place.held) return SimTime::never();
  if (p.left == WallTime::never()) return cpu.now;
  return cpu.now + SimSpan::from_ns(std::max(now_ - p.left - p.on_the_way, WallSpan::zero()).ns());
}

/// When a computing board's bound will be t, if it goes on computing.
WallTime Timeline::reaches(std::uint32_t c, SimTime t) const {
  const Program& p = programs_[cpus_[c].selected];
  if (p.left == WallTime::never()) return WallTime::never();
  return p.left + p.on_the_way + WallSpan::from_ns((t - cpus_[c].now).ns());
}

/// While a board computes, a measured program may execute as far as the quantum allows.
std::optional<Timeline::Event> Timeline::run_meanwhile() {
  std::uint32_t first = none;
  for (std::uint32_t c = 0; c < cpus_.size(); ++c) {
    const Look& look = looks_[c];
    if (look.exact || look.kind != Event::Kind::run || budget(c) <= SimSpan::zero()) continue;
    if (first == none || look.at < looks_[first].at) first = c;
  }
  if (first == none) return std::nullopt;
  running_ = first;
  return Event{Event::Kind::run, looks_[first].program, 0, looks_[first].at, budget(first)};
}

/// The board that will be the last to come to where something can happen, and when it does.
Timeline::Event Timeline::listen_to_boards() const {
  SimTime needed = boundary();
  for (const Look& look : looks_) {
    if (look.exact) needed = std::min(needed, look.at);
    // A measured program has gone a quantum ahead: it goes on before the board has come all the way.
    if (!look.exact && look.kind == Event::Kind::run) needed = std::min(needed, look.at - options_.quantum / 2);
  }
  std::uint32_t last = least_;
  for (const std::uint32_t c : told_) {
    const Look& look = looks_[c];
    if (look.kind != Event::Kind::listen || look.exact || look.at >= needed) continue;
    if (reaches(c, needed) > reaches(last, needed)) last = c;
  }
  Event event{Event::Kind::listen, looks_[last].program, 0, needed, {}};
  event.until = reaches(last, needed);
  return event;
}

Timeline::Event Timeline::next(WallTime now) {
  if (now != now_) {
    now_ = now;
    for (const std::uint32_t c : told_) dirty_[c] = true;
  }
  if (cpus_.empty()) return {world_ < options_.until ? Event::Kind::step : Event::Kind::finished, 0, 0, boundary(), {}};
  Event event;
  for (;;) {
    refresh();
    const Look& least = looks_[least_];
    if (least.at >= boundary()) {
      event.kind = world_ < options_.until ? Event::Kind::step : Event::Kind::finished;
      event.at = boundary();
      return event;
    }
    if (enabled(least_)) {
      if (perform(least_, event)) return event;
      continue;
    }
    // The least cannot act before it really ran. While we would only wait for it, others that may act do.
    bool performed = false;
    if (least.kind != Event::Kind::run) {
      for (std::uint32_t c = 0; c < cpus_.size() && !performed; ++c) {
        if (!enabled(c)) continue;
        if (perform(c, event)) return event;
        performed = true;
      }
    }
    if (performed) continue;
    if (least.kind == Event::Kind::listen) {
      if (const auto meanwhile = run_meanwhile()) return *meanwhile;
      return listen_to_boards();
    }
    event = {least.kind, least.program, 0, least.at, {}};
    running_ = least_;
    if (event.kind == Event::Kind::run) event.budget = budget(least_);
    return event;
  }
}

void Timeline::beside(std::vector<Event>& found) const {
  found.clear();
  for (std::uint32_t c = 0; c < cpus_.size(); ++c) {
    const Look& look = looks_[c];
    if (c == running_ || look.exact || look.kind != Event::Kind::run) continue;
    if (const SimSpan span = budget(c); span > SimSpan::zero())
      found.push_back({look.kind, look.program, 0, look.at, span});
  }
  std::sort(found.begin(), found.end(),
            [](const Event& a, const Event& b) { return std::tie(a.at, a.program) < std::tie(b.at, b.program); });
}

bool Timeline::perform(std::uint32_t c, Event& event) {
  Cpu& cpu = cpus_[c];
  const Look look = looks_[c];
  dirty_[c] = true;
  advance(cpu, look.at);
  if (look.ordered) seen_ = std::max(seen_, look.at);
  if (look.wakes) {
    wake_links(cpu);
    pick(cpu);
    return false;
  }
  if (look.slice) {
    cpu.slice_end = SimTime::never();
    programs_[cpu.selected].queued = ++cpu.queue;  // behind its equals
    pick(cpu);
    return false;
  }
  event = {look.kind, look.program, look.link, look.at, {}};
  if (look.kind == Event::Kind::wake) {
    Program& p = programs_[look.program];
    Link& link = p.links[look.link];
    if (link.receiving) --p.receiving;
    link = {};
    --p.woken;
    event.others_run = p.state == State::computing;
    p.state = State::computing;
  }
  return true;
}

SimSpan Timeline::budget(std::uint32_t c) const {
  const Cpu& cpu = cpus_[c];
  SimTime cap = std::min({boundary(), earliest_wake(cpu), cpu.slice_end});
  cap = std::min(cap, bound_of_others(c) + options_.quantum);
  return cap - looks_[c].at;
}

void Timeline::advance(Cpu& cpu, SimTime to) {
  const SimSpan span = to - cpu.now;
  ENSURE(span >= SimSpan::zero(), "a virtual CPU cannot go back");
  if (cpu.selected != none) {
    Program& p = programs_[cpu.selected];
    ENSURE(p.owed >= span, "a program was charged more than it executed");
    p.owed -= span;
    p.charged += span;
    if (span > SimSpan::zero()) cpu.policy->charged(p.place.member, span);
  }
  cpu.now = to;
}

void Timeline::wake_links(Cpu& cpu) {
  for (const std::uint32_t i : cpu.programs) {
    Program& p = programs_[i];
    if (p.next_wake > cpu.now) continue;
    for (Link& link : p.links) {
      if (!link.waiting || link.woken || link.wake > cpu.now) continue;
      link.woken = true;
      if (!ready(p)) {
        p.ready_since = p.core_wanted = cpu.now;
        p.queued = ++cpu.queue;
      }
      ++p.woken;
    }
    find_next_wake(p);
  }
}

void Timeline::pick(Cpu& cpu) {
  candidates_.clear();
  for (const std::uint32_t i : cpu.programs) {
    const Program& p = programs_[i];
    if (!ready(p)) continue;
    candidates_.push_back({i, p.place.member, p.place.priority, p.charged, p.ready_since, p.queued, i == cpu.selected});
  }
  std::uint32_t next = none;
  SimSpan slice = SimSpan::max();
  if (!candidates_.empty()) {
    const Choice choice = cpu.policy->pick(candidates_, cpu.now);
    next = candidates_[choice.index].program;
    slice = choice.slice;
  }
  if (slice == SimSpan::max()) {
    cpu.slice_end = SimTime::never();
  } else if (next != cpu.selected || cpu.slice_end == SimTime::never()) {
    cpu.slice_end = cpu.now + slice;
  }
  if (next != cpu.selected) {
    end_turn(cpu, next);
    cpu.selected = next;
    cpu.selected_at = cpu.now;
  }
  dirty_[static_cast<std::size_t>(&cpu - cpus_.data())] = true;
}

void Timeline::end_turn(Cpu& cpu, std::uint32_t next) {
  if (cpu.selected == none) return;
  Program& p = programs_[cpu.selected];
  Turn turn{cpu.selected, p.core_wanted, cpu.selected_at, cpu.now, Turn::nobody};
  if (ready(p)) {
    ++p.preemptions;
    p.core_wanted = cpu.now;
    turn.preempted_by = next;
  }
  if (turn.to > turn.from) turns_.push_back(turn);
}

void Timeline::end_turns() {
  for (Cpu& cpu : cpus_) {
    if (cpu.selected == none || cpu.now == cpu.selected_at) continue;
    turns_.push_back({cpu.selected, programs_[cpu.selected].core_wanted, cpu.selected_at, cpu.now, Turn::nobody});
    cpu.selected_at = cpu.now;
  }
}

void Timeline::stepped() {
  world_ = boundary();
  seen_ = std::max(seen_, world_);
}

void Timeline::executed(std::uint32_t program, SimSpan more) {
  ENSURE(more >= SimSpan::zero(), "a program cannot execute backwards");
  programs_[program].owed += more;
  touch(program);
}

void Timeline::arrived(std::uint32_t program, bool ordered, bool strict) {
  Program& p = programs_[program];
  ENSURE(p.state == State::computing, "only a computing program asks");
  p.state = State::asking;
  p.ordered = ordered;
  p.strict = strict;
  touch(program);
}

void Timeline::resume(std::uint32_t program) {
  Program& p = programs_[program];
  p.state = State::computing;
  p.ordered = false;
  touch(program);
}

void Timeline::suspend(std::uint32_t program, std::uint32_t link, SimTime until, bool receiving, bool others_run,
                       bool strict) {
  Program& p = programs_[program];
  if (link >= p.links.size()) p.links.resize(link + 1);
  Link& l = p.links[link];
  l.waiting = true;
  l.wake = until;
  l.receiving = receiving;
  l.strict = strict;
  if (receiving) ++p.receiving;
  p.next_wake = std::min(p.next_wake, until);
  p.ordered = false;
  p.state = others_run ? State::computing : State::waiting;
  pick(cpus_[p.place.cpu]);
}

void Timeline::block(std::uint32_t program) {
  Program& p = programs_[program];
  p.state = State::waiting;
  p.ordered = false;
  pick(cpus_[p.place.cpu]);
}

void Timeline::hold_wakes(std::uint32_t program, bool hold) {
  Program& p = programs_[program];
  if (p.hold == hold) return;
  p.hold = hold;
  pick(cpus_[p.place.cpu]);
}

void Timeline::message(std::uint32_t program, std::uint32_t link, SimTime at) {
  Link& l = programs_[program].links.at(link);
  ENSURE(l.receiving, "a message for a link that does not receive");
  l.wake = std::min(l.wake, at);
  if (!l.woken) programs_[program].next_wake = std::min(programs_[program].next_wake, at);
  touch(program);
}

void Timeline::stall(std::uint32_t program, SimTime floor) {
  Program& p = programs_[program];
  p.state = State::stalled;
  p.stall_floor = floor;
  p.ordered = false;
  pick(cpus_[p.place.cpu]);
}

void Timeline::stalled_until(std::uint32_t program, SimTime floor) {
  Program& p = programs_[program];
  if (p.stall_floor != SimTime::never()) p.stall_floor = std::max(p.stall_floor, floor);
  touch(program);
}

SimTime Timeline::recovered(std::uint32_t program, SimTime at) {
  Program& p = programs_[program];
  ENSURE(p.state == State::stalled, "only a stalled program recovers");
  Cpu& cpu = cpus_[p.place.cpu];
  refresh();
  const SimTime earliest = std::max({at, cpu.now, seen_});
  // It wakes as a link would: V comes to that time in order, not by a jump.
  p.stall_floor = SimTime::never();
  p.state = State::waiting;
  p.links[0].waiting = true;
  p.links[0].wake = earliest;
  find_next_wake(p);
  touch(program);
  return earliest;
}

void Timeline::leave(std::uint32_t program) {
  Program& p = programs_[program];
  p.state = State::gone;
  p.receiving = p.woken = 0;
  p.owed = {};
  for (Link& link : p.links) link = {};
  p.next_wake = SimTime::never();
  pick(cpus_[p.place.cpu]);
}

std::uint32_t Timeline::enter(const Place& place) {
  const auto program = static_cast<std::uint32_t>(programs_.size());
  Cpu& cpu = cpus_[place.cpu];
  Program& p = programs_.emplace_back();
  p.place = place;
  p.ready_since = p.core_wanted = cpu.now;
  p.queued = ++cpu.queue;
  p.links.resize(place.links);
  cpu.programs.push_back(program);
  pick(cpu);
  return program;
}

void Timeline::skip_number() { programs_.emplace_back().state = State::gone; }

std::uint32_t Timeline::join(SimTime at, bool held) {
  const auto cpu = static_cast<std::uint32_t>(cpus_.size());
  const auto program = static_cast<std::uint32_t>(programs_.size());
  Program p;
  p.place.cpu = cpu;
  p.place.told = true;
  p.place.held = held;
  p.state = State::waiting;
  p.links.resize(1);
  p.links[0].waiting = true;
  p.links[0].wake = p.next_wake = std::max(at, seen_);
  programs_.push_back(std::move(p));
  Cpu board;
  board.policy = std::make_unique<FixedPriority>(options_.quantum);
  board.programs.push_back(program);
  board.now = std::min(at, seen_);
  cpus_.push_back(std::move(board));
  told_.push_back(cpu);
  looks_.emplace_back();
  dirty_.push_back(true);
  return program;
}

void Timeline::let_go(std::uint32_t program, WallTime left, WallSpan on_the_way) {
  programs_[program].left = left;
  programs_[program].on_the_way = on_the_way;
  touch(program);
}

SimTime Timeline::asked(std::uint32_t program, SimSpan executed, bool ordered) {
  Program& p = programs_[program];
  p.left = WallTime::never();
  const SimTime from = cpus_[p.place.cpu].now;
  const SimTime at = std::max(p.place.held ? from + executed : from, seen_);
  this->executed(program, at - from);
  arrived(program, ordered);
  return at;
}

void Timeline::lose(std::uint32_t program) {
  Program& p = programs_[program];
  Cpu& cpu = cpus_[p.place.cpu];
  SimTime stood = cpu.now + p.owed;
  if (p.state == State::computing && p.place.held) stood = board_bound(cpu, p);
  if (p.state == State::waiting) stood = std::max(cpu.now, std::min(p.next_wake, world_));
  p.owed = {};
  p.left = WallTime::never();
  p.receiving = p.woken = 0;
  for (Link& link : p.links) link = {};
  p.next_wake = SimTime::never();
  stall(program, std::max(stood, seen_));
}

SimTime Timeline::boundary_after(SimTime t) const {
  if (t <= world_) return world_;
  if (t >= options_.until) return options_.until;
  const SimSpan beyond = (t - world_) % options_.step;
  return beyond == SimSpan::zero() ? t : std::min(t - beyond + options_.step, options_.until);
}

SimTime Timeline::program_time(std::uint32_t program) const {
  const Program& p = programs_[program];
  return cpus_[p.place.cpu].now + p.owed;
}

SimTime Timeline::progress(std::uint32_t c) const {
  const Cpu& cpu = cpus_[c];
  if (cpu.selected != none) {
    // What a measured program executed is done. What another one owes is only known beforehand: it passes with the
    // world.
    const Program& p = programs_[cpu.selected];
    if (p.place.told && p.state == State::computing) return board_bound(cpu, p);
    const SimTime ahead = cpu.now + p.owed;
    return p.place.metered || p.place.whole ? ahead : std::max(cpu.now, std::min(ahead, world_));
  }
  return std::max(cpu.now, std::min(earliest_wake(cpu), world_));
}

std::string Timeline::describe(std::uint32_t program) const {
  const Program& p = programs_[program];
  switch (p.state) {
    case State::computing:
      return "computing at " + to_string(program_time(program));
    case State::asking:
      return "asking at " + to_string(program_time(program));
    case State::waiting:
      return std::string(p.receiving > 0 ? "waiting for a message" : "waiting") +
             (p.next_wake == SimTime::never() ? "" : " until " + to_string(p.next_wake));
    case State::stalled:
      return "blocked in a system call at " + to_string(cpus_[p.place.cpu].now);
    case State::gone:
      return "gone";
  }
  return "";
}

SimTime Timeline::front() const {
  SimTime least = SimTime::never();
  for (std::size_t c = 0; c < cpus_.size(); ++c) {
    least = std::min(least, dirty_[c] ? look_at(cpus_[c]).at : looks_[c].at);
  }
  return least;
}

}  // namespace isochron::programs
