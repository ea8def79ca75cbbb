#include "programs/board/boards.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/ensure.hpp"
#include "core/nearest_name.hpp"
#include "core/time_text.hpp"

namespace isochron::programs {
namespace {

using namespace std::chrono_literals;
using protocol::Ask;

constexpr WallSpan keeping_period = 250ms;
constexpr std::size_t refusals_kept = 20;
constexpr std::size_t most_read_at_once = 32 << 20;
constexpr int rounds_most = 64;  // of reading: who floods us does not keep the others

std::uint64_t random_session(const link::NonceSource& nonces) {
  const link::Nonce nonce = nonces();
  std::uint64_t session = 0;
  std::memcpy(&session, nonce.data(), sizeof session);
  return session == 0 ? 1 : session;
}

SimSpan as_executed(WallSpan span) { return SimSpan::from_ns(span.ns()); }

Request as_request(const wire::Request& wire) {
  Request request{.ask = static_cast<Ask>(wire.ask)};
  request.index = wire.index;
  request.time = wire.time;
  request.number = wire.number;
  request.name = wire.name;
  request.type = wire.type;
  request.payload = wire.payload;
  return request;
}

}  // namespace

struct Boards::Client {
  std::unique_ptr<Connection> connection;
  std::string where;  // it came from
  std::uint32_t target = none;
  LinkId link = none;
  bool first = false;   // of its target
  bool begins = false;  // attached, and not let go yet
  bool said_bye = false;
  WallTime asked;  // the request in hand came
  SimTime asked_at;
  Spent spent;  // what the causes of holds had come to then
  LinkId blamed = none;
};

Boards::Boards(Reactor& reactor, std::vector<TargetSpec> targets, BoardOptions options)
    : reactor_(reactor),
      specs_(std::move(targets)),
      options_(std::move(options)),
      targets_(specs_.size()),
      safe_(reactor.now()),
      opened_(safe_) {
  std::uint32_t slot = 0;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    targets_[i].outcome.name = specs_[i].name;
    targets_[i].outcome.runs = held(specs_[i]) ? Runs::held : Runs::free;
    targets_[i].slots.assign(specs_[i].links, none);
    targets_[i].first_slot = slot;
    slot += specs_[i].links;
  }
  keeper_ = reactor_.call_at(opened_ + keeping_period, [this] { house_keeping(); });
}

Boards::~Boards() { reactor_.cancel(keeper_); }

Result<Address, NetError> Boards::listen(const Address& at) {
  auto listener = reactor_.listen(at, [this](std::unique_ptr<Stream> stream) {
    const std::string from = to_string(stream->peer());
    accept(std::move(stream), from);
  });
  if (!listener.ok()) return fail(listener.error());
  listener_ = std::move(*listener);
  return listener_->local();
}

void Boards::enter(Timeline& timeline, Desk& desk, House& house, std::uint32_t first_cpu) {
  timeline_ = &timeline;
  desk_ = &desk;
  house_ = &house;
  first_program_ = static_cast<std::uint32_t>(timeline.programs());
  first_party_ = static_cast<std::uint32_t>(desk.parties());
  for (const TargetSpec& spec : specs_) {
    desk.add({spec.name, spec.robot, spec.times, spec.to, first_cpu++, most_read_at_once});
  }
}

std::uint32_t Boards::slots() const {
  std::uint32_t all = 0;
  for (const TargetSpec& spec : specs_) all += spec.links;
  return all;
}

Boards::Target& Boards::target_of(const Client& client) { return targets_[client.target]; }

const std::string& Boards::name(std::uint32_t program) const {
  return specs_[links_[program - first_program_].target].name;
}

std::vector<std::string> Boards::awaited() const {
  std::vector<std::string> names;
  for (const Target& target : targets_) {
    if (!target.was_there) names.push_back(target.outcome.name);
  }
  return names;
}

/// All first links must have attached, not only knocked.
bool Boards::complete() const {
  return std::all_of(targets_.begin(), targets_.end(), [](const Target& t) { return t.was_there && !t.links.empty(); });
}

