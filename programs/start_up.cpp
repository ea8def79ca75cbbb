// What a program that knows nothing of us executes until it first waits is free: loading libraries, imports, the shell
// that starts it. The world waits meanwhile, and its clock stands.
//
//      attach        first wait, look or request
//      |.............|##########                   dots: executed, not charged
//      |########################                   it ended, or used more than its allowance, without any of these
//
// So work is free only where something shows that it was start-up. A program that computes to its end without looking
// at the clock is charged for all of it, before anybody sees its end. A look at the clock ends the start-up too, since
// who watches the clock computes towards a time; but not of an interpreter, which looks while it imports.
//
// A block (a file that is read, a child of a shell that is waited for) is free as well, if it is short, or if there is
// a child to wait for. Otherwise the program waits for somebody else, who cannot come while the world stands still.

#include "programs/conductor.hpp"

namespace isochron::programs {

namespace {
constexpr WallSpan short_block = std::chrono::milliseconds(200);
}

// A program that execs another attaches again, and goes on starting up if it did.
void Conductor::attached(Member& m, const protocol::Exchange& exchange) {
  const auto kind = static_cast<protocol::Attached>(exchange.index);
  if (kind == protocol::Attached::library) return end_start_up(m);
  const bool metered = m.cost.measured() || m.cost.recorded();
  if (m.start_up == Member::StartUp::before && metered && m.spec.startup_free > CpuSpan::zero()) {
    m.start_up = Member::StartUp::going_on;
  }
  m.interpreter = kind == protocol::Attached::interpreter;
  m.channel->set_first_look(m.start_up == Member::StartUp::going_on && !m.interpreter);
}

void Conductor::end_start_up(Member& m) {
  m.start_up = Member::StartUp::over;
  m.channel->set_first_look(false);
}

/// Returns what it executed, charged or not.
CpuSpan Conductor::forgive_start_up(std::uint32_t program, CpuSpan executed) {
  Member& m = *members_[program];
  m.cpu_base += executed;
  m.figures.startup += executed;
  if (m.figures.startup > m.spec.startup_free) {
    m.figures.startup_too_long = true;
    charge_start_up(program);
  }
  return executed;
}

void Conductor::charge_start_up(std::uint32_t program) {
  Member& m = *members_[program];
  end_start_up(m);
  if (!m.cost.measured()) return;
  m.cpu_base = m.cpu_base - m.figures.startup;
  m.cpu_newest += m.figures.startup;
  m.figures.startup = {};
  timeline_->executed(program, m.cost.up_to(m.cpu_newest));
}

bool Conductor::blocks_while_starting(std::uint32_t program, WallTime now) {
  Member& m = *members_[program];
  if (m.start_up != Member::StartUp::going_on) return false;
  const WallSpan blocked = now - m.stalled_wall;
  if (blocked < short_block) return true;
  if (blocked < WallSpan::from_ns(m.spec.startup_free.ns()) && m.process->has_children()) return true;
  end_start_up(m);
  m.stalled_wall = now;  // from here on it is charged as the scenario says
  if (m.spec.blocking == Blocking::free) timeline_->stall(program, SimTime::never());
  return false;
}

}  // namespace isochron::programs
