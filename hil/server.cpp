#include "hil/server.hpp"

#include <algorithm>
#include <cstring>

#include "core/nearest_name.hpp"
#include "core/time_text.hpp"

namespace isochron::hil {
namespace {

using namespace std::chrono_literals;
using Kind = Sync::Event::Kind;

constexpr WallSpan keeping_period = 250ms;
constexpr WallSpan longest_pump = 5ms;  // then others may have the reactor
constexpr std::size_t refusals_kept = 20;

std::uint64_t random_session(const link::NonceSource& nonces) {
  const link::Nonce nonce = nonces();
  std::uint64_t session = 0;
  std::memcpy(&session, nonce.data(), sizeof session);
  return session == 0 ? 1 : session;
}

}  // namespace

struct Server::Client {
  std::unique_ptr<Connection> connection;
  std::uint32_t target = nothing;
  LinkId link = no_link;
  bool first = false;   // of its target
  bool begins = false;  // attached, and not let go yet
  bool said_bye = false;
  WallTime asked;  // the request in hand came
  SimTime asked_at;
  // What the causes of holds had come to then.
  WallSpan world, waited, paced;
  LinkId blamed = no_link;
};

Server::Server(Reactor& reactor, Plant& plant, std::vector<TargetSpec> targets, const ServerOptions& options,
               Observer& observer)
    : reactor_(reactor),
      plant_(plant),
      options_(options),
      observer_(observer),
      sync_(options.sync),
      desk_(plant, std::move(targets), observer, [this](LinkId link, SimTime at) { sync_.message(link, at); }),
      targets_(desk_.targets().size()),
      safe_(reactor.now()),
      opened_(safe_) {
  for (std::size_t i = 0; i < targets_.size(); ++i) targets_[i].outcome.name = desk_.targets()[i].name;
  keeper_ = reactor_.call_at(opened_ + keeping_period, [this] { house_keeping(); });
}

Server::~Server() {
  *alive_ = false;
  reactor_.cancel(keeper_);
  reactor_.cancel(timer_);
}

Result<Address, NetError> Server::listen(const Address& at) {
  auto listener = reactor_.listen(at, [this](std::unique_ptr<Stream> stream) { accept(std::move(stream)); });
  if (!listener.ok()) return fail(listener.error());
  listener_ = std::move(*listener);
  return listener_->local();
}

Server::Target& Server::target_of(const Client& client) { return targets_[client.target]; }

std::vector<std::string> Server::awaited() const {
  std::vector<std::string> names;
  for (const Target& target : targets_) {
    if (!target.was_there) names.push_back(target.outcome.name);
  }
  return names;
}

void Server::accept(std::unique_ptr<Stream> stream) {
  if (clients_.size() >= options_.limits.connections) make_room();
  if (over_ || clients_.size() >= options_.limits.connections) return;  // closes it
  auto client = std::make_unique<Client>();
  Client* c = client.get();
  Connection::Setup setup;
  setup.key = options_.key ? &*options_.key : nullptr;
  setup.held = options_.sync.held;
  setup.limits = options_.limits;
  Connection::Events events;
  events.on_hello = [this, c](const std::string& name, std::uint64_t& session) { return hello(*c, name, session); };
  events.on_attach = [this, c] { attach(*c); };
  events.on_request = [this, c](WallTime arrived) { take_request(*c, arrived); };
  events.on_leave = [this, c] { leave(*c); };
  events.on_closed = [this, c](const std::string& why) { closed(*c, why); };
  client->connection = std::make_unique<Connection>(reactor_, std::move(stream), setup, std::move(events));
  clients_.push_back(std::move(client));
}

/// The oldest connection that has not attached gives way.
void Server::make_room() {
  const auto oldest = std::ranges::find_if(
      clients_, [](const auto& client) { return client->link == no_link && !client->connection->closed(); });
  if (oldest != clients_.end()) (*oldest)->connection->refuse("had not said who it is when others came");
  std::erase_if(clients_, [](const auto& client) { return client->connection->closed(); });
}

std::string Server::hello(Client& client, const std::string& name, std::uint64_t& session) {
  std::vector<std::string> known;
  for (const TargetSpec& spec : desk_.targets()) known.push_back(spec.name);
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) {
    const std::string hint = nearest_hint(name, known);
    return "there is no target `" + name + "` in the scenario" + (hint.empty() ? "" : "; " + hint);
  }
  client.target = static_cast<std::uint32_t>(found - known.begin());
  Target& target = target_of(client);
  if (session == 0) return join_as_new(client, target, session);
  if (session != target.session || target.lost) return "this session of `" + name + "` is not known here";
  const auto open = std::count_if(target.links.begin(), target.links.end(),
                                  [this](LinkId link) { return sync_.state(link) != Sync::State::gone; });
  if (open >= desk_.targets()[client.target].links) {
    return "more than " + std::to_string(open) + " threads of `" + name + "` talk; the scenario allows no more";
  }
  return "";
}