void Boards::accept(std::unique_ptr<Stream> stream, const std::string& where) {
  if (clients_.size() >= options_.limits.connections) make_room();
  if (over_ || clients_.size() >= options_.limits.connections) return;  // closes it
  auto client = std::make_unique<Client>();
  Client* c = client.get();
  c->where = where;
  Connection::Setup setup;
  setup.key = options_.key ? &*options_.key : nullptr;
  setup.clock_tolerance = options_.clock_tolerance;
  setup.limits = options_.limits;
  Connection::Events events;
  events.on_hello = [this, c](const std::string& name, wire::Welcome& welcome) { return hello(*c, name, welcome); };
  events.on_attach = [this, c] { attach(*c); };
  events.on_request = [this, c](WallTime arrived) { take_request(*c, arrived); };
  events.on_leave = [this, c] { leave(*c); };
  events.on_closed = [this, c](const std::string& why) { closed(*c, why); };
  client->connection = std::make_unique<Connection>(reactor_, std::move(stream), setup, std::move(events));
  clients_.push_back(std::move(client));
}

/// The oldest connection that has not attached gives way.
void Boards::make_room() {
  const auto oldest = std::ranges::find_if(
      clients_, [](const auto& client) { return client->link == none && !client->connection->closed(); });
  if (oldest != clients_.end()) (*oldest)->connection->refuse("had not said who it is when others came");
  std::erase_if(clients_, [](const auto& client) { return client->connection->closed(); });
}

std::string Boards::hello(Client& client, const std::string& name, wire::Welcome& welcome) {
  std::vector<std::string> known;
  for (const TargetSpec& spec : specs_) known.push_back(spec.name);
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) {
    const std::string hint = nearest_hint(name, known);
    return "there is no target `" + name + "` in the scenario" + (hint.empty() ? "" : "; " + hint);
  }
  client.target = static_cast<std::uint32_t>(found - known.begin());
  Target& target = target_of(client);
  welcome.held = held(specs_[client.target]);
  if (welcome.session == 0) return join_as_new(client, target, welcome.session);
  if (welcome.session != target.session || target.lost) return "this session of `" + name + "` is not known here";
  const auto open = std::count_if(target.links.begin(), target.links.end(),
                                  [this](LinkId link) { return links_[link].state != State::gone; });
  if (open >= specs_[client.target].links) {
    return "more than " + std::to_string(open) + " threads of `" + name + "` talk; the scenario allows no more";
  }
  return "";
}

std::string Boards::join_as_new(Client& client, Target& target, std::uint64_t& session) {
  if (target.session != 0 && !target.lost) {
    client.target = none;
    return "a target named `" + target.outcome.name + "` is here already";
  }
  if (target.ended) {
    client.target = none;
    return "target `" + target.outcome.name + "` has ended in this run";
  }
  target.session = session = random_session(link::system_nonce);
  client.first = true;
  return "";
}

Boards::LinkId Boards::add_link(std::uint32_t which, WallTime now) {
  Target& target = targets_[which];
  const SimTime at = target.links.empty() ? SimTime::zero() : executed(links_[target.links.front()], now);
  const auto id = static_cast<LinkId>(links_.size());
  const std::uint32_t joined = timeline_->join(at, held(specs_[which]));
  ENSURE(joined == program(id), "boards join the timeline after everybody else");
  Link link{.clock = TargetClock(options_.link_cost, options_.clock_tolerance)};
  link.target = which;
  link.number = static_cast<std::uint32_t>(target.links.size());
  link.at = timeline_->program_time(joined);
  const auto free = std::find_if(target.slots.begin(), target.slots.end(),
                                 [this](LinkId owner) { return owner == none || links_[owner].state == State::gone; });
  ENSURE(free != target.slots.end(), "more links than were let in");
  *free = id;
  link.slot = target.first_slot + static_cast<std::uint32_t>(free - target.slots.begin());
  links_.push_back(std::move(link));
  target.links.push_back(id);
  return id;
}

