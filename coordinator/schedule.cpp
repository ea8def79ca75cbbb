#include "coordinator/schedule.hpp"

#include <algorithm>
#include <tuple>

#include "core/ensure.hpp"
#include "core/time_text.hpp"

namespace isochron::coordinator {

Schedule::Schedule(std::vector<std::unique_ptr<Policy>> cpus, std::vector<Place> programs, Options options)
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

bool Schedule::ready(const Program& p) const {
  return p.state == State::computing || p.state == State::asking ||
         (p.state == State::waiting && p.woken > 0 && !p.hold);
}

bool Schedule::computing(std::uint32_t program) const { return programs_[program].state == State::computing; }

bool Schedule::any_link_waits(std::uint32_t program) const {
  const auto& links = programs_[program].links;
  return std::any_of(links.begin(), links.end(), [](const Link& link) { return link.waiting; });
}

SimTime Schedule::earliest_wake(const Cpu& cpu) const {
  SimTime earliest = SimTime::never();
  for (const std::uint32_t i : cpu.programs) earliest = std::min(earliest, programs_[i].next_wake);
  return earliest;
}

void Schedule::find_next_wake(Program& p) {
  p.next_wake = SimTime::never();
  for (const Link& link : p.links) {
    if (link.waiting && !link.woken) p.next_wake = std::min(p.next_wake, link.wake);
  }
}

bool Schedule::receives(const Cpu& cpu) const {
  return std::any_of(cpu.programs.begin(), cpu.programs.end(),
                     [&](std::uint32_t i) { return programs_[i].receiving > 0; });
}

Schedule::Look Schedule::look_at(const Cpu& cpu) const {
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
      return look;
    }
    look.at = cpu.now + p.owed;
    look.exact = p.state == State::asking;
    look.kind = look.exact ? Event::Kind::operation : p.place.metered ? Event::Kind::run : Event::Kind::arrive;
    look.ordered = p.ordered || may_receive;
  }
  // The earliest of the three; at one time the wake comes first, then the end of the slice, then the operation.
  const bool sliced = cpu.selected != none && cpu.slice_end <= look.at;
  const SimTime wake = std::max(earliest_wake(cpu), cpu.now);
  if (wake != SimTime::never() && wake <= look.at && (!sliced || wake <= cpu.slice_end)) {
    look.at = wake;
    look.wakes = look.exact = true;
    look.ordered = may_receive;
  } else if (sliced) {
    look.at = cpu.slice_end;
    look.slice = look.exact = true;
    look.ordered = may_receive;
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

void Schedule::refresh() {
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

SimTime Schedule::bound_of_others(std::uint32_t cpu) const { return cpu == least_ ? second_ : looks_[least_].at; }

bool Schedule::enabled(std::uint32_t cpu) const {
  const Look& look = looks_[cpu];
  return look.exact && look.at < boundary() && (!look.ordered || look.at <= bound_of_others(cpu));
}

Schedule::Event Schedule::next() {
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
    event = {least.kind, least.program, 0, least.at, {}};
    if (event.kind == Event::Kind::run) event.budget = budget(least_);
    return event;
  }
}

void Schedule::beside(std::vector<Event>& found) const {
  found.clear();
  for (std::uint32_t c = 0; c < cpus_.size(); ++c) {
    const Look& look = looks_[c];
    if (c == least_ || look.exact || look.kind != Event::Kind::run) continue;
    if (const SimSpan span = budget(c); span > SimSpan::zero())
      found.push_back({look.kind, look.program, 0, look.at, span});
  }
  std::sort(found.begin(), found.end(),
            [](const Event& a, const Event& b) { return std::tie(a.at, a.program) < std::tie(b.at, b.program); });
}

bool Schedule::perform(std::uint32_t c, Event& event) {
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
    p.state = State::computing;
  }
  return true;
}

SimSpan Schedule::budget(std::uint32_t c) const {
  const Cpu& cpu = cpus_[c];
  SimTime cap = std::min({boundary(), earliest_wake(cpu), cpu.slice_end});
  cap = std::min(cap, bound_of_others(c) + options_.quantum);
  return cap - looks_[c].at;
}

