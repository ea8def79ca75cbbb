#include "hil/desk.hpp"

#include <algorithm>

#include "core/nearest_name.hpp"
#include "core/own_name.hpp"
#include "core/time_text.hpp"

namespace isochron::hil {
namespace {

using protocol::Ask;
using protocol::Verdict;

constexpr std::size_t letters_most = 10000;
constexpr std::size_t letter_bytes_most = 64 << 20;
constexpr SimSpan longest_period = std::chrono::hours(24);
constexpr std::size_t faults_kept = 20;
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
      mailboxes_(targets_.size()),
      mailbox_bytes_(targets_.size()) {}

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
    case Ask::none:
      break;
  }
  refuse(line, at, Verdict::refused, "asks for " + std::to_string(request.ask) + ", which this host does not know",
         reply);
  return std::nullopt;
}

void Desk::wake(LinkId link, SimTime at, Reply& reply) {
  Line& line = lines_.at(link);
  reply.reset();
  const Waits waits = std::exchange(line.waits, Waits::none);
  if (waits == Waits::release) {
    ++figures_[line.target].activations;
    tell(line.target, What::release, at, nothing, {}, line.release);
  } else if (waits == Waits::reading) {
    give(line, at, reply);
  } else if (waits == Waits::message && !hand_over(line, at, reply)) {
    reply.verdict = Verdict::nothing;
  }
}

void Desk::refuse(Line& line, SimTime at, Verdict verdict, const std::string& why, Reply& reply) {
  fault(line.target, at, why);
  reply.reset();
  reply.verdict = verdict;
  reply.fill(bytes_of(why));
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
  const SimSpan period = request.number == 0 ? targets_[line.target].every : SimSpan::from_ns(request.number);
  if (period <= SimSpan::zero()) {
    refuse(line, at, Verdict::refused, "waits without a period, and the scenario declares none", reply);
    return std::nullopt;
  }
  if (period > longest_period) {
    refuse(line, at, Verdict::refused, "waits for a period of more than a day", reply);
    return std::nullopt;
  }
  line.waits = Waits::release;
  return Suspend{next_release(line, period, at), false};
}

SimTime Desk::next_release(Line& line, SimSpan period, SimTime at) {
  if (!line.released || line.period != period) {
    line.released = true;
    line.period = period;
    line.release = at - at.since_zero() % period;  // releases are at multiples; the one that holds now is run at once
    return at;
  }
  const SimTime next = line.release + period;
  if (at <= next) return line.release = next;
  // Late: what was released last runs at once, those before it never do.
  const std::int64_t passed = (at - line.release) / period;
  line.release += period * passed;
  ++figures_[line.target].overruns;
  figures_[line.target].missed += static_cast<std::uint64_t>(passed - 1);
  return at;
}

std::uint32_t Desk::find_variable(const Line& line, std::string_view name) const {
  return find_own(plant_.variables(), targets_[line.target].robot, name, &Variable::name);
}

void Desk::bind(Line& line, SimTime at, const wire::Request& request, Reply& reply) {
  const std::string name(request.name);
  const std::uint32_t index = find_variable(line, name);
  if (index == no_such_name) {
    std::vector<std::string> known;
    for (const Variable& v : plant_.variables()) known.push_back(v.name);
    const std::string hint = nearest_hint(name, known);
    return refuse(line, at, Verdict::unknown_name, "there is no variable " + name + (hint.empty() ? "" : "; " + hint),
                  reply);
  }
  const Variable& variable = plant_.variables()[index];
  if (!request.type.empty() && request.type != variable.type) {
    return refuse(line, at, Verdict::wrong_type, name + " is " + variable.type + ", not " + std::string(request.type),
                  reply);
  }
  reply.index = index;
  reply.number = static_cast<std::int64_t>(variable.size);
  reply.type = variable.type;
}

std::optional<Desk::Suspend> Desk::read(Line& line, SimTime at, const wire::Request& request, Reply& reply) {
  if (request.index >= plant_.variables().size() || !plant_.variables()[request.index].readable) {
    refuse(line, at, Verdict::refused, "reads a variable that cannot be read", reply);
    return std::nullopt;
  }
  line.variable = request.index;
  const SimTime there = plant_.asked(line.variable, at);
  if (there > at) {
    line.waits = Waits::reading;
    return Suspend{there, false};
  }
  give(line, at, reply);
  return std::nullopt;
}