void Boards::attach(Client& client) {
  if (over_ || timeline_ == nullptr) return client.connection->refuse("the run is over");
  Target& target = target_of(client);
  const WallTime now = reactor_.now();
  client.begins = true;
  client.asked = now;
  client.spent = spent_;
  if (client.first && target.lost) {  // it is back: its first link goes on where it stood
    target.lost = false;
    client.link = target.links.front();
    for (const LinkId link : target.links) {
      if (link != client.link) leave(link);
    }
    Link& link = links_[client.link];
    link.at = timeline_->recovered(program(client.link), time_of(client.link));
    link.state = State::held;
    desk_->renew(party(link), link.number);
  } else {
    client.link = add_link(client.target, now);
  }
  Link& link = links_[client.link];
  link.client = &client;
  client.asked_at = executed(link, now);
  link.clock.begin(client.connection->pings());
  link.outcome.ping = client.connection->pings();
  target.was_there = true;
}

WallSpan Boards::on_the_way(const Link& link) const {
  return options_.link_cost == LinkCost::removed ? link.clock.latency().allowance() : WallSpan::zero();
}

/// What is added to ET for a run that took `run` by our clock.
SimSpan Boards::executed_in(Client& client, WallSpan run) {
  Link& link = links_[client.link];
  if (!held(link)) return as_executed(run);
  const wire::Request& request = client.connection->request();
  // Halves: what a target tells may be anything, and must not overflow here.
  const std::int64_t half = request.sent / 2 - request.received / 2;
  std::optional<WallSpan> told;
  if (half < INT64_MAX / 4 && half > INT64_MIN / 4) told = WallSpan::from_ns(request.sent - request.received);
  const SimSpan executed = link.clock.executed(run, told, client.connection->pings(), client.connection->rate());
  if (link.clock.beyond() > WallSpan::zero()) client.connection->measure();  // the link may have become slow
  return std::max(executed, options_.least);
}

/// ET, as far as it is known at `now`.
SimTime Boards::executed(const Link& link, WallTime now) const {
  if (link.state == State::free) {
    const WallSpan half = options_.link_cost == LinkCost::removed ? link.clock.latency().mean() / 2 : WallSpan::zero();
    return link.at + as_executed(std::max(now - link.left - half, WallSpan::zero()));
  }
  return link.waits ? std::min(link.at, timeline_->seen()) : link.at;
}

/// Where the desk may note something of a link: not before what it noted of it already.
SimTime Boards::time_of(LinkId link) const {
  return std::max(timeline_->program_time(program(link)), timeline_->world());
}

void Boards::take_request(Client& client, WallTime arrived) {
  if (over_) {
    reply_.reset();
    reply_.verdict = protocol::Verdict::ended;
    return client.connection->answer(over_at_, reply_);
  }
  if (links_[client.link].state == State::gone) {  // its board came back with another connection
    return client.connection->refuse("belongs to a session that is over");
  }
  ++outcome_.requests;
  Link& link = links_[client.link];
  const WallSpan run = std::max(arrived - link.left, WallSpan::zero());
  const SimSpan executed = executed_in(client, run);
  if (link.clock.wrong() && options_.wrong_clock == WrongClock::fenced) return fence(client);
  const wire::Request& request = client.connection->request();
  const auto ask = static_cast<Ask>(request.ask);
  const SimTime at = timeline_->asked(program(client.link), executed, ask == Ask::read || ask == Ask::receive);
  if (const SimSpan late = at - (link.at + executed); held(link) && late > SimSpan::zero()) {
    ++link.outcome.late;
    link.outcome.late_by += late;
  }
  if (!held(link)) link.outcome.apart.add(request.received, request.sent, link.at, at);
  link.free_for += run;
  link.ran += held(link) ? at - link.at : executed;
  link.state = State::held;
  link.waits = false;
  link.at = client.asked_at = at;
  client.asked = arrived;
  client.spent = spent_;
  client.blamed = none;
  house_->board_at(link.slot, reactor_.now(), at);
}

void Boards::leave(LinkId id) {
  Link& link = links_[id];
  if (link.state == State::gone) return;
  link.state = State::gone;
  timeline_->leave(program(id));
  house_->board_left(link.slot, reactor_.now());
}

