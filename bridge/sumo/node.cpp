#include "bridge/sumo/node.hpp"

#include "flow/program_node.hpp"

namespace isochron::sumo {

std::unique_ptr<flow::UserNode> make_node(const NodeSpec& spec, const std::string& program) {
  flow::Parameters::Values values;
  values.emplace("spec", to_json(spec));
  const std::string shown = spec.config.empty() ? spec.network : spec.config;
  return flow::make_program_node({{program, shown}, ""}, "Sumo", flow::Parameters(std::move(values)));
}

}  // namespace isochron::sumo