std::string Server::join_as_new(Client& client, Target& target, std::uint64_t& session) {
  if (target.session != 0 && !target.lost) {
    client.target = nothing;
    return "a target named `" + target.outcome.name + "` is here already";
  }
  if (target.ended) {
    client.target = nothing;
    return "target `" + target.outcome.name + "` has ended in this run";
  }
  target.session = session = random_session(link::system_nonce);
  client.first = true;
  return "";
}

void Server::attach(Client& client) {
  if (over_) return client.connection->refuse("the run is over");
  Target& target = target_of(client);
  const WallTime now = reactor_.now();
  client.begins = true;
  client.asked = now;
  if (client.first && target.lost) {  // it is back: its first link goes on where it stood
    target.lost = false;
    client.link = target.links.front();
    for (const LinkId link : target.links) {
      if (link != client.link) sync_.leave(link);
    }
    sync_.resume(client.link);
    desk_.close(client.link);
  } else {
    const SimTime at = target.links.empty() ? SimTime::zero() : sync_.executed(target.links.front(), now);
    client.link = sync_.join(client.target * 1000 + static_cast<std::uint32_t>(target.links.size()), at);
    target.links.push_back(client.link);
    by_link_.push_back(nullptr);
    link_target_.push_back(client.target);
    link_outcomes_.emplace_back();
  }
  by_link_[client.link] = &client;
  desk_.open(client.link, client.target);
  client.asked_at = sync_.executed(client.link, now);
  LatencyMeter& meter = sync_.latency(client.link);
  if (meter.count() == 0) meter = client.connection->pings();
  link_outcomes_[client.link].ping = client.connection->pings();
  target.was_there = true;
  begin_if_complete();
  pump(safe_);
}

void Server::begin_if_complete() {
  if (sync_.started() || !awaited().empty()) return;
  // All first links must have attached, not only knocked.
  for (const Target& target : targets_) {
    if (target.links.empty()) return;
  }
  outcome_.began = reactor_.now();
  sync_.start(outcome_.began);
}

void Server::take_request(Client& client, WallTime arrived) {
  if (over_) {
    reply_.reset();
    reply_.verdict = protocol::Verdict::ended;
    return client.connection->answer(sync_.front(), reply_);
  }
  const wire::Request& request = client.connection->request();
  ++outcome_.requests;
  settle_wait();  // until now the world waited; what comes is this target's hold
  // Halves: what a target tells may be anything, and must not overflow here.
  const bool sane = request.sent / 2 - request.received / 2 < INT64_MAX / 4 &&
                    request.sent / 2 - request.received / 2 > INT64_MIN / 4;
  const std::optional<WallSpan> told =
      sane ? std::optional(WallSpan::from_ns(request.sent - request.received)) : std::nullopt;
  client.asked = arrived;
  client.asked_at = sync_.asked(client.link, arrived, told ? told : std::optional(WallSpan::from_ns(-1)));
  client.world = in_world_;
  client.waited = waited_;
  client.paced = paced_;
  client.blamed = no_link;
  observer_.target_at(client.link, client.target, reactor_.now(), client.asked_at);
  pump(safe_);
}

void Server::leave(Client& client) {
  client.said_bye = true;
  if (client.link == no_link) return;
  Target& target = target_of(client);
  sync_.leave(client.link);
  observer_.target_left(client.link, client.target, reactor_.now());
  if (!any_link_left(target)) end_target(target, "said good-bye at " + to_string(sync_.front()));
  pump_soon();
}

bool Server::any_link_left(const Target& target) const {
  return std::any_of(target.links.begin(), target.links.end(),
                     [this](LinkId link) { return sync_.state(link) != Sync::State::gone; });
}

void Server::end_target(Target& target, const std::string& how) {
  target.ended = true;
  target.lost = false;
  target.outcome.ended = how;
  desk_.ended(static_cast<std::uint32_t>(&target - targets_.data()), sync_.front(), how);
  const bool all = std::all_of(targets_.begin(), targets_.end(), [](const Target& t) { return t.ended; });
  if (all && options_.end_with_targets && sync_.started()) {
    outcome_.targets_done = true;
    finish(true, "");
  }
}

void Server::closed(Client& client, const std::string& why) {
  if (client.link != no_link) {
    link_outcomes_[client.link].offset = client.connection->offset();
    desk_.close(client.link);
    by_link_[client.link] = nullptr;
  }
  if (client.said_bye || over_) return;
  if (client.link == no_link) {
    ++outcome_.refused;
    if (outcome_.refusals.size() < refusals_kept) {
      outcome_.refusals.push_back(to_string(client.connection->peer()) + ": " + why);
    }
    if (client.first && client.target != nothing && target_of(client).links.empty()) target_of(client).session = 0;
    return;
  }
  lose(client, target_of(client), why);
  pump_soon();
}

