#include "agents/world_map.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace isochron::agents {
namespace {

/// A returning client with the same name may take over after this much silence.
constexpr WallSpan takeover_after = std::chrono::milliseconds(500);
/// Who stalls once comes back at once; who does it again is kept out so much longer than others waited for it. After
/// as long without another it is forgotten.
constexpr int bar_for = 20;
constexpr std::size_t names_remembered = 4096;

SimTime round_up(SimTime t, SimSpan step) {
  const std::int64_t rest = t.ns() % step.ns();
  return rest == 0 ? t : t + SimSpan::from_ns(step.ns() - rest);
}

}  // namespace

WorldMap::WorldMap(const WorldSettings& settings)
    : settings_(settings), grid_(settings.vicinity), minimum_(settings.start) {}
WorldMap::~WorldMap() = default;

std::optional<std::string> WorldMap::refusal(const std::string& name, WallTime now) const {
  if (name.empty() || name.size() > settings_.names) return "a client needs a name of 1 to 120 bytes";
  for (const auto& client : clients_) {
    if (client->name == name && now - client->heard < takeover_after) return "a client named " + name + " is here";
  }
  if (clients_.size() >= settings_.clients) return "the world is full";
  return std::nullopt;
}

Profile& WorldMap::add(Connection connection, const std::string& name, wire::Updates wanted, WallTime now) {
  const auto old =
      std::find_if(clients_.begin(), clients_.end(), [&](const auto& client) { return client->name == name; });
  if (old != clients_.end()) {
    // Who spoke all the while and stood still does not begin afresh by joining anew.
    if (holds_up(**old) && (*old)->heard - (*old)->progressed > settings_.stall / 2) note_stall(**old, now);
    remove((*old)->connection, "it joined anew");
  }
  clients_.push_back(std::make_unique<Profile>());
  Profile& client = *clients_.back();
  client.connection = connection;
  client.name = name;
  client.wanted = wanted != wire::AUTOMATIC ? wanted : settings_.updates;
  client.kind = client.wanted == wire::AUTOMATIC ? wire::WHOLE : client.wanted;
  client.heard = client.progressed = now;
  if (const auto known = misdeeds_.find(name); known != misdeeds_.end()) {
    client.barred_until = known->second.barred_until;
  }
  by_connection_.emplace(connection, &client);
  ++counts_.joined;
  return client;
}

void WorldMap::expect(std::uint32_t clients, SimTime progress, WallTime now, WallSpan limit) {
  if (now < gather_until_) {
    expected_ = std::max(expected_, clients);
    return believe_most(progress);
  }
  if (in_world() > 0 || clients < 2 || gather_until_ != WallTime::before_all()) return;
  // The others are within three heartbeats of this one, on either side.
  claims_.assign(1, progress);
  expected_ = clients;
  floor_ = std::max(settings_.start, progress - 3 * settings_.heartbeat);
  gather_until_ = now + limit;
  minimum_ = std::max(minimum_, floor_);
}

/// Where the clients of a world were whose server is gone is what most of them say: one that claims to have been far
/// ahead does not take the others there, nor does one that had fallen behind take them back.
void WorldMap::believe_most(SimTime progress) {
  claims_.insert(std::lower_bound(claims_.begin(), claims_.end(), progress), progress);
  const SimTime middle = claims_[claims_.size() / 2];
  if (middle < floor_) minimum_ = floor_ = std::max(settings_.start, middle - 3 * settings_.heartbeat);
}

Profile* WorldMap::find(Connection connection) {
  const auto found = by_connection_.find(connection);
  return found == by_connection_.end() ? nullptr : found->second;
}

void WorldMap::remove(Connection connection, const std::string& reason) {
  const auto found = std::find_if(clients_.begin(), clients_.end(),
                                  [&](const auto& client) { return client->connection == connection; });
  if (found == clients_.end()) return;
  for (const std::uint32_t slot : (*found)->agents) {
    if (slot == no_slot) continue;
    hide(slot, reason);
    free_slot(slot);
  }
  by_connection_.erase(connection);
  clients_.erase(found);
  ended_.push_back(connection);
  find_minimum();
}

void WorldMap::free_slot(std::uint32_t slot) {
  Agent& agent = agents_[slot];
  const auto named = by_name_.find(agent.description.name());
  if (named != by_name_.end() && named->second == slot) by_name_.erase(named);
  agent = Agent{};
  free_.push_back(slot);
}

