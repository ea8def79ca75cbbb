#include "run/agent_client.hpp"

#include "agents/state.pb.h"

namespace isochron {
namespace {

agents::BodyState body_state(const AgentState& state) {
  return {state.position, state.orientation, state.linear, state.angular};
}

agents::Any kind_of(const AgentWorld::Own& own) {
  agents::state::Kind kind;
  kind.set_kind(Words<AgentKind>::list[static_cast<std::size_t>(own.section->kind)]);
  kind.mutable_size()->Assign(own.size.begin(), own.size.end());
  return agents::to_any(kind);
}

agents::Any lights_of(const AgentState& state) {
  agents::state::Lights lights;
  for (std::size_t i = 0; i < state.heads.size(); ++i) {
    auto& head = *lights.add_heads();
    head.set_name(state.heads[i]);
    head.set_lamp(static_cast<agents::state::Lights::Lamp>(state.lamps[i]));
  }
  return agents::to_any(lights);
}

std::string type_url_of(const AgentWorld::Own& own) {
  return own.section->kind == AgentKind::lights ? agents::to_any(agents::state::Lights()).type_url()
                                                : agents::body_type_url();
}

std::uint8_t kind_of(const agents::Outsider& agent) {
  agents::state::Kind kind;
  if (agent.what.Is<agents::state::Kind>()) kind.ParseFromString(agent.what.value());
  for (std::size_t i = 0; i < Words<AgentKind>::list.size(); ++i) {
    if (kind.kind() == Words<AgentKind>::list[i]) return static_cast<std::uint8_t>(i);
  }
  return 0;
}

/// Another's agent as our world takes it.
bool fill(AgentState& state, const agents::Outsider& agent, std::uint8_t kind, const agents::Sample& sample) {
  state.name = agent.name;
  state.kind = kind;
  state.heads.clear();
  state.lamps.clear();
  if (sample.body) {
    state.position = sample.body->position;
    state.orientation = sample.body->orientation;
    state.linear = sample.body->linear;
    state.angular = sample.body->angular;
    return true;
  }
  agents::state::Lights lights;
  if (!sample.state->Is<agents::state::Lights>() || !lights.ParseFromString(sample.state->value())) return false;
  state.kind = static_cast<std::uint8_t>(AgentKind::lights);
  for (const auto& head : lights.heads()) {
    state.heads.push_back(head.name());
    state.lamps.push_back(static_cast<std::uint8_t>(head.lamp()));
  }
  return true;
}

SimTime round_up(SimTime t, SimSpan step) {
  const SimSpan rest = t.since_zero() % step;
  return rest == SimSpan::zero() ? t : t + (step - rest);
}

}  // namespace

AgentClient::AgentClient(const Scenario& scenario, const std::string& name) : world_(scenario, name) {
  states_.agents.resize(world_.own().size());
}

void AgentClient::describe(agents::Client& client) {
  for (const AgentWorld::Own& own : world_.own()) {
    numbers_.push_back(client.add(own.name, kind_of(own), type_url_of(own)));
  }
}

void AgentClient::publish(agents::Client& client) {
  states_.stamp = world_.time();
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    AgentState& state = states_.agents[i];
    world_.fill(i, state);
    if (world_.own()[i].section->kind == AgentKind::lights) {
      client.publish(numbers_[i], states_.stamp, {}, lights_of(state));
    } else {
      client.publish(numbers_[i], states_.stamp, body_state(state));
    }
  }
}

void AgentClient::place_others(agents::Client& client) {
  ++round_;
  client.look([&](const agents::StateCache& cache) {
    cache.for_each([&](const agents::Outsider& agent) {
      auto known = others_.find(agent.name);
      if (known == others_.end()) known = others_.emplace(agent.name, Other{}).first;
      Other& other = known->second;
      if (other.arrival != agent.arrival) other = {agent.arrival, kind_of(agent), 0};
      const agents::Sample sample = cache.at(agent, world_.time());
      oldest_ = std::max(oldest_, sample.age);
      if (fill(state_, agent, other.kind, sample) && world_.place(state_)) other.round = round_;
    });
  });
  std::erase_if(others_, [this](const auto& other) {
    if (other.second.round == round_) return false;
    world_.remove(other.first);
    return true;
  });
}

/// The steps of one heartbeat; false = the world diverged, and the ending says how.
bool AgentClient::step(agents::Client& client, SimSpan heartbeat, Ending& ending) {
  const SimTime next = world_.time() + heartbeat;
  if (air_ && world_.radio() != nullptr) {
    if (auto news = air_(world_.report_radio(heartbeat))) world_.radio()->hear(std::move(*news));
  }
  while (world_.time() < next) {
    place_others(client);
    const auto stepped = world_.take_step();
    if (stepped.ok()) continue;
    ending.failure = stepped.error();
    return false;
  }
  return true;
}

AgentClient::Ending AgentClient::run(agents::Client& client, SimTime until, Pacer& pacer, const RunWatch& watch,
                                     const OnHeartbeat& on_heartbeat) {
  Ending ending;
  describe(client);
  const SimSpan heartbeat = client.heartbeat();
  if (heartbeat % world_.step() != SimSpan::zero()) {
    ending.failure = "the server's heartbeat, " + to_string(heartbeat) + ", is no multiple of this world's step, " +
                     to_string(world_.step());
    return ending;
  }
  world_.skip_to(round_up(client.start(), heartbeat));
  if (world_.programs() != nullptr) {
    world_.programs()->start(world_.time(), until, [&watch] { return watch.stopping(); });
  }
  bool inside = true;
  while (!watch.stopping()) {
    publish(client);
    on_heartbeat(states_, inside);
    const agents::Turn turn = client.pass(world_.time());
    if (turn.kind == agents::Turn::begin_at) {
      world_.skip_to(round_up(turn.time, heartbeat));
      ++ending.skipped;
      inside = false;
      continue;
    }
    if (turn.kind == agents::Turn::over) {
      if (!watch.stopping()) ending.failure = turn.why;
      break;
    }
    inside = true;
    if (world_.time() >= until) break;
    pacer.wait_for(world_.time() + heartbeat);
    if (!step(client, heartbeat, ending)) break;
    ++ending.heartbeats;
  }
  ending.reached = world_.time();
  ending.oldest = oldest_;
  ending.waited = client.waited();
  ending.waits = client.waits();
  ending.link = client.counts();
  ending.shut_down = client.look([](const agents::StateCache& cache) { return cache.counts().shut_down; });
  return ending;
}

}  // namespace isochron
