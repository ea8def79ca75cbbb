#pragma once
// The nodes of a scenario that are SUMO simulations (bridge/sumo): what they are told beside what stands in their
// section.

#include <memory>
#include <string>
#include <vector>

#include "bridge/sumo/spec.hpp"
#include "flow/user_node.hpp"
#include "scenario/scenario.hpp"
#include "world/engine.hpp"

namespace isochron {

/// How a SUMO node is tied to the rest.
struct SumoTies {
  std::vector<std::string> listens;       // inputs that tell of ours
  std::vector<sumo::NodeSpec::Own> ours;  // sumo_ours()
  std::vector<std::string> slots;         // names under which its vehicles near ours are told
};

/// The step of a SUMO node.
SimSpan sumo_step(const NodeSection& section);

/// Who of ours is a vehicle in SUMO, with their sizes: those the section names, or all that drive. Throws InputError.
std::vector<sumo::NodeSpec::Own> sumo_ours(const Scenario& scenario, const SumoSection& section,
                                           const world::Engine& engine);

/// The signals of all SUMO nodes, as LIGHTS/LINK. Throws InputError where their networks cannot be read.
std::vector<std::string> sumo_signals(const Scenario& scenario);

/// Throws InputError where it cannot be made: SUMO was not there when Isochron was built, or refuses its files.
std::unique_ptr<flow::UserNode> make_sumo_node(const Scenario& scenario, const std::string& name,
                                               const NodeSection& section, const SumoTies& ties);

}  // namespace isochron
