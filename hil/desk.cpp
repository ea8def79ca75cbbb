#include "hil/desk.hpp"

#include <algorithm>

#include "core/nearest_name.hpp"
#include "core/own_name.hpp"
#include "core/time_text.hpp"

namespace isochron::hil {
namespace {

using protocol::Ask;
using protocol::Verdict;

constexpr SimSpan longest_period = std::chrono::hours(24);
constexpr std::size_t faults_kept = 20;
constexpr std::size_t most_read_at_once = 32 << 20;
constexpr SimSpan between_targets = std::chrono::nanoseconds(1);

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

Desk::Desk(Plant& plant, std::vector<TargetSpec> targets, Observer& observer,
           std::function<void(LinkId, SimTime)> on_message)
    : plant_(plant),
      targets_(std::move(targets)),
      observer_(observer),
      on_message_(std::move(on_message)),
      figures_(targets_.size()),
      mailboxes_(targets_.size()) {}

void Desk::open(LinkId link, std::uint32_t target) {
  lines_[link] = {};
  lines_[link].target = target;
}

void Desk::close(LinkId link) { lines_.erase(link); }

std::optional<Desk::Suspend> Desk::act(LinkId link, SimTime at, const wire::Request& request, Reply& reply) {
  Line& line = lines_.at(link);
  reply.reset();
  switch (static_cast<Ask>(request.ask)) {
    case Ask::wait:
      return wait(line, at, request, reply);
    case Ask::bind:
      return bind(line, at, request, reply), std::nullopt;
    case Ask::read:
      return read(line, at, request, reply);
    case Ask::write:
      return write(line, at, request, reply), std::nullopt;
    case Ask::send:
      return send(line, at, request, reply), std::nullopt;
    case Ask::receive:
      return receive(line, at, request, reply);
    case Ask::log:
      return tell(line.target, What::log, at, nothing, request.payload), std::nullopt;
    case Ask::clock:
      return std::nullopt;
    case Ask::attach:
    case Ask::idle:
    case Ask::none:
      break;
  }
  refuse(line, at, {Verdict::refused, "asks for " + std::to_string(request.ask) + ", which this host does not know"},
         reply);
  return std::nullopt;
}

void Desk::wake(LinkId link, SimTime at, Reply& reply) {
  Line& line = lines_.at(link);
  reply.reset();
  const Waits waits = std::exchange(line.waits, Waits::none);
  if (waits == Waits::release) {
    ++figures_[line.target].activations;
    tell(line.target, What::release, at, nothing, {}, line.releases.release());
  } else if (waits == Waits::reading) {
    give(line, at, reply);
  } else if (waits == Waits::message && !hand_over(line, at, reply)) {
    reply.verdict = Verdict::nothing;
  }
}

void Desk::refuse(Line& line, SimTime at, const protocol::Refusal& refusal, Reply& reply) {
  fault(line.target, at, refusal.why);
  reply.reset();
  reply.verdict = refusal.verdict;
  reply.fill(bytes_of(refusal.why));
}

void Desk::fault(std::uint32_t target, SimTime at, const std::string& what) {
  TargetFigures& figures = figures_[target];
  ++figures.fault_count;
  if (figures.faults.size() < faults_kept) figures.faults.push_back("at " + to_string(at) + ": " + what);
  tell(target, What::fault, at, nothing, bytes_of(what));
}

void Desk::ended(std::uint32_t target, SimTime at, const std::string& how) {
  tell(target, What::end, at, nothing, bytes_of(how));
}

std::optional<Desk::Suspend> Desk::wait(Line& line, SimTime at, const wire::Request& request, Reply& reply) {
  if (request.number < 0) {
    line.waits = Waits::until;
    return Suspend{std::max(SimTime::from_ns(request.time), at), false};
  }
  const SimSpan period = request.number == 0 ? targets_[line.target].times.every : SimSpan::from_ns(request.number);
  if (period <= SimSpan::zero()) {
    refuse(line, at, {Verdict::refused, "waits without a period, and the scenario declares none"}, reply);
    return std::nullopt;
  }
  if (period > longest_period) {
    refuse(line, at, {Verdict::refused, "waits for a period of more than a day"}, reply);
    return std::nullopt;
  }
  line.waits = Waits::release;
  const Releases::Next next = line.releases.wait(targets_[line.target].times, period, at, at);
  figures_[line.target].overruns += next.overrun ? 1 : 0;
  figures_[line.target].missed += next.missed();
  return Suspend{next.goes_on, false};
}

void Desk::bind(Line& line, SimTime at, const wire::Request& request, Reply& reply) {
  protocol::Refusal why;
  const std::uint32_t index = protocol::find_variable(plant_, targets_[line.target].robot, std::string(request.name),
                                                      request.type, why, most_read_at_once);
  if (index == no_such_name) return refuse(line, at, why, reply);
  const Variable& variable = plant_.variables()[index];
  reply.index = index;
  reply.number = static_cast<std::int64_t>(variable.size);
  reply.type = variable.type;
}

std::optional<Desk::Suspend> Desk::read(Line& line, SimTime at, const wire::Request& request, Reply& reply) {
  protocol::Refusal why;
  const auto list = protocol::asked_for(plant_, request.index, request.payload, why, most_read_at_once);
  if (!list) {
    refuse(line, at, why, reply);
    return std::nullopt;
  }
  line.variable = request.index;
  line.variables = *list;
  const SimTime there = protocol::all_there(plant_, *list, at);
  if (there > at) {
    line.waits = Waits::reading;
    return Suspend{there, false};
  }
  give(line, at, reply);
  return std::nullopt;
}

void Desk::give(Line& line, SimTime at, Reply& reply) {
  std::size_t most = 0;
  for (const std::uint32_t index : line.variables.indexes())
    most += protocol::item_head + plant_.variables()[index].size;
  const Sample read = protocol::read_all(plant_, line.variable, line.variables, at, reply.room(most));
  reply.cut(read.size);
  reply.stamp = read.stamp;
  if (read.size == 0) reply.verdict = Verdict::nothing;
  protocol::for_each_item(line.variable, reply.payload(), [&](std::uint32_t index, auto value) {
    ++figures_[line.target].reads;
    tell(line.target, What::read, at, index, value);
  });
}

void Desk::write(Line& line, SimTime at, const wire::Request& request, Reply& reply) {
  if (const auto why = protocol::cannot_write_all(plant_, request.index, request.payload)) {
    return refuse(line, at, *why, reply);
  }
  protocol::for_each_item(request.index, request.payload, [&](std::uint32_t index, auto value) {
    ++figures_[line.target].writes;
    tell(line.target, What::write, at, index, value);
    effects_.push_back({at, index, {value.begin(), value.end()}});
  });
}

void Desk::before_step(SimTime begin) {
  while (!effects_.empty() && effects_.front().at <= begin) {
    const Effect& effect = effects_.front();
    plant_.write(effect.variable, effect.at, effect.bytes);
    effects_.pop_front();
  }
}

std::uint32_t Desk::find_target(const Line& line, std::string_view name) const {
  return find_own(targets_, targets_[line.target].robot, name, &TargetSpec::name);
}

void Desk::send(Line& line, SimTime at, const wire::Request& request, Reply& reply) {
  const std::string name = request.name.empty() ? targets_[line.target].to : std::string(request.name);
  const std::uint32_t to = find_target(line, name);
  if (to == no_such_name) {
    return refuse(line, at, protocol::nobody_to_send_to(name), reply);
  }
  const SimTime arrives = at + between_targets;
  if (!mailboxes_[to].put({arrives,
                           at,
                           line.target,
                           letters_++,
                           std::string(request.type),
                           {request.payload.begin(), request.payload.end()}})) {
    return refuse(line, at, protocol::does_not_read(name), reply);
  }
  ++figures_[line.target].sent;
  tell(line.target, What::send, at, to, request.payload);
  for (const auto& [link, other] : lines_) {
    if (other.target != to || other.waits != Waits::message) continue;
    if (other.from == nothing || other.from == line.target) on_message_(link, arrives);
  }
}

std::optional<Desk::Suspend> Desk::receive(Line& line, SimTime at, const wire::Request& request, Reply& reply) {
  line.type = request.type;
  line.capacity = static_cast<std::size_t>(std::max<std::int64_t>(request.number, 0));
  line.from = nothing;
  if (!request.name.empty()) {
    line.from = find_target(line, request.name);
    if (line.from == nothing) {
      refuse(line, at, protocol::nobody_to_receive_from(std::string(request.name)), reply);
      return std::nullopt;
    }
  }
  if (hand_over(line, at, reply)) return std::nullopt;
  const SimTime until = SimTime::from_ns(request.time);
  if (until <= at) {
    reply.verdict = Verdict::nothing;
    return std::nullopt;
  }
  line.waits = Waits::message;
  return Suspend{std::min(until, mailboxes_[line.target].first(line.from)), true};
}

bool Desk::hand_over(Line& line, SimTime at, Reply& reply) {
  const auto taken = mailboxes_[line.target].take(line.from, at);
  if (!taken) return false;
  const protocol::Letter& letter = *taken;
  const std::string& from = targets_[letter.from].name;
  if (const auto why = protocol::cannot_receive(letter, from, line.type, line.capacity)) {
    refuse(line, at, *why, reply);
    return true;
  }
  ++figures_[line.target].received;
  tell(line.target, What::receive, at, letter.from, letter.bytes, letter.sent);
  reply.stamp = letter.sent;
  reply.name = from;
  reply.type = letter.type;
  reply.fill(letter.bytes);
  return true;
}

void Desk::tell(std::uint32_t target, What what, SimTime at, std::uint32_t about, std::span<const std::byte> bytes,
                SimTime stamp) {
  observer_.happened({what, at, target, about, stamp, bytes});
}

}  // namespace isochron::hil
