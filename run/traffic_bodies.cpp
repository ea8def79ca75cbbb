#include "run/traffic_bodies.hpp"

#include <algorithm>

#include "agents/state_cache.hpp"
#include "core/nearest_name.hpp"
#include "run/sumo_nodes.hpp"

namespace isochron {
namespace {

const NodeSection& section_of(const Scenario& scenario, const std::string& node) {
  return std::ranges::find(
             scenario.nodes, node, [](const auto& entry) -> const auto& { return entry.first; })
      ->second;
}

}  // namespace

std::vector<std::string> traffic_bodies(const SumoSection& section, const world::Engine& engine) {
  const world::Catalog& catalog = engine.catalog();
  std::vector<std::string> found;
  for (const std::string& pattern : section.bodies) {
    const bool many = pattern.ends_with('*');
    const std::string begin = pattern.substr(0, pattern.size() - (many ? 1 : 0));
    bool any = false;
    for (std::uint32_t body = 1; body < catalog.bodies.size(); ++body) {
      const std::string& name = catalog.bodies[body];
      if (many ? !name.starts_with(begin) : name != begin) continue;
      if (many && !engine.can_place(body)) continue;  // a part of one
      any = true;
      if (!engine.can_place(body)) {
        throw InputError(section.place_of("bodies"), "body `" + name + "` cannot be moved",
                         "give it mocap=\"true\" or a free joint");
      }
      if (std::ranges::find(found, name) == found.end()) found.push_back(name);
    }
    if (!any) {
      throw InputError(section.place_of("bodies"), "the model has no movable body `" + pattern + "`",
                       nearest_hint(begin, catalog.bodies));
    }
  }
  return found;
}

std::vector<std::uint32_t> bodies_of_traffic(const Scenario& scenario, const world::Engine& engine) {
  std::vector<std::uint32_t> all;
  for (const auto& [name, node] : scenario.nodes) {
    if (!node.sumo) continue;
    for (const std::string& body : traffic_bodies(*node.sumo, engine)) all.push_back(*engine.catalog().body(body));
  }
  return all;
}

TrafficBodies::TrafficBodies(const Scenario& scenario, const std::string& node, world::World& world)
    : node_(node), world_(world), names_(traffic_bodies(*section_of(scenario, node).sumo, world.engine())) {
  for (const std::string& name : names_) {
    slots_[name] = bodies_.size();
    bodies_.push_back(world.body(name));
  }
  ours_ = sumo_ours(scenario, *section_of(scenario, node).sumo, world.engine());
  for (const sumo::NodeSpec::Own& own : ours_) our_bodies_.push_back(world.body(own.name));
}

void TrafficBodies::place(SimTime end) {
  const SimSpan age = end - heard_.stamp;
  shown_.assign(bodies_.size(), false);
  // They are bodies that can be placed, and SUMO has no places that are no numbers: nothing is refused.
  for (const AgentState& state : heard_.agents) {
    const auto slot = slots_.find(state.name);
    if (slot == slots_.end()) continue;
    const auto at = agents::extrapolate({state.position, state.orientation, state.linear, state.angular}, age);
    (void)world_.place(bodies_[slot->second], {{at.position, at.orientation}, state.linear, state.angular}).ok();
    shown_[slot->second] = true;
  }
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (!shown_[i]) (void)world_.place(bodies_[i], world::out_of_the_way(bodies_[i])).ok();
  }
}

void TrafficBodies::add_ours(AgentStates& states) const {
  for (std::size_t i = 0; i < ours_.size(); ++i) {
    const world::Motion motion = world_.engine().motion(our_bodies_[i]);
    AgentState& state = states.agents.emplace_back();
    state.name = ours_[i].name;
    state.position = motion.pose.position;
    state.orientation = motion.pose.orientation;
    state.linear = motion.linear;
    state.angular = motion.angular;
  }
}

}  // namespace isochron
