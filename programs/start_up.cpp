#include "programs/start_up.hpp"

namespace isochron::programs {

namespace {
constexpr WallSpan short_block = std::chrono::milliseconds(200);
}

void attached(Member& m, const protocol::Exchange& exchange) {
  const auto kind = static_cast<protocol::Attached>(exchange.index);
  if (kind == protocol::Attached::library) return end_start_up(m);
  const bool metered = m.cost.measured() || m.cost.recorded();
  if (m.start_up == Member::StartUp::before && metered && m.spec.startup_free > CpuSpan::zero()) {
    m.start_up = Member::StartUp::going_on;
  }
  m.interpreter = kind == protocol::Attached::interpreter;
  m.channel->set_first_look(m.starts_up() && !m.interpreter);
}

void end_start_up(Member& m) {
  m.start_up = Member::StartUp::over;
  m.channel->set_first_look(false);
}

void forgive_start_up(Member& m, CpuSpan executed, Timeline& timeline) {
  m.cpu_base += executed;
  m.figures.startup += executed;
  if (m.figures.startup <= m.spec.startup_free) return;
  m.figures.startup_too_long = true;
  charge_start_up(m, timeline);
}

void charge_start_up(Member& m, Timeline& timeline) {
  end_start_up(m);
  if (!m.cost.measured()) return;
  m.cpu_base = m.cpu_base - m.figures.startup;
  m.cpu_newest += m.figures.startup;
  m.figures.startup = {};
  timeline.executed(m.number, m.cost.up_to(m.cpu_newest));
}

bool blocks_while_starting(Member& m, WallTime now, Timeline& timeline) {
  if (!m.starts_up()) return false;
  const WallSpan blocked = now - m.stalled_wall;
  if (blocked < short_block) return true;
  if (blocked < WallSpan::from_ns(m.spec.startup_free.ns()) && m.process->has_children()) return true;
  end_start_up(m);
  m.stalled_wall = now;  // from here on it is charged as the scenario says
  if (m.spec.blocking == Blocking::free) timeline.stall(m.number, SimTime::never());
  return false;
}

}  // namespace isochron::programs
