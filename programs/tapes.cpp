// The tapes of a run, written and played: what computing cost, what was read from clocks, in which order threads met,
// and what was printed by when. A replay that does not come to what its tape has says where it parted; see
// conductor.hpp.

#include <unistd.h>

#include <algorithm>

#include "core/time_text.hpp"
#include "programs/conductor.hpp"
#include "programs/futex.hpp"

namespace isochron::programs {

namespace {
constexpr WallSpan standstill = std::chrono::milliseconds(300);  // of all programs of a replay
constexpr CpuSpan patience_with_replays = std::chrono::milliseconds(700);
}  // namespace

// What it printed on the way to a request or to its end is told at that time. Threads of a replay that compute run
// freely and may have printed more or less by then: what was printed before then counts.
std::string Conductor::take_output(std::uint32_t program, const Charge* then) {
  Member& m = *members_[program];
  if (then != nullptr && then->kind != Charge::Kind::asked) return {};  // beyond its record: told at its end
  const bool all = then == nullptr || then->printed < m.output_taken;
  std::string output = watcher_->take(m.watched, all ? SIZE_MAX : then->printed - m.output_taken);
  m.output_taken += output.size();
  for (WallTime end = wall_now() + standstill; !all && m.output_taken < then->printed && wall_now() < end;) {
    usleep(100);
    const std::string more = watcher_->take(m.watched, then->printed - m.output_taken);
    if (!more.empty()) end = wall_now() + standstill;
    m.output_taken += more.size();
    output += more;
  }
  if (!all && m.output_taken < then->printed) parted(program, "printed less than it did then");
  return output;
}

void Conductor::take_clock_values(std::uint32_t program, std::uint32_t link) {
  Member& m = *members_[program];
  const std::span<const std::byte> values = m.channel->empty_ring(link, clock_values_);
  if (values.empty()) return;
  m.figures.clock_reads += static_cast<std::uint64_t>(
      std::count_if(values.begin(), values.end(), [](std::byte b) { return (b & std::byte{0x80}) == std::byte{}; }));
  if (recorder_ != nullptr) recorder_->clock(program, link, values);
}

void Conductor::hand_order(Member& m) {
  const std::span<const std::byte> left = m.cost.order_left();
  if (!left.empty()) m.cost.take_order(m.channel->fill_order(left));
}

void Conductor::take_order(std::uint32_t program, bool all) {
  const std::span<const std::byte> order = members_[program]->channel->empty_order(clock_values_, all);
  if (recorder_ != nullptr && !order.empty()) recorder_->order(program, order);
}

void Conductor::hand_clock_values(Member& m, std::uint32_t link) {
  if (m.channel->ring_is_empty(link)) m.channel->fill_ring(link, m.cost.take_clocks(link));
}

void Conductor::parted(std::uint32_t program, const std::string& how) {
  Member& m = *members_[program];
  ++m.figures.replay_parted;
  if (!m.figures.parted.empty()) return;
  m.figures.parted = "parted from its record at " + to_string(timeline_->program_time(program)) + ": it " + how;
}

// A replayed program that will not come to what its record has: everybody stands still, or it computes far beyond what
// it did then. "" while it may.
std::string Conductor::cannot_follow(std::uint32_t program) {
  Member& m = *members_[program];
  const Charge* charge = m.cost.next_charge();
  using Kind = Charge::Kind;
  if (charge == nullptr || charge->kind == Kind::unfinished) return "";
  const WallTime now = wall_now();
  const CpuSpan more = m.silence->newest - m.silence->from;
  const CpuSpan then = charge->total - m.cpu_newest;
  const bool beyond = more > patience_with_replays + then * 20;
  if (!beyond && now - m.silence->stands_since < standstill) return "";
  const auto moves = [](const auto& member) { return member->process->runnable(); };
  if (!beyond && std::any_of(members_.begin(), members_.end(), moves)) return "";
  std::string instead = beyond ? "computes on" : "is blocked";
  if (const auto link = m.channel->asking()) {
    const auto asked = static_cast<protocol::Ask>(m.channel->look(*link).ask);
    instead = "asks for " + name_of(asked) + " in thread " + std::to_string(*link);
  }
  if (charge->kind == Kind::ended) return instead + " where the record has its end";
  const std::string expected =
      charge->kind == Kind::woke ? "the end of a wait" : name_of(static_cast<protocol::Ask>(charge->ask));
  return instead + " where the record has " + expected + " in thread " + std::to_string(charge->link);
}

void Conductor::promise(std::uint32_t program) {
  Member& m = *members_[program];
  const Charge* charge = m.cost.next_charge();
  if (charge == nullptr) return;
  m.promised = true;
  timeline_->executed(program, m.cost.up_to(charge->total));
  hand_order(m);
  if (charge->kind == Charge::Kind::asked || charge->kind == Charge::Kind::woke) return;
  if (charge->kind == Charge::Kind::ended || charge->kind == Charge::Kind::unfinished) return;  // its process says when
  m.pending = Pending{};
  m.pending->kind = charge->kind;
  m.pending->resumed = charge->resumed;
  take_charge(program);
  timeline_->arrived(program, false);
}

// Recorded: the next moment of the tape. Until the tape says that a link woke, none goes on.
void Conductor::take_charge(std::uint32_t program) {
  Member& m = *members_[program];
  if (m.cost.next_charge() != nullptr) m.cost.take_charge();
  m.promised = false;
  follow(program);
}

void Conductor::follow(std::uint32_t program) {
  const Charge* next = members_[program]->cost.next_charge();
  using Kind = Charge::Kind;
  timeline_->hold_wakes(program, next != nullptr && next->kind != Kind::woke && next->kind != Kind::ended &&
                                     next->kind != Kind::unfinished);
}

void Conductor::record_wake(std::uint32_t program, std::uint32_t link) {
  Member& m = *members_[program];
  if (m.cost.measured() && recorder_ != nullptr) {
    recorder_->charge(program, {Charge::Kind::woke, false, link, 0, m.cpu_newest, {}});
  }
  if (!m.cost.recorded()) return;
  const Charge* charge = m.cost.next_charge();
  if (charge == nullptr || charge->kind != Charge::Kind::woke) return;  // beyond its record
  if (charge->link != link) {
    parted(program, "goes on in thread " + std::to_string(link) + " where the record has thread " +
                        std::to_string(charge->link));
  }
  timeline_->executed(program, m.cost.up_to(charge->total));
  m.cpu_newest = charge->total;
  take_charge(program);
}

// What a program executed towards a request that it never made delays the others in a replay as it did in the run.
void Conductor::record_unfinished() {
  if (recorder_ == nullptr) return;
  for (const auto& one : members_) {
    const Member& m = *one;
    const std::uint32_t i = m.number;
    if (!m.cost.measured() || m.pending || !timeline_->computing(i)) continue;
    for (std::uint32_t link = 0; link < m.channel->links_used(); ++link) take_clock_values(i, link);
    take_order(i, true);
    recorder_->charge(i, {Charge::Kind::unfinished, false, 0, 0, m.cpu_newest, {}});
  }
}

}  // namespace isochron::programs
