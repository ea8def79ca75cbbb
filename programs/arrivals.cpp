#include "programs/arrivals.hpp"

#include <unistd.h>

#include <utility>

#include "programs/futex.hpp"
#include "programs/start_up.hpp"
#include "programs/system/system.hpp"

namespace isochron::programs {

namespace {
constexpr WallSpan look = std::chrono::milliseconds(2);
constexpr WallSpan look_beside_boards = std::chrono::microseconds(200);
constexpr WallSpan awake = std::chrono::microseconds(30);  // to wake a sleeping core takes longer than that
constexpr WallSpan time_to_die = std::chrono::seconds(5);
}  // namespace

void Arrivals::turn_over(const Execution::Over& turn) {
  Member& m = *all_.members[turn.program];
  if (turn.why == Dispatcher::Why::asked) return asked(turn.program, *m.channel->asking());
  if (turn.why == Dispatcher::Why::blocked) return m.process->ended() ? ended(turn.program) : blocked(m);
}

// Whether other threads of a program go on while one waits. Who hands on a baton knows it; of others it is a guess that
// the end of their turn corrects.
bool Arrivals::others_run(const Member& m, const protocol::Exchange& exchange) {
  const auto ask = static_cast<protocol::Ask>(exchange.ask);
  const bool baton = exchange.index == 1 && (ask == protocol::Ask::wait || ask == protocol::Ask::call);
  if (!baton || m.cost.measured()) {
    return m.process->thread_count() > 1;
  }
  return exchange.size > 0 || m.channel->waits_answered() > exchange.stamp;
}

// No thread of the program goes on by itself, unless it was answered meanwhile.
void Arrivals::idle(Member& m, const protocol::Exchange& exchange) {
  if (m.channel->waits_answered() <= exchange.stamp) blocked(m);
}

void Arrivals::asked(std::uint32_t program, std::uint32_t link) {
  Member& m = *all_.members[program];
  Pending pending;
  pending.link = link;
  pending.exchange = m.channel->take(link);
  const auto ask = static_cast<protocol::Ask>(pending.exchange.ask);
  if (ask == protocol::Ask::call) pending.call = m.channel->call(link);
  const bool waits_in_call = ask == protocol::Ask::call && System::may_wait(pending.call);
  const bool may_wait = ask == protocol::Ask::wait || ask == protocol::Ask::receive || waits_in_call;
  if (ask == protocol::Ask::idle) return idle(m, pending.exchange);
  ++all_.outcome.requests;
  if (ask == protocol::Ask::attach) {
    attached(m, pending.exchange);
  } else if (m.starts_up() && !(m.interpreter && ask == protocol::Ask::clock)) {
    end_start_up(m);
  }
  pending.output = tapes_.take_output(program, m.cost.recorded() ? m.cost.next_charge() : nullptr);
  if (m.cost.recorded()) {
    const Charge* charge = m.cost.next_charge();
    pending.others_run = charge != nullptr && charge->others_run;
    tapes_.follow_request(program, link, ask);
  } else {
    pending.others_run = may_wait && others_run(m, pending.exchange);
  }
  if (m.cost.measured()) {
    tapes_.record_request(program, pending);
  } else if (!m.cost.recorded()) {
    all_.timeline->executed(program, ask == protocol::Ask::call ? m.cost.of_call(pending.call, m.spec.best_effort)
                                                                : m.cost.of_request(ask, m.spec.best_effort));
  }
  m.pending = std::move(pending);
  if (!m.cost.measured()) placement_.asked(m);
  all_.timeline->arrived(program, in_order(ask), ask == protocol::Ask::call);
}

// No thread of the program runs. If one of them waits for a time or a message, that is what the others wait for; if
// none does, the program is in a call that nobody told us about.
void Arrivals::blocked(Member& m) {
  const bool waits = all_.timeline->any_link_waits(m.number);
  // To take a process apart takes the kernel a while, which is not the program's.
  for (const WallTime end = wall_now() + time_to_die; m.process->exiting() && wall_now() < end;) {
    if (m.process->ended()) return ended(m.number);
    usleep(100);
  }
  if (m.cost.measured() && waits) tapes_.record_blocked(m.number);
  m.pending = Pending{};
  m.pending->kind = waits ? Charge::Kind::blocked : Charge::Kind::stalled;
  m.stalled_wall = wall_now();
  all_.timeline->arrived(m.number, false);
}

void Arrivals::ended(std::uint32_t program) {
  Member& m = *all_.members[program];
  placement_.ended(m);
  if (m.starts_up()) charge_start_up(m, *all_.timeline);
  if (m.cost.measured()) tapes_.take_last_values(program);
  Pending pending;
  pending.kind = Charge::Kind::ended;
  pending.output = tapes_.take_output(program, nullptr);
  if (m.cost.measured()) tapes_.record_end(program);
  if (m.cost.recorded()) tapes_.take_charge(program);
  m.pending = std::move(pending);
  all_.timeline->arrived(program, false);
}

void Arrivals::await(std::uint32_t program) {
  if (all_.lanes) all_.lanes->hold();
  Stopwatch& watch = all_.watch;
  protocol::Bell& bell = all_.bell;
  const std::uint32_t rings = bell.rings.load(std::memory_order_acquire);
  if (collect()) return;
  watch.was(&Accounting::coordination);
  for (const WallTime end = watch.last() + awake; !placement_.anybody_at_home() && wall_now() < end;) {
    if (bell.rings.load(std::memory_order_acquire) != rings) break;
  }
  futex_wait_until(bell.rings, rings, wall_now() + (all_.boards != nullptr ? look_beside_boards : look));
  const WallTime begun = watch.last();
  watch.was(&Accounting::executed);
  if (all_.boards != nullptr) {
    all_.boards->programs_took(watch.last() - begun);
    all_.boards->take();
  }
  if (!collect()) check_silence(*all_.members[program]);
}

bool Arrivals::collect() {
  bool any = false;
  for (const auto& m : all_.members) any = collect(*m) || any;
  return any;
}

bool Arrivals::collect(Member& m) {
  const std::uint32_t program = m.number;
  if (m.cost.measured() || m.pending || !all_.timeline->computing(program)) return false;
  if (m.cost.recorded()) {
    const Charge* charge = m.cost.next_charge();
    if (charge != nullptr && charge->kind == Charge::Kind::asked && m.channel->asks(charge->link)) {
      asked(program, charge->link);
      return true;
    }
    const bool to_the_end = charge != nullptr && charge->kind == Charge::Kind::unfinished;
    if (to_the_end && all_.timeline->program_time(program) >= all_.until) return false;
    const bool off_the_record = charge == nullptr || to_the_end || charge->kind == Charge::Kind::ended;
    if (!off_the_record) {
      if (!all_.watcher->ended(m.watched) || !m.process->ended()) return false;
      return ended(program), true;
    }
  }
  if (const auto link = m.channel->asking()) {
    if (m.cost.recorded()) {
      const auto ask = static_cast<protocol::Ask>(m.channel->look(*link).ask);
      tapes_.parted(program, "asked for " + name_of(ask) + ", beyond its record");
    }
    asked(program, *link);
    return true;
  }
  if (all_.watcher->ended(m.watched) && m.process->ended()) return ended(program), true;
  return false;
}

void Arrivals::check_silence(Member& m) {
  if (all_.timeline->any_link_waits(m.number) && !m.cost.recorded() && !m.process->runnable() && !m.channel->asking()) {
    // Seen twice, having executed nothing: a thread may just have been in the middle of a system call.
    const CpuTime executed = m.process->cpu_time();
    if (m.blocked_at == executed) return blocked(m);
    m.blocked_at = executed;
    return;
  }
  const bool silent = limits_.hangs(m);
  if (m.cost.recorded()) {
    if (const std::string why = tapes_.cannot_follow(m.number); !why.empty()) {
      tapes_.parted(m.number, why);
      return all_.stop_with(m.name + " " + m.figures.parted);
    }
  }
  if (silent) limits_.end_hanging(m);
}

}  // namespace isochron::programs
