#include "programs/desk.hpp"

#include "core/log.hpp"
#include "core/own_name.hpp"
#include "core/time_text.hpp"

namespace isochron::programs {
namespace {

using protocol::Ask;
using protocol::Verdict;
using Kind = Happening::Kind;

constexpr SimSpan longest_period = std::chrono::hours(24);
constexpr std::size_t faults_kept = 20;
constexpr SimSpan between_cpus = SimSpan::from_ns(1);

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

std::uint32_t Desk::add(Party party) {
  parties_.emplace_back().spec = std::move(party);
  return static_cast<std::uint32_t>(parties_.size() - 1);
}

void Desk::attach(std::uint32_t party, SimTime at, std::int64_t version, Reply& reply) {
  if (version != protocol::version) {
    return refuse(party, at,
                  {Verdict::wrong_version, "speaks version " + std::to_string(version) +
                                               " of the protocol, this host " + std::to_string(protocol::version)},
                  reply);
  }
  started(party, at);
}

std::optional<Desk::Suspend> Desk::act(std::uint32_t party, std::uint32_t link, SimTime at, const Request& request,
                                       Reply& reply) {
  Line& line = parties_[party].lines[link];
  line.waits = Waits::nothing;
  switch (request.ask) {
    case Ask::wait:
      return wait(party, line, at, request, reply);
    case Ask::bind:
      return bind(party, at, request, reply), std::nullopt;
    case Ask::read:
      return read(party, line, at, request, reply);
    case Ask::write:
      return write_all(party, at, request, reply), std::nullopt;
    case Ask::send:
      return send(party, at, request, reply), std::nullopt;
    case Ask::receive:
      return receive(party, line, at, request, reply);
    case Ask::log:
      return tell(party, Kind::log, at, nobody, request.payload), std::nullopt;
    case Ask::clock:
      return std::nullopt;
    case Ask::attach:
    case Ask::idle:
    case Ask::none:
    case Ask::call:
      break;
  }
  const auto number = std::to_string(static_cast<std::uint32_t>(request.ask));
  refuse(party, at, {Verdict::refused, "asks for " + number + ", which this host does not know"}, reply);
  return std::nullopt;
}

void Desk::wake(std::uint32_t party, std::uint32_t link, SimTime at, Reply& reply) {
  Line& line = parties_[party].lines[link];
  switch (std::exchange(line.waits, Waits::nothing)) {
    case Waits::release:
      ++parties_[party].figures.activations;
      house_.begins(party, line.releases.release(), at);
      return tell(party, Kind::release, at, nobody, {}, line.releases.release());
    case Waits::reading:
      return give(party, line, at, reply);
    case Waits::message:
      if (!hand_over(party, line, at, reply)) reply.verdict = Verdict::nothing;
      return;
    case Waits::until:
    case Waits::nothing:
      return;
  }
}

void Desk::refuse(std::uint32_t party, SimTime at, const protocol::Refusal& refusal, Reply& reply) {
  fault(party, at, refusal.why);
  reply.verdict = refusal.verdict;
  reply.fill(bytes_of(refusal.why));
}

void Desk::fault(std::uint32_t party, SimTime at, const std::string& what) {
  DeskFigures& figures = parties_[party].figures;
  ++figures.fault_count;
  if (figures.faults.size() < faults_kept) {
    figures.faults.push_back(parties_[party].spec.name + " at " + to_string(at) + ": " + what);
  }
  if (logs(LogLevel::info)) inform("programs", parties_[party].spec.name + " at " + to_string(at) + ": " + what);
  tell(party, Kind::fault, at, nobody, bytes_of(what));
}

void Desk::leave(std::uint32_t party, SimTime at, std::string_view how) {
  parties_[party].gone = true;
  parties_[party].lines = {};
  tell(party, Kind::end, at, nobody, bytes_of(how));
}

std::optional<Desk::Suspend> Desk::wait(std::uint32_t party, Line& line, SimTime at, const Request& request,
                                        Reply& reply) {
  if (request.number < 0) {
    line.waits = Waits::until;
    return Suspend{std::max(SimTime::from_ns(request.time), at), false};
  }
  Seat& seat = parties_[party];
  const ReleaseTerms& terms = seat.spec.terms;
  const SimSpan period = request.number == 0 ? terms.every : SimSpan::from_ns(request.number);
  if (period <= SimSpan::zero()) {
    refuse(party, at, {Verdict::refused, "waits without a period, and the scenario declares none"}, reply);
    return std::nullopt;
  }
  if (period > longest_period) {
    refuse(party, at, {Verdict::refused, "waits for a period of more than a day"}, reply);
    return std::nullopt;
  }
  if (terms.every > SimSpan::zero() && period != terms.every && !line.releases.started()) {
    fault(party, at, "waits for " + to_string(period) + " but is declared with every " + to_string(terms.every));
  }
  line.waits = Waits::release;
  const SimTime done = request.done.value_or(at);
  const Releases::Next next = line.releases.wait(terms, period, at, done);
  seat.figures.overruns += next.overrun ? 1 : 0;
  seat.figures.missed += next.missed();
  house_.is_done(party, done, period, next);
  return Suspend{next.goes_on, false};
}

void Desk::bind(std::uint32_t party, SimTime at, const Request& request, Reply& reply) {
  protocol::Refusal why;
  const Party& spec = parties_[party].spec;
  const std::uint32_t index =
      protocol::find_variable(plant_, spec.robot, std::string(request.name), request.type, why, spec.most);
  if (index == no_such_name) return refuse(party, at, why, reply);
  const Variable& variable = plant_.variables()[index];
  reply.index = index;
  reply.number = static_cast<std::int64_t>(variable.size);
  reply.type = variable.type;
}

std::optional<Desk::Suspend> Desk::read(std::uint32_t party, Line& line, SimTime at, const Request& request,
                                        Reply& reply) {
  protocol::Refusal why;
  const auto list = protocol::asked_for(plant_, request.index, request.payload, why, parties_[party].spec.most);
  if (!list) {
    refuse(party, at, why, reply);
    return std::nullopt;
  }
  line.variable = request.index;
  line.variables = *list;
  if (const SimTime there = protocol::all_there(plant_, *list, at); there > at) {
    line.waits = Waits::reading;
    return Suspend{there, true};
  }
  give(party, line, at, reply);
  return std::nullopt;
}

void Desk::sample(const Party& party, std::uint32_t index, const protocol::ItemList& list, SimTime at, Reply& reply) {
  std::size_t most = index == protocol::several ? 0 : plant_.variables()[index].size;
  if (index == protocol::several) {
    for (const std::uint32_t each : list.indexes()) most += protocol::item_head + plant_.variables()[each].size;
  }
  const Sample read = protocol::read_all(plant_, index, list, at, reply.room(std::min(most, party.most)));
  reply.cut(read.size);
  reply.stamp = read.stamp;
  if (read.size == 0) reply.verdict = Verdict::nothing;
}

void Desk::give(std::uint32_t party, const Line& line, SimTime at, Reply& reply) {
  Seat& seat = parties_[party];
  apply(at);
  sample(seat.spec, line.variable, line.variables, at, reply);
  protocol::for_each_item(line.variable, reply.payload(), [&](std::uint32_t index, auto value) {
    if (!protocol::can_read(plant_, index, seat.spec.most)) return;  // the program may have scribbled over it
    ++seat.figures.reads;
    // What varies is in the record of its sensor already; which one it was is enough here.
    const bool varies = plant_.variables()[index].varies;
    tell(party, Kind::read, at, index, value.first(varies ? 0 : value.size()), reply.stamp);
  });
}

void Desk::read_last(std::uint32_t party, SimTime at, const Request& request, Reply& reply) {
  protocol::Refusal why;
  const Party& spec = parties_[party].spec;
  const auto list = protocol::asked_for(plant_, request.index, request.payload, why, spec.most);
  if (list) sample(spec, request.index, *list, at, reply);
}

void Desk::write_all(std::uint32_t party, SimTime at, const Request& request, Reply& reply) {
  if (const auto why = protocol::cannot_write_all(plant_, request.index, request.payload)) {
    return refuse(party, at, *why, reply);
  }
  protocol::for_each_item(request.index, request.payload,
                          [&](std::uint32_t index, auto value) { write(party, at, index, value); });
}

void Desk::write(std::uint32_t party, SimTime at, std::uint32_t variable, std::span<const std::byte> value) {
  Seat& seat = parties_[party];
  ++seat.figures.writes;
  tell(party, Kind::write, at, variable, value);
  Effect effect{at, seat.spec.cpu, order_++, variable, {}};
  if (!spare_.empty()) {
    effect.bytes = std::move(spare_.back());
    spare_.pop_back();
  }
  effect.bytes.assign(value.begin(), value.end());
  effects_.push_back(std::move(effect));
  std::push_heap(effects_.begin(), effects_.end());
}

void Desk::apply(SimTime before) {
  while (!effects_.empty() && effects_.front().at < before) {
    std::pop_heap(effects_.begin(), effects_.end());
    Effect& first = effects_.back();
    plant_.write(first.variable, first.at, first.bytes);
    spare_.push_back(std::move(first.bytes));
    effects_.pop_back();
  }
}

std::uint32_t Desk::find(std::uint32_t party, std::string_view name) const {
  return find_own(parties_, parties_[party].spec.robot, name,
                  [](const Seat& seat) -> const std::string& { return seat.spec.name; });
}

void Desk::send(std::uint32_t party, SimTime at, const Request& request, Reply& reply) {
  Seat& sender = parties_[party];
  const std::string name(request.name.empty() ? std::string_view(sender.spec.to) : request.name);
  const std::uint32_t to = find(party, name);
  if (to == no_such_name) return refuse(party, at, protocol::nobody_to_send_to(name), reply);
  if (belongs_to_another(party, to)) return refuse(party, at, protocol::not_its_own("sends to", name), reply);
  Seat& receiver = parties_[to];
  const std::uint64_t number = sender.letters++;
  const std::optional<SimSpan> way =
      trouble_ == nullptr ? SimSpan::zero() : trouble_->carry(sender.spec.name, receiver.spec.name, at, number);
  const SimTime arrives =
      (receiver.spec.cpu == sender.spec.cpu ? at : at + between_cpus) + way.value_or(SimSpan::zero());
  protocol::Letter letter{arrives, at, party, number, std::string(request.type), {}};
  letter.bytes.assign(request.payload.begin(), request.payload.end());
  if (way && !receiver.mailbox.put(std::move(letter))) return refuse(party, at, protocol::does_not_read(name), reply);
  ++sender.figures.sent;
  tell(party, Kind::send, at, to, request.payload);
  if (way) wake_receivers(to, party, arrives);
}

bool Desk::belongs_to_another(std::uint32_t party, std::uint32_t correspondent) const {
  const Party& spec = parties_[correspondent].spec;
  return !spec.program && spec.robot != parties_[party].spec.robot;
}

void Desk::wake_receivers(std::uint32_t party, std::uint32_t from, SimTime arrives) {
  Seat& seat = parties_[party];
  if (seat.gone) return;
  for (std::uint32_t link = 0; link < seat.lines.size(); ++link) {
    const Line& line = seat.lines[link];
    if (line.waits != Waits::message) continue;
    const bool from_anybody = line.from == protocol::anybody && parties_[from].spec.program;
    if (from_anybody || line.from == from) house_.message(party, link, arrives);
  }
}

void Desk::deliver(std::uint32_t party, SimTime sent, SimTime arrives, std::string_view type,
                   std::span<const std::byte> bytes) {
  Seat& sender = parties_[party];
  const std::uint64_t order = sender.letters++;
  for (std::uint32_t to = 0; to < parties_.size(); ++to) {
    Seat& seat = parties_[to];
    if (seat.gone || std::ranges::find(seat.listens, party) == seat.listens.end()) continue;
    put_aside(to, {arrives, sent, party, order, std::string(type), {bytes.begin(), bytes.end()}});
    wake_receivers(to, party, arrives);
  }
}

/// Who does not keep up hears the newest.
void Desk::put_aside(std::uint32_t party, protocol::Letter letter) {
  Seat& seat = parties_[party];
  const SimTime at = letter.arrives;
  const std::uint32_t from = letter.from;
  while (!seat.from_outside.has_room_for(letter) && seat.from_outside.take(protocol::anybody, SimTime::never())) {
    if (seat.lost++ > 0) continue;
    fault(party, at, "does not read what comes from " + parties_[from].spec.name + ": the oldest messages are dropped");
  }
  (void)seat.from_outside.put(std::move(letter));
}

std::optional<Desk::Suspend> Desk::receive(std::uint32_t party, Line& line, SimTime at, const Request& request,
                                           Reply& reply) {
  line.type = request.type;
  line.capacity = static_cast<std::size_t>(std::max<std::int64_t>(request.number, 0));
  line.from = protocol::anybody;
  if (!request.name.empty()) {
    line.from = find(party, request.name);
    if (line.from == no_such_name) {
      refuse(party, at, protocol::nobody_to_receive_from(std::string(request.name)), reply);
      return std::nullopt;
    }
    if (belongs_to_another(party, line.from)) {
      refuse(party, at, protocol::not_its_own("receives from", std::string(request.name)), reply);
      return std::nullopt;
    }
    listen(parties_[party], line.from);
  }
  if (hand_over(party, line, at, reply)) return std::nullopt;
  const SimTime until = SimTime::from_ns(request.time);
  if (until <= at) {
    reply.verdict = Verdict::nothing;
    return std::nullopt;
  }
  line.waits = Waits::message;
  return Suspend{std::min(until, mailbox_for(parties_[party], line.from).first(line.from)), true};
}

void Desk::listen(Seat& seat, std::uint32_t from) const {
  if (parties_[from].spec.program || std::ranges::find(seat.listens, from) != seat.listens.end()) return;
  seat.listens.push_back(from);
}

bool Desk::hand_over(std::uint32_t party, const Line& line, SimTime at, Reply& reply) {
  Seat& seat = parties_[party];
  const auto letter = mailbox_for(seat, line.from).take(line.from, at);
  if (!letter) return false;
  const std::string& from = parties_[letter->from].spec.name;
  if (const auto why = protocol::cannot_receive(*letter, from, line.type, std::min(line.capacity, seat.spec.most))) {
    refuse(party, at, *why, reply);
    return true;
  }
  ++seat.figures.received;
  tell(party, Kind::receive, at, letter->from, letter->bytes, letter->sent);
  reply.stamp = letter->sent;
  reply.name = from;
  reply.type = letter->type;
  reply.fill(letter->bytes);
  return true;
}

}  // namespace isochron::programs