WorldMap::Heard WorldMap::take(Profile& client, wire::RawUp& up, WallTime now) {
  client.heard = now;
  if (client.standing == Standing::pending) client.standing = Standing::outside;
  client.notices.acknowledged(up.acknowledged());
  hear_notices(client, up, now);
  if (up.leaving()) {
    ++counts_.left;
    remove(client.connection, "it left");
    return Heard::left;
  }
  const SimTime progress = SimTime::from_ns(std::clamp<std::int64_t>(up.progress_ns(), 0, limits::longest_ns));
  if (client.in_world() && !within_world(client, progress)) {
    ++counts_.fenced;
    shoot_down(client, "it ran ahead of the world");
    return ++misdeeds_of(client.name, now).lies < 3 ? Heard::fine : Heard::fenced;
  }
  for (wire::RawAgent& entry : *up.mutable_agents()) update(client, entry, now);
  if (progress > client.progress) {
    client.progress = progress;
    client.progressed = now;
  }
  if (up.waiting()) client.asked = true;
  if (client.standing == Standing::outside) try_to_enter(client, now);
  find_minimum();
  settle(now);
  return Heard::fine;
}

/// One in the world may be three heartbeats ahead of the slowest, or where it was let in.
bool WorldMap::within_world(Profile& client, SimTime progress) const {
  return progress <= std::max(minimum_ + 3 * settings_.heartbeat, client.announced_at);
}

void WorldMap::hear_notices(Profile& client, const wire::RawUp& up, WallTime now) {
  for (const wire::UpNotice& notice : up.notices()) {
    if (!client.noticed.take(notice.number())) continue;
    client.asked = true;  // it is told that we have it
    if (notice.has_describe()) describe(client, notice.describe(), now);
    if (notice.what_case() == wire::UpNotice::kWithdraw) withdraw(client, notice.withdraw());
  }
}

void WorldMap::refuse(Profile& client, std::uint32_t agent, const std::string& reason) {
  wire::ShutDown& shut_down = *client.notices.add().mutable_shut_down();
  shut_down.set_connection(client.connection);
  shut_down.set_agent(agent);
  shut_down.set_reason(reason);
}

