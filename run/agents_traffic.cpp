#include "run/agents_traffic.hpp"

#include <algorithm>

#include "agents/state_cache.hpp"
#include "run/stage.hpp"
#include "run/traffic_bodies.hpp"

namespace isochron {

std::map<std::string, SumoTies> traffic_of_agents(const Scenario& scenario, const std::vector<std::string>& clients) {
  std::map<std::string, SumoTies> traffic;
  if (scenario.nodes.empty()) return traffic;
  Stage stage(scenario);
  for (const auto& [name, node] : scenario.nodes) {
    if (!node.sumo) {
      throw InputError(node.place, "beside `agents` a node can only be `sumo`",
                       "use `vehicles` and `robots` instead of `agents`, or leave the node out");
    }
    if (std::ranges::find(clients, name) != clients.end()) {
      throw InputError(node.place, "node `" + name + "` has the name of a client of `agents`", "rename one of them");
    }
    const world::Engine& engine = stage.world().engine();
    traffic[name] = {clients, sumo_ours(scenario, *node.sumo, engine), traffic_bodies(*node.sumo, engine)};
    for (const std::string& slot : traffic[name].slots) {
      const bool taken = std::ranges::any_of(scenario.agents->members, [&](const auto& member) {
        return member.first == slot || member.second.body == slot;
      });
      if (taken) {
        throw InputError(node.sumo->place_of("bodies"), "body `" + slot + "` is that of an agent", "name other bodies");
      }
    }
  }
  return traffic;
}

Scenario with_traffic(Scenario scenario, const std::map<std::string, SumoTies>& traffic) {
  for (const auto& [name, ties] : traffic) {
    for (const std::string& slot : ties.slots) {
      AgentSection agent;
      agent.kind = AgentKind::car;
      agent.client = name;
      agent.path = {{0, 0}, {1, 0}};  // nobody of ours drives it
      scenario.agents->members.emplace_back(slot, agent);
      if (scenario.v2x && !scenario.v2x->equipped.empty()) scenario.v2x->equipped.push_back(slot);
    }
  }
  return scenario;
}

TrafficRadio::TrafficRadio(const Scenario& scenario, const std::string& node, const std::vector<std::string>& slots)
    : scenario_(scenario), unit_(scenario_, node), slots_(slots), riders_(slots.size()) {
  constexpr std::array<double, 3> half{2.25, 0.9, 0.75};  // of a car
  for (const std::string& slot : slots_) {
    unit_.add({slot, half, nullptr, std::nullopt});
    unit_.let_talk(slot, false);
  }
  input<&TrafficRadio::hear_states>("states");
  input<&TrafficRadio::hear_traffic>("traffic");
  input<&TrafficRadio::hear_radio>("radio");
  output<&TrafficRadio::tell>("said", flow::every(scenario_.agents->heartbeat));
}

void TrafficRadio::hear_traffic(const sumo::Traffic& traffic) {
  std::vector<std::string> riders(slots_.size());
  std::vector<bool> talks(slots_.size());
  for (const sumo::TrafficCar& car : traffic.near) {
    const auto slot = static_cast<std::size_t>(std::ranges::find(slots_, car.shown_as) - slots_.begin());
    if (slot == slots_.size()) continue;
    riders[slot] = car.vehicle;
    talks[slot] = car.equipped;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (riders[i] != riders_[i] && talks[i]) unit_.renew(slots_[i], ++renewed_);
    unit_.let_talk(slots_[i], talks[i]);
  }
  riders_ = std::move(riders);
}

world::Motion TrafficRadio::motion_of(const std::string& name, SimTime now) const {
  const auto state = std::ranges::find(states_.agents, name, &AgentState::name);
  if (state == states_.agents.end()) {
    world::Motion away;
    away.pose.position = {1e4, 1e4, 5};
    return away;
  }
  const auto body =
      agents::extrapolate({state->position, state->orientation, state->linear, state->angular}, now - states_.stamp);
  return {{body.position, body.orientation}, state->linear, state->angular};
}

void TrafficRadio::tell(v2x::AirUp& up, SimTime now) {
  const V2xUnit::MotionOf motion = [&](const std::string& name) { return motion_of(name, now); };
  unit_.act(now, motion);
  up = unit_.report(now, scenario_.agents->heartbeat, motion);
}

}  // namespace isochron