/// A connection that broke without a good-bye.
void Server::lose(Client& client, Target& target, const std::string& why) {
  const OnLoss on_loss = desk_.targets()[client.target].on_loss;
  ++target.outcome.losses;
  desk_.fault(client.target, sync_.front(), "its connection is gone: " + why);
  if (on_loss == OnLoss::pause) {
    if (sync_.state(client.link) != Sync::State::gone) sync_.pause(client.link, reactor_.now());
    if (!target.lost) target.lost_at = reactor_.now();
    target.lost = true;
    return;
  }
  sync_.leave(client.link);
  observer_.target_left(client.link, client.target, reactor_.now());
  if (on_loss == OnLoss::end) return finish(false, target.outcome.name + " was lost: " + why);
  if (!any_link_left(target)) end_target(target, "was lost at " + to_string(sync_.front()) + ": " + why);
}

/// In the round after the next one: by then every request that is here now was told.
void Server::pump_soon() {
  if (pump_posted_ || over_) return;
  pump_posted_ = true;
  reactor_.post([this, alive = alive_] {
    if (!*alive) return;
    const WallTime now = reactor_.now();
    reactor_.post([this, alive, now] {
      if (!*alive) return;
      pump_posted_ = false;
      pump(now);
    });
  });
}

void Server::pump(WallTime safe) {
  if (pumping_ || over_) return;
  pumping_ = true;
  safe_ = std::max(safe_, safe);
  settle_wait();
  const WallTime begun = reactor_.now();
  while (!over_) {
    const Sync::Event event = sync_.next(safe_);
    if (event.kind == Kind::finished) {
      finish(true, "");
    } else if (event.kind == Kind::wait) {
      wait(event);
      break;
    } else if (!perform(event)) {
      break;
    }
    if (reactor_.now() - begun > longest_pump) {
      pump_soon();
      break;
    }
  }
  pumping_ = false;
}

bool Server::perform(const Sync::Event& event) {
  if (event.kind == Kind::step) return step(event.at);
  operate(event);
  return true;
}

bool Server::step(SimTime to) {
  const WallTime before = reactor_.now();
  desk_.before_step(sync_.world());
  const auto advanced = plant_.advance_to(to);
  const WallTime after = reactor_.now();
  in_world_ += after - before;
  if (!advanced.ok()) {
    finish(false, "the world: " + advanced.error());
    return false;
  }
  sync_.stepped();
  ++outcome_.steps;
  record_times(after);
  return true;
}

void Server::record_times(WallTime now) {
  observer_.world_at(now, sync_.world());
  for (LinkId link = 0; link < by_link_.size(); ++link) {
    if (sync_.state(link) != Sync::State::gone)
      observer_.target_at(link, index_of(link), now, sync_.executed(link, now));
  }
}

void Server::operate(const Sync::Event& event) {
  Client* client = by_link_[event.link];
  ENSURE(client != nullptr, "a link without a connection takes part");
  if (options_.delay && event.kind == Kind::operation && !client->begins) {
    const SimSpan more = options_.delay(desk_.targets()[client->target].name);
    if (more > SimSpan::zero()) return sync_.delay(event.link, more);
  }
  if (client->begins) {
    client->begins = false;
    if (client->first) desk_.started(client->target, event.at);
    reply_.reset();
  } else if (event.kind == Kind::wake) {
    desk_.wake(event.link, event.at, reply_);
  } else if (const auto later = desk_.act(event.link, event.at, client->connection->request(), reply_)) {
    return sync_.suspend(event.link, later->until, later->receiving);
  }
  let_go(*client, event.at);
}

void Server::let_go(Client& client, SimTime at) {
  const WallTime now = reactor_.now();
  note_hold(client, at, now);
  sync_.answered(client.link, now);
  observer_.target_at(client.link, client.target, now, at);
  client.connection->answer(at, reply_);
}

