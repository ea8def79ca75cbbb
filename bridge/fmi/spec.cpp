#include "bridge/fmi/spec.hpp"

#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::fmi {
namespace {
using Json = nlohmann::json;
}

static void to_json(Json& json, const NodeSpec::Field& field) {
  json = {field.variable, field.path, field.factor, field.offset};
}
static void from_json(const Json& json, NodeSpec::Field& field) {
  field = {json.at(0), json.at(1), json.at(2), json.at(3)};
}
static void to_json(Json& json, const NodeSpec::Input& input) { json = {input.flow, input.type, input.fields}; }
static void from_json(const Json& json, NodeSpec::Input& input) {
  input = {json.at(0), json.at(1), json.at(2).get<std::vector<NodeSpec::Field>>()};
}
static void to_json(Json& json, const NodeSpec::Output& output) {
  json = {output.flow, output.type, output.variables, output.intermediate};
}
static void from_json(const Json& json, NodeSpec::Output& output) {
  output = {json.at(0), json.at(1), json.at(2).get<std::vector<std::string>>(), json.at(3)};
}

std::string to_json(const NodeSpec& spec) {
  Json json{{"name", spec.name},     {"folder", spec.folder},   {"every", spec.every_ns},       {"log", spec.log},
            {"inputs", spec.inputs}, {"outputs", spec.outputs}, {"parameters", spec.parameters}};
  json["solver"] = static_cast<int>(spec.solver);
  json["solver_step"] = spec.solver_step_ns;
  json["exchange"] = spec.exchange;
  json["cost"] = {static_cast<int>(spec.cost.kind),
                  spec.cost.ns,
                  spec.cost.deviation,
                  spec.cost.seed,
                  spec.cost.speed,
                  spec.cost.tape};
  if (spec.tolerance) json["tolerance"] = *spec.tolerance;
  return json_text(json);
}

NodeSpec spec_of_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    NodeSpec spec;
    spec.name = json.at("name");
    spec.folder = json.at("folder");
    spec.every_ns = json.at("every");
    spec.log = json.at("log");
    spec.solver = static_cast<SolverKind>(json.at("solver").get<int>());
    spec.solver_step_ns = json.at("solver_step");
    spec.exchange = json.at("exchange");
    const Json& cost = json.at("cost");
    spec.cost = {
        static_cast<StepCost::Kind>(cost.at(0).get<int>()), cost.at(1), cost.at(2), cost.at(3), cost.at(4), cost.at(5)};
    spec.inputs = json.at("inputs").get<std::vector<NodeSpec::Input>>();
    spec.outputs = json.at("outputs").get<std::vector<NodeSpec::Output>>();
    spec.parameters = json.at("parameters").get<std::vector<std::pair<std::string, std::string>>>();
    if (json.contains("tolerance")) spec.tolerance = json.at("tolerance").get<double>();
    return spec;
  } catch (const nlohmann::json::exception& error) {
    throw InputError({}, std::string("the description of an FMU node cannot be read: ") + error.what());
  }
}

}  // namespace isochron::fmi
