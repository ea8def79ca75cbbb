#include "run/sumo_nodes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bridge/sumo/node.hpp"
#include "core/nearest_name.hpp"
#include "road/net_xml.hpp"
#include "scenario/find_file.hpp"

namespace isochron {
namespace {

constexpr SimSpan default_step = std::chrono::milliseconds(100);

/// Length and width of the body's largest shape.
sumo::NodeSpec::Own measured(const std::string& name, const world::Engine& engine) {
  sumo::NodeSpec::Own own{name};
  const auto body = engine.catalog().body(name);
  double longest = 0;
  for (const world::Geometry& geometry : engine.geometry()) {
    if (geometry.body != *body || geometry.shape != world::Shape::box || geometry.size[0] <= longest) continue;
    longest = geometry.size[0];
    own.length = 2 * geometry.size[0];
    own.width = 2 * geometry.size[1];
  }
  return own;
}

std::vector<std::string> those_that_drive(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const auto& [name, vehicle] : scenario.vehicles) names.push_back(name);
  if (!scenario.agents) return names;
  for (const auto& [name, member] : scenario.agents->members) {
    if (member.kind == AgentKind::car) names.push_back(name);
  }
  return names;
}

std::string text_of(const std::string& file, const SumoSection& section) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(section.place, "`" + file + "` cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Relative to the configuration that names it; "" = it names none.
std::string network_of(const SumoSection& section) {
  if (!section.network.empty()) return section.network.path;
  const std::string named = road::net_file_of(text_of(section.config.path, section), section.config.path);
  if (named.empty()) return {};
  return (std::filesystem::path(section.config.path).parent_path() / named).lexically_normal().string();
}

/// The body that an agent is; others are bodies themselves.
std::string body_of(const Scenario& scenario, const std::string& name) {
  if (!scenario.agents) return name;
  for (const auto& [member, section] : scenario.agents->members) {
    if (member == name && !section.body.empty()) return section.body;
  }
  return name;
}

}  // namespace

SimSpan sumo_step(const NodeSection& section) { return section.every.value_or(default_step); }

std::vector<sumo::NodeSpec::Own> sumo_ours(const Scenario& scenario, const SumoSection& section,
                                           const world::Engine& engine) {
  std::vector<sumo::NodeSpec::Own> ours;
  for (const std::string& name : section.ours.empty() ? those_that_drive(scenario) : section.ours) {
    const std::string body = body_of(scenario, name);
    if (!engine.catalog().body(body)) {
      throw InputError(section.place_of("ours"), "the model has no body `" + body + "`",
                       nearest_hint(body, engine.catalog().bodies));
    }
    ours.push_back(measured(body, engine));
    ours.back().name = name;
  }
  return ours;
}

std::vector<std::string> sumo_signals(const Scenario& scenario) {
  std::vector<std::string> all;
  for (const auto& [name, node] : scenario.nodes) {
    if (!node.sumo) continue;
    const std::string file = network_of(*node.sumo);
    if (file.empty()) continue;
    for (const road::Signal& signal : road::read_net_xml(text_of(file, *node.sumo), file).signals) {
      for (std::uint32_t i = 0; i < signal.links; ++i) all.push_back(signal.id + "/" + std::to_string(i));
    }
  }
  return all;
}

std::unique_ptr<flow::UserNode> make_sumo_node(const Scenario& scenario, const std::string& name,
                                               const NodeSection& section, const SumoTies& ties) {
  const SumoSection& sumo = *section.sumo;
  const auto program = find_program(sumo::node_program, scenario.folder);
  if (!program) {
    throw InputError(section.place_of("sumo"), "there is no program `isochron_sumo`: Isochron was built without SUMO",
                     "install Debian's package `sumo` and build again");
  }
  sumo::NodeSpec spec;
  spec.name = name;
  spec.config = sumo.config.path;
  spec.network = sumo.network.path;
  for (const FilePath& routes : sumo.routes) spec.routes.push_back(routes.path);
  spec.arguments = sumo.arguments;
  spec.step_ns = sumo_step(section).ns();
  spec.seed = scenario.seed;
  spec.origin = sumo.origin;
  spec.listens = ties.listens;
  spec.ours = ties.ours;
  spec.signals =
      std::ranges::any_of(section.inputs, [](const auto& input) { return input.first == sumo::signals_flow; });
  spec.slots = ties.slots;
  spec.near = sumo.near;
  spec.leave = sumo.leave.value_or(1.2 * sumo.near);
  spec.height = sumo.height;
  spec.equipped = sumo.equipped.value;
  return sumo::make_node(spec, *program);
}

}  // namespace isochron