void Schedule::advance(Cpu& cpu, SimTime to) {
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

void Schedule::wake_links(Cpu& cpu) {
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

void Schedule::pick(Cpu& cpu) {
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

void Schedule::end_turn(Cpu& cpu, std::uint32_t next) {
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

void Schedule::end_turns() {
  for (Cpu& cpu : cpus_) {
    if (cpu.selected == none || cpu.now == cpu.selected_at) continue;
    turns_.push_back({cpu.selected, programs_[cpu.selected].core_wanted, cpu.selected_at, cpu.now, Turn::nobody});
    cpu.selected_at = cpu.now;
  }
}

void Schedule::stepped() {
  world_ = boundary();
  seen_ = std::max(seen_, world_);
}

void Schedule::executed(std::uint32_t program, SimSpan more) {
  ENSURE(more >= SimSpan::zero(), "a program cannot execute backwards");
  programs_[program].owed += more;
  touch(program);
}

void Schedule::arrived(std::uint32_t program, bool ordered) {
  Program& p = programs_[program];
  ENSURE(p.state == State::computing, "only a computing program asks");
  p.state = State::asking;
  p.ordered = ordered;
  touch(program);
}

void Schedule::resume(std::uint32_t program) {
  Program& p = programs_[program];
  p.state = State::computing;
  p.ordered = false;
  touch(program);
}

void Schedule::suspend(std::uint32_t program, std::uint32_t link, SimTime until, bool receiving, bool others_run) {
  Program& p = programs_[program];
  if (link >= p.links.size()) p.links.resize(link + 1);
  Link& l = p.links[link];
  l.waiting = true;
  l.wake = until;
  l.receiving = receiving;
  if (receiving) ++p.receiving;
  p.next_wake = std::min(p.next_wake, until);
  p.ordered = false;
  p.state = others_run ? State::computing : State::waiting;
  pick(cpus_[p.place.cpu]);
}

void Schedule::block(std::uint32_t program) {
  Program& p = programs_[program];
  p.state = State::waiting;
  p.ordered = false;
  pick(cpus_[p.place.cpu]);
}

void Schedule::hold_wakes(std::uint32_t program, bool hold) {
  Program& p = programs_[program];
  if (p.hold == hold) return;
  p.hold = hold;
  pick(cpus_[p.place.cpu]);
}

void Schedule::message(std::uint32_t program, std::uint32_t link, SimTime at) {
  Link& l = programs_[program].links.at(link);
  ENSURE(l.receiving, "a message for a link that does not receive");
  l.wake = std::min(l.wake, at);
  if (!l.woken) programs_[program].next_wake = std::min(programs_[program].next_wake, at);
  touch(program);
}

void Schedule::stall(std::uint32_t program, SimTime floor) {
  Program& p = programs_[program];
  p.state = State::stalled;
  p.stall_floor = floor;
  p.ordered = false;
  pick(cpus_[p.place.cpu]);
}

void Schedule::stalled_until(std::uint32_t program, SimTime floor) {
  Program& p = programs_[program];
  if (p.stall_floor != SimTime::never()) p.stall_floor = std::max(p.stall_floor, floor);
  touch(program);
}

SimTime Schedule::recovered(std::uint32_t program, SimTime at) {
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

void Schedule::leave(std::uint32_t program) {
  Program& p = programs_[program];
  p.state = State::gone;
  p.receiving = p.woken = 0;
  p.owed = {};
  for (Link& link : p.links) link = {};
  p.next_wake = SimTime::never();
  pick(cpus_[p.place.cpu]);
}

SimTime Schedule::program_time(std::uint32_t program) const {
  const Program& p = programs_[program];
  return cpus_[p.place.cpu].now + p.owed;
}

SimTime Schedule::progress(std::uint32_t c) const {
  const Cpu& cpu = cpus_[c];
  if (cpu.selected != none) {
    // What a measured program executed is done. What another one owes is only known beforehand: it passes with the
    // world.
    const Program& p = programs_[cpu.selected];
    const SimTime ahead = cpu.now + p.owed;
    return p.place.metered || p.place.whole ? ahead : std::max(cpu.now, std::min(ahead, world_));
  }
  return std::max(cpu.now, std::min(earliest_wake(cpu), world_));
}

std::string Schedule::describe(std::uint32_t program) const {
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

SimTime Schedule::front() const {
  SimTime least = SimTime::never();
  for (std::size_t c = 0; c < cpus_.size(); ++c) {
    least = std::min(least, dirty_[c] ? look_at(cpus_[c]).at : looks_[c].at);
  }
  return least;
}

}  // namespace isochron::coordinator