void Boards::leave(Client& client) {
  client.said_bye = true;
  if (client.link == none || over_) return;
  Target& target = target_of(client);
  const SimTime at = time_of(client.link);
  cpu_ = timeline_->cpu_of(program(client.link));
  leave(client.link);
  if (!any_link_left(target)) end_target(target, at, "said good-bye at " + to_string(at));
}

bool Boards::any_link_left(const Target& target) const {
  return std::any_of(target.links.begin(), target.links.end(),
                     [this](LinkId link) { return links_[link].state != State::gone; });
}

void Boards::end_target(Target& target, SimTime at, const std::string& how) {
  target.ended = true;
  target.lost = false;
  target.outcome.ended = how;
  desk_->leave(first_party_ + static_cast<std::uint32_t>(&target - targets_.data()), at, how);
  const bool all = std::all_of(targets_.begin(), targets_.end(), [](const Target& t) { return t.ended; });
  if (all && options_.end_with_targets) all_left_ = true;
}

void Boards::closed(Client& client, const std::string& why) {
  if (client.link != none) {
    keep_figures(links_[client.link], *client.connection);
    links_[client.link].client = nullptr;
  }
  if (client.said_bye || over_) return;
  if (client.link == none) {
    ++outcome_.refused;
    if (outcome_.refusals.size() < refusals_kept) {
      outcome_.refusals.push_back(client.where + ": " + why);
    }
    if (client.first && client.target != none && target_of(client).links.empty()) target_of(client).session = 0;
    return;
  }
  lose(client, target_of(client), why);
}

/// A connection that broke without a good-bye.
void Boards::lose(Client& client, Target& target, const std::string& why) {
  const OnLoss on_loss = specs_[client.target].on_loss;
  Link& link = links_[client.link];
  ++target.outcome.losses;
  const SimTime at = time_of(client.link);
  cpu_ = timeline_->cpu_of(program(client.link));
  desk_->fault(party(link), at, "its connection is gone: " + why);
  if (on_loss == OnLoss::pause) {
    if (link.state != State::gone) {
      link.at = executed(link, reactor_.now());
      link.waits = false;
      link.state = State::lost;
      timeline_->lose(program(client.link));
    }
    if (!target.lost) target.lost_at = reactor_.now();
    target.lost = true;
    return;
  }
  leave(client.link);
  if (on_loss == OnLoss::end) return stop(target.outcome.name + " was lost: " + why);
  if (!any_link_left(target)) end_target(target, at, "was lost at " + to_string(at) + ": " + why);
}

/// Its clock is wrong, and who is wrong is not to take part: all of it is shown out, and the others go on.
void Boards::fence(Client& client) {
  Target& target = target_of(client);
  const SimTime at = time_of(client.link);
  const double rate = client.connection->rate().rate();
  const std::string why =
      "its clock is wrong" + (std::abs(rate - 1) > options_.clock_tolerance
                                  ? ": it runs at " + std::to_string(rate).substr(0, 6) + " of the true rate"
                                  : std::string(": it showed an impossible time"));
  cpu_ = timeline_->cpu_of(program(client.link));
  desk_->fault(party(links_[client.link]), at, why);
  end_target(target, at, "was fenced off at " + to_string(at) + ": " + why);
  for (const LinkId id : std::vector<LinkId>(target.links)) {
    leave(id);
    Client* each = links_[id].client;
    if (each == nullptr) continue;
    each->said_bye = true;  // which it did not, but nobody waits for it any more
    each->connection->refuse(why + "; give it a right one, or set `hil: {wrong_clock: charged}`");
  }
}

void Boards::take() {
  const WallTime now = reactor_.now();
  for (int round = 0; round < rounds_most; ++round) {
    if (reactor_.poll(now)) continue;
    safe_ = std::max(safe_, now);
    return;
  }
}

