#include "agents/state_cache.hpp"

#include <algorithm>

#include "core/input_error.hpp"

namespace isochron::agents {
namespace {

constexpr std::size_t stamps_kept = 4;
constexpr std::size_t largest_description = 500, largest_state = 900;  // so that each fits a datagram
constexpr WallSpan repeat_notices = std::chrono::milliseconds(20);

}  // namespace

StateCache::StateCache(SimSpan heartbeat) : heartbeat_(heartbeat) {}

std::uint32_t StateCache::add(const std::string& name, const Any& what, const std::string& state_type_url,
                              double reach) {
  if (name.empty() || name.size() + what.ByteSizeLong() > largest_description) {
    throw InputError({"agent " + name.substr(0, 80), 0, 0}, "needs a name, and a description of at most 500 bytes");
  }
  const auto agent = static_cast<std::uint32_t>(own_.size());
  own_.emplace_back();
  Own& own = own_.back();
  own.name = name;
  own.what = what;
  own.type = type_number(state_type_url);
  own.reach = static_cast<float>(reach);
  if (connected_) describe(agent);
  return agent;
}

void StateCache::describe(std::uint32_t agent) {
  const Own& own = own_[agent];
  wire::Description& description = *notices_.add().mutable_describe();
  description.set_connection(connection_);
  description.set_agent(agent);
  description.set_name(own.name);
  description.set_type(own.type);
  *description.mutable_what() = own.what;
  news_ = true;
}

void StateCache::withdraw(std::uint32_t agent) {
  own_[agent].withdrawn = true;
  own_[agent].has_state = false;
  if (connected_) notices_.add().set_withdraw(agent);
  news_ = true;
}

/// Its newest state, new but for the state itself.
wire::AgentMessage& StateCache::renewed(std::uint32_t agent, SimTime t, const Vec3& position) {
  Own& own = own_[agent];
  ENSURE(!own.withdrawn, "an agent that ended has no state");
  own.newest.set_agent(agent);
  own.newest.set_sim_time_ns(t.ns());
  own.newest.set_x(static_cast<float>(position[0]));
  own.newest.set_y(static_cast<float>(position[1]));
  own.newest.set_z(static_cast<float>(position[2]));
  own.newest.set_reach(own.reach);
  own.newest.set_type(own.type);
  own.has_state = true;
  own.sent = false;
  news_ = true;
  return own.newest;
}

void StateCache::publish(std::uint32_t agent, SimTime t, const Vec3& position, const Any& state) {
  if (state.ByteSizeLong() > largest_state) {
    throw InputError({"agent " + own_[agent].name, 0, 0}, "has a state of over 900 bytes, which fits no datagram");
  }
  *renewed(agent, t, position).mutable_state() = state;
}

void StateCache::publish(std::uint32_t agent, SimTime t, const BodyState& body) {
  Any& state = *renewed(agent, t, body.position).mutable_state();
  state.set_type_url(body_type_url());
  write_body(body, *state.mutable_value());
}

void StateCache::reached(SimTime t) {
  progress_ = std::max(progress_, t);
  news_ = true;
}

bool StateCache::may_pass(SimTime t) const {
  return inside_ && LeadGate(table_, 2 * heartbeat_).admit(self, t).admitted();
}

std::optional<SimTime> StateCache::begin_at() const {
  if (inside_ || begin_at_ == SimTime::before_all() || begin_at_ <= progress_) return std::nullopt;
  return begin_at_;
}

const Outsider* StateCache::find(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

std::optional<Sample> StateCache::at(const std::string& name, SimTime t) const {
  const Outsider* agent = find(name);
  if (agent == nullptr || agent->states.empty()) return std::nullopt;
  return at(*agent, t);
}

Sample StateCache::at(const Outsider& agent, SimTime t) const {
  const auto& states = agent.states;
  // The first state later than t, and the one before it.
  const auto after = std::find_if(states.begin(), states.end(), [t](const auto& s) { return s.time > t; });
  const auto& held = after == states.begin() ? *after : *std::prev(after);
  Sample sample{held.body, &held.state, held.time, t - held.time, false};
  if (!held.body || held.time == t) return sample;
  if (after == states.end() || after == states.begin() || !after->body) {
    sample.body = extrapolate(*held.body, t - held.time);
    sample.extrapolated = true;
  } else {
    sample.body = interpolate(*held.body, held.time, *after->body, after->time, t);
    sample.stamp = after->time;
    sample.age = t - after->time;
  }
  return sample;
}

void StateCache::joined(Connection connection, const wire::WorldInfo& world) {
  connection_ = connection;
  connected_ = true;
  inside_ = false;
  begin_at_ = SimTime::before_all();
  tick_ = 0;
  told_progress_ = progress_;
  epoch_ = world.epoch();
  heartbeat_ = SimSpan::from_ns(world.heartbeat_ns());
  // The connection is new: whoever is there is said again.
  outsiders_.clear();
  names_.clear();
  notices_ = {};
  noticed_ = {};
  for (std::uint32_t agent = 0; agent < own_.size(); ++agent) {
    own_[agent].sent = false;
    if (!own_[agent].withdrawn) describe(agent);
  }
  for (const wire::Snapshot& one : world.agents()) {
    enter(one.description());
    wire::AgentMessage state = one.state();
    update(state);
  }
}

void StateCache::lost() {
  connected_ = false;
  inside_ = false;
  begin_at_ = SimTime::before_all();
}

void StateCache::take(wire::Down& down) {
  if (down.tick() > tick_) {
    if (tick_ != 0 && down.tick() > tick_ + 1) ++counts_.gaps;
    tick_ = down.tick();
    inside_ = !down.outside();
    begin_at_ = SimTime::from_ns(down.begin_at_ns());
    clients_ = down.clients();
    if (!down.slowest().empty()) slowest_ = down.slowest();
    const SimTime minimum = SimTime::from_ns(down.minimum_ns());
    if (minimum < table_.at(others)) table_ = ProgressTable(2, minimum);  // another world, or one that was empty
    table_.reached(others, minimum);
  }
  notices_.acknowledged(down.acknowledged());
  for (const wire::DownNotice& notice : down.notices()) {
    if (noticed_.take(notice.number())) take_notice(notice);
  }
  for (wire::AgentMessage& message : *down.mutable_agents()) update(message);
}

void StateCache::take_notice(const wire::DownNotice& notice) {
  news_ = true;  // it is acknowledged
  switch (notice.what_case()) {
    case wire::DownNotice::kEnter:
      return enter(notice.enter());
    case wire::DownNotice::kShutDown: {
      const wire::ShutDown& gone = notice.shut_down();
      if (gone.connection() == connection_ && gone.agent() < own_.size()) {
        refused_[own_[gone.agent()].name] = gone.reason();
        return;
      }
      ++counts_.shut_down;
      return forget({gone.connection(), gone.agent()}, gone.generation());
    }
    case wire::DownNotice::kLeave:
      ++counts_.left_view;
      return forget({notice.leave().connection(), notice.leave().agent()}, notice.leave().generation());
    case wire::DownNotice::WHAT_NOT_SET:
      return;
  }
}

void StateCache::enter(const wire::Description& description) {
  const AgentKey key{description.connection(), description.agent()};
  if (const auto named = names_.find(description.name()); named != names_.end() && named->second->key != key) {
    // Two of one name: the later arrival is meant, and the other's end is on its way to us.
    if (named->second->arrival > description.arrival()) return;
    const AgentKey former = named->second->key;
    names_.erase(named);
    outsiders_.erase(former);
  }
  if (const auto old = outsiders_.find(key); old != outsiders_.end()) names_.erase(old->second.name);
  Outsider& agent = outsiders_[key];
  names_[description.name()] = &agent;
  agent = {key, description.generation(), description.arrival(), description.name(), description.what(), {}};
  ++counts_.entered;
}

void StateCache::forget(const AgentKey& key, std::uint32_t generation) {
  const auto found = outsiders_.find(key);
  if (found == outsiders_.end() || found->second.generation > generation) return;
  names_.erase(found->second.name);
  outsiders_.erase(found);
}

void StateCache::update(wire::AgentMessage& message) {
  const auto found = outsiders_.find({message.connection(), message.agent()});
  if (found == outsiders_.end() || found->second.generation != message.generation()) {
    ++counts_.unknown;
    return;
  }
  auto& states = found->second.states;
  const SimTime time = SimTime::from_ns(message.sim_time_ns());
  if (!states.empty() && std::pair(time, message.sequence()) <= std::pair(states.back().time, states.back().sequence)) {
    ++counts_.stale;
    return;
  }
  Outsider::Stamped next;
  if (!states.empty() && states.back().time == time) {
    next = std::move(states.back());
    states.pop_back();
  } else if (states.size() >= stamps_kept) {
    next = std::move(states.front());  // its memory serves again
    states.pop_front();
  }
  next.time = time;
  next.sequence = message.sequence();
  next.state.Swap(message.mutable_state());
  next.body = body_of(next.state);
  states.push_back(std::move(next));
  ++counts_.updates;
}

void StateCache::begin_packing(const Packing& how) {
  packing_ = how;
  packed_ = 0;
  first_packet_ = true;
  news_ = false;
}

bool StateCache::pack(wire::Up& up, std::size_t room) {
  up.Clear();
  up.set_progress_ns(told_progress_.ns());  // until the last datagram, which has the rest
  up.set_system_stamp_ns(static_cast<std::uint64_t>(packing_.now.ns()));
  up.set_acknowledged(noticed_.through());
  up.set_waiting(packing_.waiting);
  std::size_t used = 48;
  bool any = std::exchange(first_packet_, false);  // an empty one says that we are there
  for (auto& kept : notices_.kept()) {
    if (kept.sent != WallTime::before_all() && packing_.now - kept.sent < repeat_notices) continue;
    const std::size_t size = kept.notice.ByteSizeLong() + 4;
    if (used + size > room) return true;
    used += size;
    kept.sent = packing_.now;
    *up.add_notices() = kept.notice;
    any = true;
  }
  for (; packed_ < own_.size(); ++packed_) {
    Own& own = own_[packed_];
    if (!own.has_state) continue;
    const bool stale = own.sent_at == WallTime::before_all() || packing_.now - own.sent_at >= packing_.refresh;
    if (own.sent && !packing_.all && !stale) continue;
    own.newest.set_connection(connection_);
    own.newest.set_sequence(sequence_ + 1);
    const std::size_t size = own.newest.ByteSizeLong() + 4;
    if (used + size > room) return true;
    ++sequence_;
    used += size;
    own.sent = true;
    own.sent_at = packing_.now;
    *up.add_agents() = own.newest;
    any = true;
  }
  told_progress_ = progress_;
  up.set_progress_ns(progress_.ns());
  return any;
}

}  // namespace isochron::agents
