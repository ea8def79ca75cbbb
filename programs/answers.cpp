#include "programs/answers.hpp"

#include <signal.h>

#include <tuple>
#include <utility>

#include "core/log.hpp"
#include "core/time_text.hpp"

namespace isochron::programs {

namespace {

using protocol::Ask;

constexpr std::uint64_t most_requests_at_once = 20'000;

}  // namespace

void Answers::operate(std::uint32_t program, SimTime at) {
  Member& m = *all_.members[program];
  Trouble* trouble = all_.options.trouble;
  const bool asks = m.pending->kind == Charge::Kind::asked;
  if (trouble != nullptr && asks && held_up(m, at)) return;
  const bool killed = trouble != nullptr && asks && trouble->take_end(m.name, at);
  const Pending pending = std::move(*m.pending);
  m.pending.reset();
  if (killed) m.process->kill_group(SIGKILL);
  if (!pending.output.empty()) teller_.output(program, pending.output, at);
  switch (pending.kind) {
    case Charge::Kind::ended:
      return left(program, at);
    case Charge::Kind::blocked:
      return all_.timeline->block(program);
    case Charge::Kind::stalled:
      return foreign_calls_.begin(program, at, pending.resumed);
    case Charge::Kind::unfinished:
    case Charge::Kind::woke:
    case Charge::Kind::asked:
      break;
  }
  count(m, pending, at);
  answer(program, pending, at);
}

void Answers::count(Member& m, const Pending& pending, SimTime at) {
  m.last_ask = static_cast<Ask>(pending.exchange.ask);
  if (m.last_ask == Ask::call) m.last_call = static_cast<protocol::SystemCall>(pending.call.call);
  m.requests_at_once = at == m.last_request ? m.requests_at_once + 1 : 0;
  m.last_request = at;
  if (m.requests_at_once != most_requests_at_once) return;
  all_.desk.fault(m.number, at,
                  "asked " + std::to_string(most_requests_at_once) +
                      " times without any time passing; where computing is free a program must wait");
  m.process->kill_group(SIGKILL);
}

// A fault: it computes longer before what it asks for, or stands still with it and asks again when it goes on.
bool Answers::held_up(Member& m, SimTime at) {
  Trouble& trouble = *all_.options.trouble;
  if (const SimSpan more = trouble.take_delay(m.name, at); more > SimSpan::zero()) {
    return all_.timeline->executed(m.number, more), true;
  }
  const SimTime until = trouble.stopped_until(m.name, at);
  if (until <= at) return false;
  const std::uint32_t link = m.pending->link;
  m.stopped[link] = std::move(*m.pending);
  m.pending.reset();
  return all_.timeline->suspend(m.number, link, until, false, false), true;
}

void Answers::answer(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *all_.members[program];
  const auto ask = static_cast<Ask>(pending.exchange.ask);
  if (ask == Ask::call) return stacks_.call(program, pending, at);
  reply_.reset(m.channel->room(pending.link));
  if (ask == Ask::attach) {
    all_.desk.attach(program, at, pending.exchange.number, reply_);
    stacks_.attached(program, at);
  } else {
    if (ask == Ask::clock) looked_at_clock(m);
    const bool reads = ask == Ask::read;
    if (reads) all_.watch.was(&Accounting::coordination);
    const Request request = m.channel->request(pending.link, pending.exchange);
    const auto later = all_.desk.act(program, pending.link, at, request, reply_);
    if (reads) all_.watch.was(&Accounting::world);
    if (later) return suspend(program, pending, *later);
  }
  all_.timeline->resume(program);
  execution_.begin(program, at);
  reply(m, pending.link, at);
}

void Answers::looked_at_clock(Member& m) {
  if (m.cost.recorded()) {
    tapes_.hand_order(m);
  } else {
    ++m.figures.clock_reads;
  }
}

void Answers::reply(Member& m, std::uint32_t link, SimTime at) {
  execution_.favour(m, link);
  if (!m.signals.empty()) Stacks::hand_signals(m, link);
  m.channel->answer(link, at, reply_);
}

void Answers::suspend(std::uint32_t program, const Pending& pending, const Desk::Suspend& later) {
  all_.timeline->suspend(program, pending.link, later.until, later.receiving, pending.others_run);
  if (!pending.others_run) return;
  execution_.begin(program, all_.timeline->program_time(program));
  if (pending.exchange.index == 1) all_.members[program]->channel->pass(pending.link);
}

void Answers::wake(const Timeline::Event& event) {
  const auto [program, link, at] = std::tuple(event.program, event.link, event.at);
  Member& m = *all_.members[program];
  tapes_.wakes(program, link);
  if (auto stopped = m.stopped.extract(link)) {
    m.pending = std::move(stopped.mapped());
    return all_.timeline->arrived(program, in_order(static_cast<Ask>(m.pending->exchange.ask)));
  }
  execution_.begin(program, at);
  if (std::exchange(m.recovering, false)) return;
  if (stacks_.waits(program, link)) return stacks_.wake(program, link, at, event.others_run);
  reply_.reset(m.channel->room(link));
  const bool reads = all_.desk.acquires(program, link);
  if (reads) all_.watch.was(&Accounting::coordination);
  all_.desk.wake(program, link, at, reply_);
  if (reads) all_.watch.was(&Accounting::world);
  reply(m, link, at);
}

void Answers::left(std::uint32_t program, SimTime at) {
  Member& m = *all_.members[program];
  const std::string how = m.process->how().empty() ? "ended" : m.process->how();
  m.figures.ended = how + " at " + to_string(at);
  m.figures.failed = m.process->failed();
  if (logs(LogLevel::info)) inform("programs", m.name + " " + m.figures.ended);
  m.figures.last_state = "its last request was " +
                         (m.last_ask == Ask::call ? System::name_of(m.last_call) : name_of(m.last_ask)) + " at " +
                         to_string(m.last_request);
  if (m.channel->links_missing()) {
    all_.desk.fault(program, at,
                    "had more than the " + std::to_string(protocol::links_max) +
                        " threads that may wait or look at the clock at one time");
  }
  all_.desk.leave(program, at, how);
  all_.timeline->leave(program);
  stacks_.ended(program, at);
  if (m.root != nullptr && !m.seat) {  // a script starts thousands: what they shared with us is given back
    m.channel.reset();
    m.process->forget_memory();
  }
  if (m.figures.failed && m.root == nullptr && m.spec.on_failure == OnFailure::end_run) all_.fails_run(program, at);
}

void Answers::after_end(Member& m) {
  const SimTime at = all_.outcome.reached;
  while (const auto link = m.channel->asking()) {
    const protocol::Exchange asked = m.channel->take(*link);
    reply_.reset(m.channel->room(*link));
    if (static_cast<Ask>(asked.ask) == Ask::read) {
      all_.desk.read_last(m.number, at, m.channel->request(*link, asked), reply_);
    }
    reply_.verdict = protocol::Verdict::ended;
    m.channel->answer(*link, at, reply_);
  }
}

}  // namespace isochron::programs
