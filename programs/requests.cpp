// What programs ask, answered. Each answer happens at one simulated time, given by the timeline; see conductor.hpp.

#include <signal.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/time_text.hpp"
#include "programs/conductor.hpp"

namespace isochron::programs {

namespace {

using protocol::Ask;

constexpr std::uint64_t most_requests_at_once = 20'000;
constexpr std::uint64_t most_output_recorded = 16u << 20;

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

void Conductor::operate(std::uint32_t program, SimTime at) {
  Member& m = *members_[program];
  const bool asks = m.pending->kind == Charge::Kind::asked;
  if (options_.trouble != nullptr && asks && held_up(program, at)) return;
  const bool killed = options_.trouble != nullptr && asks && options_.trouble->take_end(m.name, at);
  const Pending pending = std::move(*m.pending);
  m.pending.reset();
  if (killed) m.process->kill_group(SIGKILL);
  if (!pending.output.empty()) tell_output(program, pending.output, at);
  switch (pending.kind) {
    case Charge::Kind::ended:
      return left(program, at);
    case Charge::Kind::blocked:
      return timeline_->block(program);
    case Charge::Kind::stalled:
      ++m.figures.stalls;
      m.stalled_since = at;
      if (m.cost.recorded()) {
        m.recovering = true;
        m.figures.stalled += pending.resumed - at;
        return timeline_->suspend(program, 0, pending.resumed, false, false);
      }
      ++stalled_;
      return timeline_->stall(
          program,
          m.spec.blocking == Blocking::charge_wall || m.start_up == Member::StartUp::going_on ? at : SimTime::never());
    case Charge::Kind::unfinished:
    case Charge::Kind::woke:
    case Charge::Kind::asked:
      break;
  }
  m.last_ask = static_cast<Ask>(pending.exchange.ask);
  if (m.last_ask == Ask::call) m.last_call = static_cast<protocol::SystemCall>(pending.call.call);
  m.requests_at_once = at == m.last_request ? m.requests_at_once + 1 : 0;
  m.last_request = at;
  if (m.requests_at_once == most_requests_at_once) {
    desk_.fault(program, at,
                "asked " + std::to_string(most_requests_at_once) +
                    " times without any time passing; where computing is free a program must wait");
    m.process->kill_group(SIGKILL);
  }
  answer(program, pending, at);
}

// A fault: it computes longer before what it asks for, or stands still with it and asks again when it goes on.
bool Conductor::held_up(std::uint32_t program, SimTime at) {
  Member& m = *members_[program];
  if (const SimSpan more = options_.trouble->take_delay(m.name, at); more > SimSpan::zero()) {
    return timeline_->executed(program, more), true;
  }
  const SimTime until = options_.trouble->stopped_until(m.name, at);
  if (until <= at) return false;
  const std::uint32_t link = m.pending->link;
  m.stopped[link] = std::move(*m.pending);
  m.pending.reset();
  return timeline_->suspend(program, link, until, false, false), true;
}

void Conductor::answer(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *members_[program];
  const auto ask = static_cast<Ask>(pending.exchange.ask);
  if (ask == Ask::call) return call(program, pending, at);
  reply_.reset(m.channel->room(pending.link));
  if (ask == Ask::attach) {
    desk_.attach(program, at, pending.exchange.number, reply_);
    if (system_ && system_->has(program)) {  // it may be another program from here on
      system_->executes(program, at, [&](int descriptor) { return m.channel->has_descriptor(descriptor); });
    }
  } else {
    if (ask == Ask::clock) looked_at_clock(m);
    const bool reads = ask == Ask::read;
    if (reads) watch_.was(&Accounting::coordination);
    const auto later = desk_.act(program, pending.link, at, m.channel->request(pending.link, pending.exchange), reply_);
    if (reads) watch_.was(&Accounting::world);
    if (later) return suspend(program, pending, *later);
  }
  timeline_->resume(program);
  begin(program, at);
  reply(program, pending.link, at);
}

void Conductor::looked_at_clock(Member& m) {
  if (m.cost.recorded()) {
    hand_order(m);
  } else {
    ++m.figures.clock_reads;
  }
}

// On the robot the thread would just go on, or preempt its equals: it goes first among its siblings.
void Conductor::reply(std::uint32_t program, std::uint32_t link, SimTime at) {
  Member& m = *members_[program];
  if (m.seat) lanes_->favour(*m.seat, static_cast<pid_t>(m.channel->owner(link)));
  if (!m.signals.empty()) hand_signals(m, link);
  m.channel->answer(link, at, reply_);
}

void Conductor::suspend(std::uint32_t program, const Pending& pending, const Desk::Suspend& later) {
  timeline_->suspend(program, pending.link, later.until, later.receiving, pending.others_run);
  if (!pending.others_run) return;
  begin(program, timeline_->program_time(program));
  if (pending.exchange.index == 1) members_[program]->channel->pass(pending.link);
}

void Conductor::wake(const Timeline::Event& event) {
  const auto [program, link, at] = std::tuple(event.program, event.link, event.at);
  Member& m = *members_[program];
  record_wake(program, link);
  if (auto stopped = m.stopped.extract(link)) {
    m.pending = std::move(stopped.mapped());
    return timeline_->arrived(program, in_order(static_cast<Ask>(m.pending->exchange.ask)));
  }
  begin(program, at);
  if (std::exchange(m.recovering, false)) return;
  if (system_ && system_->waits(program, link)) return wake_call(program, link, at, event.others_run);
  reply_.reset(m.channel->room(link));
  const bool reads = desk_.acquires(program, link);
  if (reads) watch_.was(&Accounting::coordination);
  desk_.wake(program, link, at, reply_);
  if (reads) watch_.was(&Accounting::world);
  reply(program, link, at);
}

void Conductor::message(std::uint32_t program, std::uint32_t link, SimTime at) {
  if (boards_ != nullptr && boards_->is_party(program)) return boards_->message(program, link, at);
  if (timeline_->receiving(program, link)) timeline_->message(program, link, at);
}

void Conductor::show_world(SimTime at) {
  watch_.was(&Accounting::coordination);
  desk_.apply(at);
  watch_.was(&Accounting::world);
}

// What a called program executed ends here.
void Conductor::charged(std::uint32_t program, const Charge& charge) {
  if (recorder_ != nullptr) recorder_->charge(program, charge);
}

void Conductor::left(std::uint32_t program, SimTime at) {
  Member& m = *members_[program];
  const std::string how = m.process->how().empty() ? "ended" : m.process->how();
  m.figures.ended = how + " at " + to_string(at);
  m.figures.failed = m.process->failed();
  m.figures.last_state = "its last request was " +
                         (m.last_ask == Ask::call ? System::name_of(m.last_call) : name_of(m.last_ask)) + " at " +
                         to_string(m.last_request);
  if (m.channel->links_missing()) {
    desk_.fault(program, at,
                "had more than the " + std::to_string(protocol::links_max) +
                    " threads that may wait or look at the clock at one time");
  }
  desk_.leave(program, at, how);
  timeline_->leave(program);
  if (system_) system_->ended(program, at);
  if (m.root != nullptr && !m.seat) {  // a script starts thousands: what they shared with us is given back
    m.channel.reset();
    m.process->forget_memory();
  }
  if (m.figures.failed && m.root == nullptr && m.spec.on_failure == OnFailure::end_run) fails_run(program, at);
}

// All of it counts in the digest; of one that prints without end the record keeps the beginning.
void Conductor::tell_output(std::uint32_t program, const std::string& output, SimTime at) {
  Member& m = *members_[program];
  m.output_told += output.size();
  if (m.output_told <= most_output_recorded) {
    return tell(program, Happening::Kind::output, at, UINT32_MAX, bytes_of(output), {});
  }
  std::uint64_t sum = 14695981039346656037u;  // FNV-1a
  for (const char c : output) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  const std::string instead = "[" + std::to_string(output.size()) + " bytes, " + std::to_string(sum) + "]";
  tell(program, Happening::Kind::output, at, UINT32_MAX, bytes_of(instead), {});
}

void Conductor::tell(std::uint32_t program, Happening::Kind kind, SimTime at, std::uint32_t about,
                     std::span<const std::byte> bytes, SimTime stamp) {
  if (recorder_ == nullptr) return;
  const bool board = boards_ != nullptr && boards_->is_party(program);
  happenings_.add(board ? boards_->cpu() : cpu_of(program), {kind, at, program, about, stamp, {}}, bytes);
}

void Conductor::flush_happenings(SimTime before) {
  if (recorder_ != nullptr)
    happenings_.take(before, [this](const Happening& happening) { recorder_->happened(happening); });
}

}  // namespace isochron::programs
