#include "programs/foreign_calls.hpp"

#include "programs/start_up.hpp"

namespace isochron::programs {

namespace {
constexpr WallSpan look = std::chrono::microseconds(50);
constexpr WallSpan look_when_busy = std::chrono::microseconds(200);
}  // namespace

void ForeignCalls::begin(std::uint32_t program, SimTime at, SimTime resumed) {
  Member& m = *all_.members[program];
  ++m.figures.stalls;
  m.stalled_since = at;
  if (m.cost.recorded()) {
    m.recovering = true;
    m.figures.stalled += resumed - at;
    return all_.timeline->suspend(program, 0, resumed, false, false);
  }
  ++stalled_;
  const bool counts = m.spec.blocking == Blocking::charge_wall || m.starts_up();
  all_.timeline->stall(program, counts ? at : SimTime::never());
}

void ForeignCalls::await(std::uint32_t program) {
  Member& m = *all_.members[program];
  Stopwatch& watch = all_.watch;
  watch.was(&Accounting::coordination);
  if (m.seat) {
    const auto why = all_.lanes->try_blocked(*m.seat, look);
    watch.was(&Accounting::waited);
    if (why != Dispatcher::Why::blocked || m.process->ended()) return recover(m, watch.last());
  }
  if (blocks_while_starting(m, watch.last(), *all_.timeline)) return;
  charge_wall(m, watch.last());
  drift_.record(m.cpu);
}

void ForeignCalls::look_after_all() {
  const WallTime now = wall_now();
  if (now - checked_ < look_when_busy) return;
  checked_ = now;
  for (const auto& one : all_.members) {
    Member& m = *one;
    if (!all_.timeline->stalled(m.number)) continue;
    if (m.process->ended() || m.channel->asking() || m.process->runnable()) {
      recover(m, now);
    } else if (!blocks_while_starting(m, now, *all_.timeline) && m.spec.blocking == Blocking::charge_wall) {
      charge_wall(m, now);
    }
  }
}

void ForeignCalls::charge_wall(const Member& m, WallTime now) {
  all_.timeline->stalled_until(m.number, m.stalled_since + SimSpan::from_ns((now - m.stalled_wall).ns()));
}

void ForeignCalls::recover(Member& m, WallTime when) {
  --stalled_;
  SimTime at = m.stalled_since;
  const bool free = m.spec.blocking == Blocking::free || m.starts_up();
  if (!free) at += SimSpan::from_ns((when - m.stalled_wall).ns());
  const SimTime resumed = all_.timeline->recovered(m.number, at);
  m.recovering = true;
  m.figures.stalled += resumed - m.stalled_since;
  tapes_.record_stalled(m.number, resumed);
}

}  // namespace isochron::programs