void Boards::wait_for(const Timeline::Event& event, WallTime at_most) {
  const LinkId whom = event.program - first_program_;
  const WallTime begun = reactor_.now();
  const WallTime until = std::min(event.until, at_most);
  if (until <= begun) return take();
  for (const Link& link : links_) {
    if (link.client != nullptr && link.client->link != whom) link.client->blamed = whom;
  }
  const bool came = reactor_.poll(until);
  const WallTime now = reactor_.now();
  if (!came && now >= until) safe_ = std::max(safe_, until);
  spent_.targets += now - begun;
  targets_[links_[whom].target].outcome.world_waited += now - begun;
}

void Boards::message(std::uint32_t party, std::uint32_t link, SimTime at) {
  const LinkId id = targets_[party - first_party_].links[link];
  if (timeline_->receiving(program(id), 0)) timeline_->message(program(id), 0, at);
}

/// A board has its CPU for itself: whether it computes longer or stands still is the same.
bool Boards::meets_trouble(Link& link, const Timeline::Event& event) {
  const std::string& name = specs_[link.target].name;
  const SimSpan more = options_.trouble->take_delay(name, event.at) +
                       std::max(options_.trouble->stopped_until(name, event.at) - event.at, SimSpan::zero());
  if (more > SimSpan::zero()) {
    link.ran += more;
    link.at += more;
    timeline_->executed(event.program, more);
    return true;
  }
  if (!options_.trouble->take_end(name, event.at)) return false;
  for (const LinkId each : std::vector<LinkId>(targets_[link.target].links)) {
    if (links_[each].client != nullptr) links_[each].client->connection->cut("unplugged by a fault");
  }
  return true;
}

void Boards::operate(const Timeline::Event& event) {
  const LinkId id = event.program - first_program_;
  Link& link = links_[id];
  Client* client = link.client;
  ENSURE(client != nullptr, "a link without a connection takes part");
  const bool asks = event.kind == Timeline::Event::Kind::operation;
  cpu_ = timeline_->cpu_of(event.program);
  reply_.reset();
  if (client->begins) {
    client->begins = false;
    if (client->first) desk_->started(party(link), event.at);
  } else if (!asks) {
    desk_->wake(party(link), link.number, event.at, reply_);
  } else {
    if (options_.trouble != nullptr && meets_trouble(link, event)) return;
    const auto later =
        desk_->act(party(link), link.number, event.at, as_request(client->connection->request()), reply_);
    if (later) {
      SimTime until = later->until;
      // Who is not held sees the world as it is: the next step of it at or after that time.
      if (!held(link)) until = std::max(until, timeline_->boundary_after(until));
      link.waits = true;
      link.at = until;
      return timeline_->suspend(event.program, 0, until, later->receiving, false);
    }
    timeline_->resume(event.program);
  }
  let_go(id, event.at);
}

void Boards::let_go(LinkId id, SimTime at) {
  Link& link = links_[id];
  const WallTime now = reactor_.now();
  note_hold(*link.client, at, now);
  link.state = State::free;
  link.waits = false;
  link.at = at;
  link.left = now;
  timeline_->let_go(program(id), now, on_the_way(link));
  house_->board_at(link.slot, now, at);
  link.client->connection->answer(at, reply_);
}

/// What a hold was longer than the simulated time that passed for the target, and what most of it was spent on.
void Boards::note_hold(Client& client, SimTime at, WallTime now) {
  const WallSpan passed = WallSpan::from_ns((at - client.asked_at).ns());
  const WallSpan held = now - client.asked - passed;
  if (held <= WallSpan::zero()) return;
  using Cause = Hold::Cause;
  Hold hold{client.target, links_[client.link].number, client.asked_at, at, held, Cause::host, Hold::nobody};
  TargetOutcome& outcome = target_of(client).outcome;
  const std::pair<Cause, WallSpan> causes[] = {{Cause::world, spent_.world - client.spent.world},
                                               {Cause::target, spent_.targets - client.spent.targets},
                                               {Cause::programs, spent_.programs - client.spent.programs},
                                               {Cause::pace, spent_.pace - client.spent.pace}};
  const auto& most = *std::ranges::max_element(causes, {}, &std::pair<Cause, WallSpan>::second);
  if (most.second > held / 4) hold.cause = most.first;
  if (hold.cause == Cause::target && client.blamed != none) hold.by = links_[client.blamed].target;
  ++outcome.holds;
  outcome.held += held;
  outcome.held_most = std::max(outcome.held_most, held);
  outcome.held_by_world += hold.cause == Cause::world ? held : WallSpan::zero();
  outcome.held_by_targets += hold.cause == Cause::target ? held : WallSpan::zero();
  outcome.held_by_programs += hold.cause == Cause::programs ? held : WallSpan::zero();
  outcome.held_by_pace += hold.cause == Cause::pace ? held : WallSpan::zero();
  if (options_.on_hold) options_.on_hold(hold);
}