/// What a hold was longer than the simulated time that passed for the target, and what most of it was spent on.
void Server::note_hold(Client& client, SimTime at, WallTime now) {
  const WallSpan passed = WallSpan::from_ns((at - client.asked_at).ns());
  const WallSpan held = now - client.asked - passed;
  if (held <= WallSpan::zero()) return;
  Hold hold{client.target, 0, client.asked_at, at, held, Hold::Cause::host, nothing};
  Target& target = target_of(client);
  hold.link = static_cast<std::uint32_t>(std::find(target.links.begin(), target.links.end(), client.link) -
                                         target.links.begin());
  const WallSpan world = in_world_ - client.world, others = waited_ - client.waited, pace = paced_ - client.paced;
  if (std::max({world, others, pace}) > held / 4) {
    hold.cause = world >= others && world >= pace ? Hold::Cause::world
                 : others >= pace                 ? Hold::Cause::target
                                                  : Hold::Cause::pace;
  }
  if (hold.cause == Hold::Cause::target && client.blamed != no_link) hold.by = index_of(client.blamed);
  TargetOutcome& outcome = target.outcome;
  ++outcome.holds;
  outcome.held += held;
  outcome.held_most = std::max(outcome.held_most, held);
  outcome.held_by_world += hold.cause == Hold::Cause::world ? held : WallSpan::zero();
  outcome.held_by_targets += hold.cause == Hold::Cause::target ? held : WallSpan::zero();
  outcome.held_by_pace += hold.cause == Hold::Cause::pace ? held : WallSpan::zero();
  observer_.held(hold);
}

void Server::wait(const Sync::Event& event) {
  waiting_ = sync_.started();
  waiting_since_ = reactor_.now();
  waits_for_ = event.link;
  waits_for_pace_ = event.link == no_link;
  for (Client* client : by_link_) {
    if (client != nullptr && client->link != event.link) client->blamed = event.link;
  }
  if (timer_set_) reactor_.cancel(timer_);
  timer_set_ = event.until != WallTime::never();
  if (!timer_set_) return;
  if (event.until <= waiting_since_) {
    timer_set_ = false;
    return pump_soon();
  }
  timer_ = reactor_.call_at(event.until, [this] {
    timer_set_ = false;
    pump_soon();
  });
}

void Server::settle_wait() {
  if (!std::exchange(waiting_, false)) return;
  const WallSpan span = reactor_.now() - waiting_since_;
  if (waits_for_pace_) {
    paced_ += span;
  } else {
    waited_ += span;
    targets_[index_of(waits_for_)].outcome.world_waited += span;
  }
}

void Server::house_keeping() {
  const WallTime now = reactor_.now();
  if (waiting_ && !waits_for_pace_ && now - waiting_since_ > options_.stall_after && stall_told_ != sync_.front()) {
    stall_told_ = sync_.front();
    if (options_.on_stall) options_.on_stall(targets_[index_of(waits_for_)].outcome.name, sync_.world());
  }
  for (std::size_t i = 0; i < clients_.size(); ++i) clients_[i]->connection->check_patience(now);
  std::erase_if(clients_, [](const auto& client) { return client->connection->closed(); });
  if (!over_ && !sync_.started() && now - opened_ > options_.wait_for_targets) {
    std::string names;
    for (const std::string& name : awaited()) names += (names.empty() ? "" : ", ") + name;
    finish(false, "not all targets came within " + format_ns_short(options_.wait_for_targets.ns()) + ": " + names);
  }
  for (Target& target : targets_) {
    if (over_ || !target.lost || now - target.lost_at <= options_.wait_for_return) continue;
    finish(false, target.outcome.name + " was lost and did not come back within " +
                      format_ns_short(options_.wait_for_return.ns()));
  }
  keeper_ = reactor_.call_at(now + keeping_period, [this] { house_keeping(); });
}

void Server::stop(const std::string& why) { finish(why.empty(), why); }

void Server::finish(bool completed, const std::string& why) {
  if (over_) return;
  settle_wait();
  over_ = true;
  outcome_.completed = completed;
  outcome_.why = why;
  record_times(reactor_.now());
  reply_.reset();
  reply_.verdict = protocol::Verdict::ended;
  for (LinkId link = 0; link < by_link_.size(); ++link) {
    Client* client = by_link_[link];
    if (client == nullptr) continue;
    link_outcomes_[link].offset = client->connection->offset();
    const Sync::State state = sync_.state(link);
    if (state == Sync::State::asking || state == Sync::State::waiting)
      client->connection->answer(sync_.front(), reply_);
  }
  if (on_over) on_over();
}

Outcome Server::outcome() const {
  Outcome all = outcome_;
  all.reached = sync_.world();
  all.in_world = in_world_;
  all.waited = waited_;
  all.paced = paced_;
  for (std::uint32_t i = 0; i < targets_.size(); ++i) {
    TargetOutcome one = targets_[i].outcome;
    one.figures = desk_.figures(i);
    for (const LinkId link : targets_[i].links) {
      LinkOutcome outcome = link_outcomes_[link];
      outcome.way = sync_.latency(link);
      outcome.late = sync_.late(link);
      outcome.late_by = sync_.late_by(link);
      outcome.clock_faults = sync_.clock_faults(link);
      one.executed += sync_.ran(link);
      one.free_for += sync_.free_for(link);
      one.links.push_back(outcome);
    }
    all.targets.push_back(std::move(one));
  }
  return all;
}

}  // namespace isochron::hil