void Desk::give(Line& line, SimTime at, Reply& reply) {
  const Variable& variable = plant_.variables()[line.variable];
  const std::span<std::byte> room = reply.room(variable.size);
  if (variable.varies) {
    const Sample sample = plant_.sample(line.variable, at, room);
    reply.cut(sample.size);
    reply.stamp = sample.stamp;
    if (sample.size == 0) reply.verdict = Verdict::nothing;
  } else {
    plant_.read(line.variable, at, room);
  }
  ++figures_[line.target].reads;
  tell(line.target, What::read, at, line.variable, reply.payload());
}

void Desk::write(Line& line, SimTime at, const wire::Request& request, Reply& reply) {
  const auto& variables = plant_.variables();
  if (request.index >= variables.size() || !variables[request.index].writable) {
    const std::string name = request.index < variables.size() ? variables[request.index].name : "a variable";
    return refuse(line, at, Verdict::refused, "writes " + name + ", which cannot be written", reply);
  }
  const Variable& variable = variables[request.index];
  if (request.payload.size() != variable.size) {
    return refuse(line, at, Verdict::wrong_type,
                  "writes " + std::to_string(request.payload.size()) + " bytes to " + variable.name + " of " +
                      std::to_string(variable.size),
                  reply);
  }
  if (const auto fit = plant_.check(request.index, request.payload); !fit.ok()) {
    return refuse(line, at, Verdict::refused, "writes to " + variable.name + ": " + fit.error(), reply);
  }
  ++figures_[line.target].writes;
  tell(line.target, What::write, at, request.index, request.payload);
  effects_.push_back({at, request.index, {request.payload.begin(), request.payload.end()}});
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
    return refuse(line, at, Verdict::unknown_name,
                  name.empty() ? "sends to nobody: name a target, or give it `to:` in the scenario"
                               : "sends to " + name + ", which is no target of this run",
                  reply);
  }
  if (mailboxes_[to].size() >= letters_most || mailbox_bytes_[to] + request.payload.size() > letter_bytes_most) {
    return refuse(line, at, Verdict::refused, "sends to " + name + ", which does not read its messages", reply);
  }
  const SimTime arrives = at + between_targets;
  mailbox_bytes_[to] += request.payload.size();
  mailboxes_[to].insert({arrives,
                         at,
                         line.target,
                         letters_++,
                         std::string(request.type),
                         {request.payload.begin(), request.payload.end()}});
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
      refuse(line, at, Verdict::unknown_name,
             "receives from " + std::string(request.name) + ", which is no target of this run", reply);
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
  const auto letter = first_letter(line);
  return Suspend{letter == mailboxes_[line.target].end() ? until : std::min(until, letter->arrives), true};
}

std::set<Desk::Letter>::iterator Desk::first_letter(const Line& line) {
  auto& box = mailboxes_[line.target];
  return std::find_if(box.begin(), box.end(),
                      [&](const Letter& letter) { return line.from == nothing || letter.from == line.from; });
}

bool Desk::hand_over(Line& line, SimTime at, Reply& reply) {
  auto& box = mailboxes_[line.target];
  const auto found = first_letter(line);
  if (found == box.end() || found->arrives > at) return false;
  const Letter letter = std::move(box.extract(found).value());
  mailbox_bytes_[line.target] -= letter.bytes.size();
  const std::string& from = targets_[letter.from].name;
  if (!line.type.empty() && line.type != letter.type) {
    refuse(line, at, Verdict::wrong_type, "receives " + line.type + " from " + from + ", which sent " + letter.type,
           reply);
    return true;
  }
  if (letter.bytes.size() > line.capacity) {
    refuse(line, at, Verdict::too_large,
           "has room for " + std::to_string(line.capacity) + " bytes of a message of " +
               std::to_string(letter.bytes.size()) + " from " + from,
           reply);
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