void Boards::record_times(WallTime now) {
  for (const Link& link : links_) {
    if (link.state != State::gone) house_->board_at(link.slot, now, executed(link, now));
  }
}

void Boards::house_keeping() {
  const WallTime now = reactor_.now();
  for (std::size_t i = 0; i < clients_.size(); ++i) clients_[i]->connection->check_patience(now);
  std::erase_if(clients_, [](const auto& client) { return client->connection->closed(); });
  if (!over_) look_for_the_missing(now);
  keeper_ = reactor_.call_at(now + keeping_period, [this] { house_keeping(); });
}

void Boards::look_for_the_missing(WallTime now) {
  if (!complete() && now - opened_ > options_.wait_for_targets) {
    std::string names;
    for (const std::string& name : awaited()) names += (names.empty() ? "" : ", ") + name;
    stop("not all targets came within " + format_ns_short(options_.wait_for_targets.ns()) + ": " + names);
  }
  for (const Target& target : targets_) {
    if (!target.lost || now - target.lost_at <= options_.wait_for_return) continue;
    stop(target.outcome.name + " was lost and did not come back within " +
         format_ns_short(options_.wait_for_return.ns()));
  }
}

void Boards::stop(const std::string& why) {
  if (failure_.empty()) failure_ = why;
}

void Boards::end(SimTime at) {
  if (over_) return;
  over_ = true;
  over_at_ = at;
  record_times(reactor_.now());
  for (std::uint32_t i = 0; i < targets_.size(); ++i) targets_[i].outcome.figures = desk_->figures(first_party_ + i);
  reply_.reset();
  reply_.verdict = protocol::Verdict::ended;
  for (Link& link : links_) {
    if (link.client == nullptr) continue;
    keep_figures(link, *link.client->connection);
    if (link.state == State::held) link.client->connection->answer(at, reply_);
    if (link.state == State::free) link.client->connection->answer_in_advance(at, reply_);
  }
}

void Boards::keep_figures(Link& link, const Connection& connection) {
  link.outcome.offset = connection.offset();
  link.outcome.clock_rate = connection.rate().rate();
}

std::vector<std::string> Boards::computing() const {
  std::vector<std::string> names;
  for (const Target& target : targets_) {
    const bool any = std::ranges::any_of(target.links, [this](LinkId id) {
      return links_[id].client != nullptr && links_[id].state == State::free && !links_[id].client->said_bye;
    });
    if (any) names.push_back(target.outcome.name);
  }
  return names;
}

bool Boards::told() const {
  return std::ranges::all_of(clients_, [](const auto& client) { return client->connection->pending() == 0; });
}

BoardsOutcome Boards::outcome() const {
  BoardsOutcome all = outcome_;
  all.waited = spent_.targets;
  for (std::uint32_t i = 0; i < targets_.size(); ++i) {
    TargetOutcome one = targets_[i].outcome;
    for (const LinkId id : targets_[i].links) {
      const Link& link = links_[id];
      one.links.push_back(link.outcome);
      one.links.back().way = link.clock.latency();
      one.links.back().clock_faults = link.clock.faults();
      one.links.back().beyond = link.clock.times_beyond();
      one.links.back().beyond_by = link.clock.beyond_in_all();
      one.executed += link.ran;
      one.free_for += link.free_for;
    }
    all.targets.push_back(std::move(one));
  }
  return all;
}

}  // namespace isochron::programs
