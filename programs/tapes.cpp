#include "programs/tapes.hpp"

#include <unistd.h>

#include <algorithm>

#include "core/time_text.hpp"
#include "programs/futex.hpp"

namespace isochron::programs {

namespace {
constexpr WallSpan standstill = std::chrono::milliseconds(300);  // of all programs of a replay
constexpr CpuSpan patience_with_replays = std::chrono::milliseconds(700);
}  // namespace

std::string Tapes::take_output(std::uint32_t program, const Charge* then) {
  Member& m = *all_.members[program];
  if (then != nullptr && then->kind != Charge::Kind::asked) return {};  // beyond its record: told at its end
  const bool all = then == nullptr || then->printed < m.output_taken;
  std::string output = all_.watcher->take(m.watched, all ? SIZE_MAX : then->printed - m.output_taken);
  m.output_taken += output.size();
  for (WallTime end = wall_now() + standstill; !all && m.output_taken < then->printed && wall_now() < end;) {
    usleep(100);
    const std::string more = all_.watcher->take(m.watched, then->printed - m.output_taken);
    if (!more.empty()) end = wall_now() + standstill;
    m.output_taken += more.size();
    output += more;
  }
  if (!all && m.output_taken < then->printed) parted(program, "printed less than it did then");
  return output;
}

void Tapes::take_clock_values(std::uint32_t program, std::uint32_t link) {
  Member& m = *all_.members[program];
  const std::span<const std::byte> values = m.channel->empty_ring(link, taken_);
  if (values.empty()) return;
  m.figures.clock_reads += static_cast<std::uint64_t>(
      std::count_if(values.begin(), values.end(), [](std::byte b) { return (b & std::byte{0x80}) == std::byte{}; }));
  if (all_.recorder != nullptr) all_.recorder->clock(program, link, values);
}

void Tapes::hand_order(Member& m) {
  const std::span<const std::byte> left = m.cost.order_left();
  if (!left.empty()) m.cost.take_order(m.channel->fill_order(left));
}

void Tapes::take_order(std::uint32_t program, bool all) {
  const std::span<const std::byte> order = all_.members[program]->channel->empty_order(taken_, all);
  if (all_.recorder != nullptr && !order.empty()) all_.recorder->order(program, order);
}

void Tapes::hand_clock_values(Member& m, std::uint32_t link) {
  if (m.channel->ring_is_empty(link)) m.channel->fill_ring(link, m.cost.take_clocks(link));
}

void Tapes::parted(std::uint32_t program, const std::string& how) {
  Member& m = *all_.members[program];
  ++m.figures.replay_parted;
  if (!m.figures.parted.empty()) return;
  m.figures.parted = "parted from its record at " + to_string(all_.timeline->program_time(program)) + ": it " + how;
}

std::string Tapes::cannot_follow(std::uint32_t program) const {
  Member& m = *all_.members[program];
  const Charge* charge = m.cost.next_charge();
  using Kind = Charge::Kind;
  if (charge == nullptr || charge->kind == Kind::unfinished) return "";
  const WallTime now = wall_now();
  const CpuSpan more = m.silence->newest - m.silence->from;
  const CpuSpan then = charge->total - m.cpu_newest;
  const bool beyond = more > patience_with_replays + then * 20;
  if (!beyond && now - m.silence->stands_since < standstill) return "";
  const auto moves = [](const auto& member) { return member->process->runnable(); };
  if (!beyond && std::any_of(all_.members.begin(), all_.members.end(), moves)) return "";
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

void Tapes::promise(std::uint32_t program) {
  Member& m = *all_.members[program];
  const Charge* charge = m.cost.next_charge();
  if (charge == nullptr) return;
  m.promised = true;
  all_.timeline->executed(program, m.cost.up_to(charge->total));
  hand_order(m);
  if (charge->kind == Charge::Kind::asked || charge->kind == Charge::Kind::woke) return;
  if (charge->kind == Charge::Kind::ended || charge->kind == Charge::Kind::unfinished) return;  // its process says when
  m.pending = Pending{};
  m.pending->kind = charge->kind;
  m.pending->resumed = charge->resumed;
  take_charge(program);
  all_.timeline->arrived(program, false);
}

void Tapes::take_charge(std::uint32_t program) {
  Member& m = *all_.members[program];
  if (m.cost.next_charge() != nullptr) m.cost.take_charge();
  m.promised = false;
  follow(program);
}

void Tapes::follow(std::uint32_t program) {
  const Charge* next = all_.members[program]->cost.next_charge();
  using Kind = Charge::Kind;
  all_.timeline->hold_wakes(program, next != nullptr && next->kind != Kind::woke && next->kind != Kind::ended &&
                                         next->kind != Kind::unfinished);
}

void Tapes::wakes(std::uint32_t program, std::uint32_t link) {
  Member& m = *all_.members[program];
  if (m.cost.measured()) all_.charge(program, {Charge::Kind::woke, false, link, 0, m.cpu_newest, {}});
  if (!m.cost.recorded()) return;
  const Charge* charge = m.cost.next_charge();
  if (charge == nullptr || charge->kind != Charge::Kind::woke) return;  // beyond its record
  if (charge->link != link) {
    parted(program, "goes on in thread " + std::to_string(link) + " where the record has thread " +
                        std::to_string(charge->link));
  }
  all_.timeline->executed(program, m.cost.up_to(charge->total));
  m.cpu_newest = charge->total;
  take_charge(program);
}

void Tapes::record_request(std::uint32_t program, const Pending& pending) {
  const Member& m = *all_.members[program];
  take_clock_values(program, pending.link);
  take_order(program, false);
  all_.charge(program, {Charge::Kind::asked,
                        pending.others_run,
                        pending.link,
                        static_cast<std::uint8_t>(pending.exchange.ask),
                        m.cpu_newest,
                        {},
                        m.output_taken});
}

void Tapes::record_blocked(std::uint32_t program) {
  all_.charge(program, {Charge::Kind::blocked, false, 0, 0, all_.members[program]->cpu_newest, {}});
}

void Tapes::record_stalled(std::uint32_t program, SimTime resumed) {
  all_.charge(program, {Charge::Kind::stalled, false, 0, 0, all_.members[program]->cpu_newest, resumed});
}

void Tapes::record_end(std::uint32_t program) {
  const Member& m = *all_.members[program];
  all_.charge(program, {Charge::Kind::ended, false, 0, 0, m.cpu_newest, {}, m.output_taken});
}

void Tapes::record_unfinished() {
  if (all_.recorder == nullptr) return;
  for (const auto& one : all_.members) {
    const Member& m = *one;
    if (!m.cost.measured() || m.pending || !all_.timeline->computing(m.number)) continue;
    take_last_values(m.number);
    all_.charge(m.number, {Charge::Kind::unfinished, false, 0, 0, m.cpu_newest, {}});
  }
}

void Tapes::take_last_values(std::uint32_t program) {
  const Channel& channel = *all_.members[program]->channel;
  for (std::uint32_t link = 0; link < channel.links_used(); ++link) take_clock_values(program, link);
  take_order(program, true);
}

void Tapes::start(std::uint32_t program) {
  Member& m = *all_.members[program];
  for (std::uint32_t link = 0; link < m.cost.clock_links(); ++link) hand_clock_values(m, link);
  follow(program);
  promise(program);
}

void Tapes::follow_request(std::uint32_t program, std::uint32_t link, protocol::Ask ask) {
  Member& m = *all_.members[program];
  const Charge* charge = m.cost.next_charge();
  const auto expected = charge == nullptr ? protocol::Ask::none : static_cast<protocol::Ask>(charge->ask);
  if (expected != protocol::Ask::none && expected != ask) {
    parted(program, "asked for " + name_of(ask) + " where the record has " + name_of(expected));
  }
  if (charge != nullptr) m.cpu_newest = charge->total;
  hand_clock_values(m, link);
  take_charge(program);
}

}  // namespace isochron::programs
