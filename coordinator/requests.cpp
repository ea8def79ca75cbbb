// What programs ask, answered. Each answer happens at one simulated time, given by the schedule; see conductor.hpp.

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "coordinator/conductor.hpp"
#include "core/own_name.hpp"
#include "core/time_text.hpp"
#include "link/plant_access.hpp"

namespace isochron::coordinator {

namespace {

using protocol::Ask;
using protocol::Exchange;
using protocol::Verdict;

constexpr std::uint64_t most_requests_at_once = 20'000;
constexpr std::size_t most_faults_kept = 20;
constexpr std::uint64_t most_output_recorded = 16u << 20;
constexpr SimSpan between_cpus = SimSpan::from_ns(1);

void put(char (&field)[protocol::name_max], const std::string& text) {
  const std::size_t length = std::min(text.size(), sizeof field - 1);
  std::memcpy(field, text.data(), length);
  field[length] = 0;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

void Conductor::operate(std::uint32_t program, SimTime at) {
  Member& m = *members_[program];
  if (options_.delay && m.pending->kind == Charge::Kind::asked) {
    if (const SimSpan more = options_.delay(m.name); more > SimSpan::zero()) return schedule_->executed(program, more);
  }
  const Pending pending = std::move(*m.pending);
  m.pending.reset();
  if (!pending.output.empty()) tell_output(program, pending.output, at);
  switch (pending.kind) {
    case Charge::Kind::ended:
      return left(program, at);
    case Charge::Kind::blocked:
      return schedule_->block(program);
    case Charge::Kind::stalled:
      ++m.figures.stalls;
      m.stalled_since = at;
      if (m.cost.recorded()) {
        m.waits[0] = {};
        m.waits[0].recovering = true;
        m.figures.stalled += pending.resumed - at;
        return schedule_->suspend(program, 0, pending.resumed, false, false);
      }
      ++stalled_;
      return schedule_->stall(
          program,
          m.spec.blocking == Blocking::charge_wall || m.start_up == Member::StartUp::going_on ? at : SimTime::never());
    case Charge::Kind::unfinished:
    case Charge::Kind::woke:
    case Charge::Kind::asked:
      break;
  }
  m.last_ask = static_cast<Ask>(pending.exchange.ask);
  m.requests_at_once = at == m.last_request ? m.requests_at_once + 1 : 0;
  m.last_request = at;
  if (m.requests_at_once == most_requests_at_once) {
    fault(program, at,
          "asked " + std::to_string(most_requests_at_once) +
              " times without any time passing; where computing is free a program must wait");
    m.process->kill_group(SIGKILL);
  }
  answer(program, pending, at);
}

void Conductor::answer(std::uint32_t program, const Pending& pending, SimTime at) {
  switch (static_cast<Ask>(pending.exchange.ask)) {
    case Ask::attach:
      return answer_attach(program, pending, at);
    case Ask::wait:
      return answer_wait(program, pending, at);
    case Ask::bind:
      return answer_bind(program, pending, at);
    case Ask::read:
      return answer_read(program, pending, at);
    case Ask::write:
      return answer_write(program, pending, at);
    case Ask::send:
      return answer_send(program, pending, at);
    case Ask::receive:
      return answer_receive(program, pending, at);
    case Ask::clock:
      return answer_clock(program, pending, at);
    case Ask::log:
      return answer_log(program, pending, at);
    case Ask::idle:
    case Ask::none:
      break;
  }
  refuse(program, pending.link, Verdict::refused, at,
         "request " + std::to_string(pending.exchange.ask) + " is unknown to this coordinator");
}

void Conductor::done(std::uint32_t program, std::uint32_t link, Exchange exchange, SimTime at) {
  exchange.time = at.ns();
  schedule_->resume(program);
  begin(program, at);
  reply(program, link, exchange);
}

// On the robot the thread would just go on, or preempt its equals: it goes first among its siblings.
void Conductor::reply(std::uint32_t program, std::uint32_t link, const Exchange& exchange) {
  Member& m = *members_[program];
  if (m.seat) lanes_->favour(*m.seat, static_cast<pid_t>(m.channel->owner(link)));
  m.channel->answer(link, exchange);
}

void Conductor::refuse(std::uint32_t program, std::uint32_t link, SimTime at, const protocol::Refusal& refusal) {
  fault(program, at, refusal.why);
  schedule_->resume(program);
  begin(program, at);
  members_[program]->channel->refuse(link, refusal.verdict, at, refusal.why);
}

void Conductor::fault(std::uint32_t program, SimTime at, const std::string& what) {
  Member& m = *members_[program];
  ++m.figures.fault_count;
  if (m.figures.faults.size() < most_faults_kept)
    m.figures.faults.push_back(m.name + " at " + to_string(at) + ": " + what);
  tell(program, Happening::Kind::fault, at, UINT32_MAX, bytes_of(what));
}

void Conductor::answer_attach(std::uint32_t program, const Pending& pending, SimTime at) {
  if (pending.exchange.number != protocol::version) {
    return refuse(program, pending.link, Verdict::wrong_version, at,
                  "speaks version " + std::to_string(pending.exchange.number) + " of the protocol, this coordinator " +
                      std::to_string(protocol::version));
  }
  tell(program, Happening::Kind::start, at);
  done(program, pending.link, {}, at);
}

void Conductor::answer_wait(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *members_[program];
  Wait& wait = m.waits[pending.link];
  wait = {};
  const std::int64_t number = pending.exchange.number;
  if (number < 0) return suspend(program, pending, std::max(SimTime::from_ns(pending.exchange.time), at), false);
  const SimSpan period = number == 0 ? m.spec.every : SimSpan::from_ns(number);
  if (period <= SimSpan::zero()) {
    return refuse(program, pending.link, Verdict::refused, at,
                  "waits without a period, and the scenario declares none");
  }
  if (m.spec.every > SimSpan::zero() && period != m.spec.every && !m.releases[pending.link].started()) {
    fault(program, at, "waits for " + to_string(period) + " but is declared with every " + to_string(m.spec.every));
  }
  wait.periodic = true;
  const Releases::Next next = m.releases[pending.link].wait(m.spec.terms(), period, at, at);
  m.figures.overruns += next.overrun ? 1 : 0;
  m.figures.missed += next.missed();
  suspend(program, pending, next.goes_on, false);
}

void Conductor::suspend(std::uint32_t program, const Pending& pending, SimTime until, bool receiving) {
  schedule_->suspend(program, pending.link, until, receiving, pending.others_run);
  if (!pending.others_run) return;
  begin(program, schedule_->program_time(program));
  if (pending.exchange.index == 1) members_[program]->channel->pass(pending.link);
}

void Conductor::wake(std::uint32_t program, std::uint32_t link, SimTime at) {
  Member& m = *members_[program];
  const Wait wait = m.waits[link];
  record_wake(program, link);
  begin(program, at);
  if (wait.recovering) return;
  Exchange exchange;
  exchange.time = at.ns();
  if (wait.reading) return hand_reading(program, link, wait.variable, at);
  if (wait.receiving) {
    if (hand_over(program, link, at)) return;
    exchange.verdict = static_cast<std::uint32_t>(Verdict::nothing);
  } else if (wait.periodic) {
    ++m.figures.activations;
    tell(program, Happening::Kind::release, at, UINT32_MAX, {}, m.releases[link].release());
  }
  reply(program, link, exchange);
}

void Conductor::answer_bind(std::uint32_t program, const Pending& pending, SimTime at) {
  protocol::Refusal why;
  const std::uint32_t index =
      protocol::find_variable(plant_, members_[program]->robot, pending.exchange.name, pending.exchange.type, why);
  if (index == no_such_name) return refuse(program, pending.link, at, why);
  const Variable& variable = plant_.variables()[index];
  Exchange exchange;
  exchange.index = index;
  exchange.number = static_cast<std::int64_t>(variable.size);
  put(exchange.type, variable.type);
  done(program, pending.link, exchange, at);
}

bool Conductor::can_read(std::uint32_t index) const {
  return index == protocol::several || protocol::can_read(plant_, index);
}

/// Fills the link's payload; the size and stamp of what is there go into the exchange.
void Conductor::read_plant(Member& m, std::uint32_t link, std::uint32_t index, SimTime at, Exchange& exchange) {
  const auto list = index == protocol::several
                        ? protocol::ItemList::read(m.channel->payload(link, protocol::payload_max))
                        : std::nullopt;
  const Sample read = protocol::read_all(plant_, index, list.value_or(protocol::ItemList()), at, m.channel->room(link));
  exchange.size = static_cast<std::uint32_t>(read.size);
  exchange.stamp = read.stamp.ns();
  if (read.size == 0) exchange.verdict = static_cast<std::uint32_t>(Verdict::nothing);
}

void Conductor::answer_read(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *members_[program];
  const std::uint32_t index = pending.exchange.index;
  protocol::Refusal why;
  const auto list = protocol::asked_for(plant_, index, m.channel->payload(pending.link, pending.exchange.size), why);
  if (!list) return refuse(program, pending.link, at, why);
  if (const SimTime there = protocol::all_there(plant_, *list, at); there > at) {
    Wait& wait = m.waits[pending.link];
    wait = {};
    wait.reading = true;
    wait.variable = index;
    return suspend(program, pending, there, true);  // as one who receives: it goes on in the order of reads
  }
  schedule_->resume(program);
  begin(program, at);
  hand_reading(program, pending.link, index, at);
}

void Conductor::hand_reading(std::uint32_t program, std::uint32_t link, std::uint32_t index, SimTime at) {
  Member& m = *members_[program];
  watch_.was(&Accounting::coordination);
  apply_effects(at);
  Exchange exchange;
  exchange.time = at.ns();
  read_plant(m, link, index, at, exchange);
  watch_.was(&Accounting::world);
  protocol::for_each_item(index, m.channel->payload(link, exchange.size), [&](std::uint32_t each, auto value) {
    if (!protocol::can_read(plant_, each)) return;
    ++m.figures.reads;
    // What varies is in the record of its sensor already; which one it was is enough here.
    const bool varies = plant_.variables()[each].varies;
    tell(program, Happening::Kind::read, at, each, value.first(varies ? 0 : value.size()),
         SimTime::from_ns(exchange.stamp));
  });
  reply(program, link, exchange);
}

void Conductor::answer_write(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *members_[program];
  const auto from = m.channel->payload(pending.link, pending.exchange.size);
  const std::vector<std::byte> value(from.begin(), from.end());  // a copy that the program cannot change any more
  if (const auto why = protocol::cannot_write_all(plant_, pending.exchange.index, value)) {
    return refuse(program, pending.link, at, *why);
  }
  protocol::for_each_item(pending.exchange.index, std::span(value), [&](std::uint32_t index, auto bytes) {
    ++m.figures.writes;
    tell(program, Happening::Kind::write, at, index, bytes);
    add_effect({at, m.cpu, effect_order_++, index, {bytes.begin(), bytes.end()}});
  });
  done(program, pending.link, {}, at);
}

void Conductor::add_effect(Effect effect) {
  effects_.push_back(std::move(effect));
  std::push_heap(effects_.begin(), effects_.end(), [](const Effect& a, const Effect& b) { return b < a; });
}

void Conductor::show_world(SimTime at) {
  watch_.was(&Accounting::coordination);
  apply_effects(at);
  watch_.was(&Accounting::world);
}

void Conductor::write(std::uint32_t cpu, SimTime at, std::uint32_t variable, std::span<const std::byte> value) {
  add_effect({at, cpu, effect_order_++, variable, {value.begin(), value.end()}});
}

// What a called program executed ends here.
void Conductor::charged(std::uint32_t program, const Charge& charge) {
  if (recorder_ != nullptr) recorder_->charge(program, charge);
}

void Conductor::apply_effects(SimTime before) {
  const auto later = [](const Effect& a, const Effect& b) { return b < a; };
  while (!effects_.empty() && effects_.front().at < before) {
    const Effect& first = effects_.front();
    plant_.write(first.variable, first.at, first.bytes);
    std::pop_heap(effects_.begin(), effects_.end(), later);
    effects_.pop_back();
  }
}

std::uint32_t Conductor::find_program(const Member& from, std::string_view name) const {
  return find_own(members_, from.robot, name, [](const auto& member) -> const std::string& { return member->name; });
}

void Conductor::answer_send(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *members_[program];
  const std::string name = pending.exchange.name[0] == 0 ? m.spec.to : pending.exchange.name;
  const std::uint32_t to = find_program(m, name);
  if (to == no_such_name) {
    return refuse(program, pending.link, at, protocol::nobody_to_send_to(name));
  }
  Member& receiver = *members_[to];
  const auto from = m.channel->payload(pending.link, pending.exchange.size);
  protocol::Letter letter{receiver.cpu == m.cpu ? at : at + between_cpus,
                          at,
                          program,
                          m.letters_sent++,
                          pending.exchange.type,
                          {from.begin(), from.end()}};
  ++m.figures.sent;
  tell(program, Happening::Kind::send, at, to, letter.bytes);
  const SimTime arrives = letter.arrives;
  if (!receiver.mailbox.put(std::move(letter))) {
    return refuse(program, pending.link, at, protocol::does_not_read(name));
  }
  if (!schedule_->gone(to)) {
    for (std::uint32_t link = 0; link < receiver.waits.size(); ++link) {
      const Wait& wait = receiver.waits[link];
      if (!wait.receiving || !schedule_->receiving(to, link)) continue;
      if (wait.from == protocol::anybody || wait.from == program) schedule_->message(to, link, arrives);
    }
  }
  done(program, pending.link, {}, at);
}

void Conductor::answer_receive(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *members_[program];
  Wait& wait = m.waits[pending.link];
  wait = {};
  wait.receiving = true;
  wait.type = pending.exchange.type;
  wait.capacity = static_cast<std::size_t>(std::max<std::int64_t>(pending.exchange.number, 0));
  if (pending.exchange.name[0] != 0) {
    wait.from = find_program(m, pending.exchange.name);
    if (wait.from == no_such_name) {
      wait = {};
      return refuse(program, pending.link, at, protocol::nobody_to_receive_from(pending.exchange.name));
    }
  }
  if (m.mailbox.first(wait.from) <= at) {
    schedule_->resume(program);
    begin(program, at);
    hand_over(program, pending.link, at);
    return;
  }
  const SimTime until = SimTime::from_ns(pending.exchange.time);
  if (until > at) return suspend(program, pending, std::min(until, m.mailbox.first(wait.from)), true);
  Exchange exchange;
  exchange.verdict = static_cast<std::uint32_t>(Verdict::nothing);
  done(program, pending.link, exchange, at);
}

bool Conductor::hand_over(std::uint32_t program, std::uint32_t link, SimTime at) {
  Member& m = *members_[program];
  const Wait& wait = m.waits[link];
  const auto letter = m.mailbox.take(wait.from, at);
  if (!letter) return false;
  const std::string& from = members_[letter->from]->name;
  if (const auto why = protocol::cannot_receive(*letter, from, wait.type, wait.capacity)) {
    fault(program, at, why->why);
    m.channel->refuse(link, why->verdict, at, why->why);
    return true;
  }
  ++m.figures.received;
  tell(program, Happening::Kind::receive, at, letter->from, letter->bytes, letter->sent);
  std::memcpy(m.channel->room(link).data(), letter->bytes.data(), letter->bytes.size());
  Exchange exchange;
  exchange.size = static_cast<std::uint32_t>(letter->bytes.size());
  exchange.time = at.ns();
  exchange.stamp = letter->sent.ns();
  put(exchange.name, from);
  put(exchange.type, letter->type);
  reply(program, link, exchange);
  return true;
}

void Conductor::answer_clock(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *members_[program];
  if (m.cost.recorded()) {
    hand_order(m);
  } else {
    ++m.figures.clock_reads;
  }
  done(program, pending.link, {}, at);
}

void Conductor::answer_log(std::uint32_t program, const Pending& pending, SimTime at) {
  tell(program, Happening::Kind::log, at, UINT32_MAX,
       members_[program]->channel->payload(pending.link, pending.exchange.size));
  done(program, pending.link, {}, at);
}

void Conductor::left(std::uint32_t program, SimTime at) {
  Member& m = *members_[program];
  const std::string how = m.process->how().empty() ? "ended" : m.process->how();
  m.figures.ended = how + " at " + to_string(at);
  m.figures.failed = m.process->failed();
  m.figures.last_state = "its last request was " + name_of(m.last_ask) + " at " + to_string(m.last_request);
  if (m.channel->links_missing()) {
    fault(program, at,
          "had more than the " + std::to_string(protocol::links_max) +
              " threads that may wait or look at the clock at one time");
  }
  tell(program, Happening::Kind::end, at, UINT32_MAX, bytes_of(how));
  schedule_->leave(program);
  if (m.figures.failed && m.spec.on_failure == OnFailure::end_run) fails_run(program, at);
}

// All of it counts in the digest; of one that prints without end the record keeps the beginning.
void Conductor::tell_output(std::uint32_t program, const std::string& output, SimTime at) {
  Member& m = *members_[program];
  m.output_told += output.size();
  if (m.output_told <= most_output_recorded) {
    return tell(program, Happening::Kind::output, at, UINT32_MAX, bytes_of(output));
  }
  std::uint64_t sum = 14695981039346656037u;  // FNV-1a
  for (const char c : output) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  const std::string instead = "[" + std::to_string(output.size()) + " bytes, " + std::to_string(sum) + "]";
  tell(program, Happening::Kind::output, at, UINT32_MAX, bytes_of(instead));
}

void Conductor::tell(std::uint32_t program, Happening::Kind kind, SimTime at, std::uint32_t about,
                     std::span<const std::byte> bytes, SimTime stamp) {
  if (recorder_ == nullptr) return;
  happenings_[cpu_of(program)].push_back({kind, at, program, about, stamp, {bytes.begin(), bytes.end()}});
}

// Everything earlier than `before` is there: told by time, then by CPU.
void Conductor::flush_happenings(SimTime before) {
  if (recorder_ == nullptr) return;
  for (;;) {
    std::deque<Happening>* first = nullptr;
    for (auto& queue : happenings_) {
      if (queue.empty() || queue.front().at >= before) continue;
      if (first == nullptr || queue.front().at < first->front().at) first = &queue;
    }
    if (first == nullptr) return;
    recorder_->happened(first->front());
    first->pop_front();
  }
}

}  // namespace isochron::coordinator