void WorldMap::describe(Profile& client, const wire::Description& description, WallTime now) {
  const std::uint32_t number = description.agent();
  if (number >= settings_.agents_of_client || agents_.size() - free_.size() >= settings_.agents) {
    return refuse(client, number, "there is no room for more agents");
  }
  if (description.name().empty() || description.name().size() > settings_.names ||
      description.ByteSizeLong() > largest_datagram / 2) {
    return refuse(client, number, "its description is too long, or it has no name");
  }
  if (number < client.agents.size() && client.agents[number] != no_slot) withdraw(client, number);
  if (const auto taken = by_name_.find(description.name()); taken != by_name_.end()) {
    ++counts_.refused_names;
    return refuse(client, number, "an agent named " + description.name() + " is here");
  }
  std::uint32_t slot = static_cast<std::uint32_t>(agents_.size());
  if (free_.empty()) {
    agents_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  if (number >= client.agents.size()) client.agents.resize(number + 1, no_slot);
  client.agents[number] = slot;
  by_name_[description.name()] = slot;
  Agent& agent = agents_[slot];
  agent.key = {client.connection, number};
  agent.client = &client;
  agent.description = description;
  agent.description.set_connection(client.connection);
  agent.description.set_generation(0);
  agent.refreshed = now;
}

void WorldMap::withdraw(Profile& client, std::uint32_t agent) {
  if (agent >= client.agents.size() || client.agents[agent] == no_slot) return;
  const std::uint32_t slot = client.agents[agent];
  hide(slot, "it ended");
  if (!agents_[slot].entry.empty()) --client.with_state;
  free_slot(slot);
  client.agents[agent] = no_slot;
}

void WorldMap::update(Profile& client, wire::RawAgent& entry, WallTime now) {
  const std::uint32_t number = entry.agent();
  if (number >= client.agents.size() || client.agents[number] == no_slot) return;  // not described yet
  const std::uint32_t slot = client.agents[number];
  Agent& agent = agents_[slot];
  if (entry.type() != agent.description.type()) return;
  if (agent.entry.empty()) ++client.with_state;
  if (!agent.alive) revive(agent);
  agent.time = SimTime::from_ns(entry.sim_time_ns());
  agent.x = entry.x();
  agent.y = entry.y();
  agent.reach = entry.reach();
  agent.refreshed = now;
  agent.version = ++version_;
  ++updates_;
  entry.set_generation(agent.description.generation());
  entry.SerializeToString(&agent.entry);
  if (agent.shown) {
    grid_.put(slot, agent.x, agent.y);
  } else if (client.standing == Standing::live) {
    show(slot);
  }
}

void WorldMap::revive(Agent& agent) {
  agent.alive = true;
  agent.description.set_generation(agent.description.generation() + 1);
  agent.description.set_arrival(++arrivals_);
  if (agent.description.generation() > 1) ++counts_.returned;
}

void WorldMap::show(std::uint32_t slot) {
  Agent& agent = agents_[slot];
  agent.shown = true;
  agent.version = ++version_;
  ++shown_;
  ++membership_;
  grid_.put(slot, agent.x, agent.y);
}

void WorldMap::hide(std::uint32_t slot, const std::string& reason) {
  Agent& agent = agents_[slot];
  if (!agent.shown) return;
  agent.shown = false;
  --shown_;
  ++membership_;
  grid_.take_out(slot);
  for (const auto& client : clients_) {
    if (!client->view.has(slot)) continue;
    client->view.round_of[slot] = 0;
    std::erase(client->view.members, slot);
    wire::ShutDown& shut_down = *client->notices.add().mutable_shut_down();
    shut_down.set_connection(agent.key.connection);
    shut_down.set_agent(agent.key.agent);
    shut_down.set_generation(agent.description.generation());
    shut_down.set_reason(reason);
  }
}

void WorldMap::try_to_enter(Profile& client, WallTime now) {
  if (client.with_state == 0 || now < client.barred_until) return;
  const bool empty = in_world() == 0 && gather_until_ == WallTime::before_all();
  if (client.progress < minimum_ && !empty) {
    // Each time it was too late, it is told to begin further ahead, so that it gets in however slow its link is.
    if (client.begin_at == SimTime::before_all() || client.progress >= client.begin_at || minimum_ > client.begin_at) {
      const SimSpan most = 1000 * settings_.heartbeat;
      client.lead = client.lead == SimSpan::zero() ? 4 * settings_.heartbeat : std::min(most, 2 * client.lead);
      client.begin_at = round_up(minimum_ + client.lead, settings_.heartbeat);
      client.asked = true;
      ++counts_.told_to_begin_later;
    }
    return;
  }
  if (empty) minimum_ = client.progress;
  client.standing = Standing::announced;
  client.announced_at = client.progress;
  client.lead = SimSpan::zero();
  client.begin_at = SimTime::before_all();
  client.asked = true;
}

void WorldMap::find_minimum() {
  slowest_ = nullptr;
  for (const auto& client : clients_) {
    if (client->in_world() && (slowest_ == nullptr || client->progress < slowest_->progress)) slowest_ = client.get();
  }
  if (slowest_ == nullptr || gather_until_ != WallTime::before_all()) return;
  minimum_ = std::max(minimum_, slowest_->progress);
}

void WorldMap::settle(WallTime now) {
  if (gather_until_ != WallTime::before_all() && (in_world() >= expected_ || now >= gather_until_)) {
    gather_until_ = WallTime::before_all();
    find_minimum();
  }
  for (const auto& client : clients_) {
    if (client->standing != Standing::announced || client->announced_at > minimum_ + 3 * settings_.heartbeat) continue;
    client->standing = Standing::live;
    client->asked = true;
    for (const std::uint32_t slot : client->agents) {
      if (slot != no_slot && agents_[slot].alive && !agents_[slot].shown) show(slot);
    }
  }
}

Misdeeds& WorldMap::misdeeds_of(const std::string& name, WallTime now) {
  const WallSpan memory = 2 * bar_for * settings_.stall;
  if (misdeeds_.size() >= names_remembered) misdeeds_.clear();  // somebody makes up names: those are no use then
  Misdeeds& known = misdeeds_[name];
  if (known.last != WallTime::before_all() && now - known.last > memory) known = {};
  known.last = now;
  return known;
}

void WorldMap::note_stall(Profile& client, WallTime now) {
  ++counts_.stalled;
  Misdeeds& known = misdeeds_of(client.name, now);
  if (known.stalls++ > 0) known.barred_until = client.barred_until = now + bar_for * settings_.stall;
}

void WorldMap::shoot_down(Profile& client, const std::string& reason) {
  for (const std::uint32_t slot : client.agents) {
    if (slot == no_slot) continue;
    hide(slot, reason);
    agents_[slot].alive = false;
  }
  client.standing = Standing::outside;
  client.outside_because = reason;
  client.begin_at = SimTime::before_all();
  client.asked = true;
  ++counts_.shot_down;
  find_minimum();
}

void WorldMap::scan(WallTime now) {
  for (const auto& client : clients_) {
    if (!client->in_world()) continue;
    if (now - client->heard > settings_.silence) {
      shoot_down(*client, "it was silent");
    } else if (holds_up(*client) && now - client->progressed > settings_.stall) {
      note_stall(*client, now);
      shoot_down(*client, "it stood still");
    }
  }
  for (std::uint32_t slot = 0; slot < agents_.size(); ++slot) {
    Agent& agent = agents_[slot];
    if (agent.client == nullptr || !agent.alive || now - agent.refreshed <= settings_.silence) continue;
    hide(slot, "it was silent");
    agent.alive = false;
    ++counts_.shot_down;
  }
  std::vector<Connection> ended;  // never came, or silent for long: their names are free again
  for (const auto& client : clients_) {
    if (!client->in_world() && now - client->heard > 4 * settings_.silence) ended.push_back(client->connection);
  }
  for (const Connection connection : ended) remove(connection, "it was silent");
  find_minimum();
  settle(now);
  if (scanned_ != WallTime::before_all() && now > scanned_) {
    const double rate = static_cast<double>(updates_ - scanned_updates_) / (now - scanned_).seconds() /
                        static_cast<double>(std::max<std::size_t>(1, shown_));
    for (const auto& client : clients_) choose_kind(*client, rate);
  }
  scanned_ = now;
  scanned_updates_ = updates_;
}

void WorldMap::choose_kind(Profile& client, double updates_per_agent) {
  if (client.wanted != wire::AUTOMATIC) return;
  const wire::Updates before = client.kind;
  if (updates_per_agent < 2 && shown_ > 0) {
    client.kind = wire::SINGLE;
  } else if (shown_ <= 32) {
    client.kind = wire::WHOLE;
  } else {
    // Who would see most of the world anyway is spared the search.
    const double share = static_cast<double>(count_near(client)) / static_cast<double>(shown_);
    client.kind = share > (before == wire::WHOLE ? 0.6 : 0.8) ? wire::WHOLE : wire::VICINITY;
  }
  if (client.kind != before) client.view.membership = 0;
}

std::size_t WorldMap::count_near(const Profile& client) {
  counted_.assign(agents_.size(), 0);
  std::size_t count = 0;
  for (const std::uint32_t own : client.agents) {
    if (own == no_slot || agents_[own].entry.empty()) continue;
    grid_.near(agents_[own].x, agents_[own].y, reach_of(agents_[own]), [&](std::uint32_t slot, double) {
      if (std::exchange(counted_[slot], 1) == 0) ++count;
    });
  }
  return count;
}

double WorldMap::reach_of(const Agent& agent) const {
  return agent.reach > 0 ? std::min<double>(agent.reach, 8 * settings_.vicinity) : settings_.vicinity;
}

void WorldMap::snapshot(Profile& client, wire::WorldInfo& info) {
  View& view = client.view;
  view.round = 1;
  view.round_of.assign(agents_.size(), 0);
  view.membership = membership_;
  for_each_shown([&](std::uint32_t slot, const Agent& agent) {
    wire::Snapshot& one = *info.add_agents();
    *one.mutable_description() = agent.description;
    one.mutable_state()->ParseFromString(agent.entry);
    view.members.push_back(slot);
    view.round_of[slot] = 1;
  });
  client.sent_through = version_;
}

std::size_t WorldMap::in_world() const {
  return static_cast<std::size_t>(
      std::count_if(clients_.begin(), clients_.end(), [](const auto& client) { return client->in_world(); }));
}

void WorldMap::want(Profile& client, std::uint32_t slot) {
  View& view = client.view;
  if (agents_[slot].client == &client) return;
  if (slot >= view.round_of.size()) view.round_of.resize(agents_.size(), 0);
  if (view.round_of[slot] == 0) {
    view.members.push_back(slot);
    view.fresh.push_back(slot);
    *client.notices.add().mutable_enter() = agents_[slot].description;
  }
  view.round_of[slot] = view.round;
}

void WorldMap::want_near(Profile& client, const Agent& own) {
  const double reach = reach_of(own);
  grid_.near(own.x, own.y, 1.2 * reach, [&](std::uint32_t slot, double squared) {
    if (squared <= reach * reach || client.view.has(slot)) want(client, slot);
  });
}

void WorldMap::refresh_view(Profile& client) {
  View& view = client.view;
  const bool near_only = client.kind == wire::VICINITY && client.with_state > 0;
  if (!near_only && view.membership == membership_) return;
  view.membership = membership_;
  ++view.round;
  if (near_only) {
    for (const std::uint32_t slot : client.agents) {
      if (slot != no_slot && !agents_[slot].entry.empty()) want_near(client, agents_[slot]);
    }
  } else {
    for_each_shown([&](std::uint32_t slot, const Agent&) { want(client, slot); });
  }
  std::erase_if(view.members, [&](std::uint32_t slot) {
    if (view.round_of[slot] == view.round) return false;
    view.round_of[slot] = 0;
    wire::Leave& leave = *client.notices.add().mutable_leave();
    leave.set_connection(agents_[slot].key.connection);
    leave.set_agent(agents_[slot].key.agent);
    leave.set_generation(agents_[slot].description.generation());
    return true;
  });
}

}  // namespace isochron::agents
