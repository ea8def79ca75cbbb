#include "bridge/sumo/spec.hpp"

#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::sumo {
namespace {
using Json = nlohmann::json;
}

static void to_json(Json& json, const NodeSpec::Own& own) { json = {own.name, own.length, own.width}; }
static void from_json(const Json& json, NodeSpec::Own& own) { own = {json.at(0), json.at(1), json.at(2)}; }

/// Calls f(key, field) for every field.
template <class Spec, class F>
static void each(Spec& spec, F&& f) {
  f("name", spec.name), f("config", spec.config), f("network", spec.network), f("routes", spec.routes);
  f("arguments", spec.arguments), f("step", spec.step_ns), f("seed", spec.seed), f("origin", spec.origin);
  f("listens", spec.listens), f("ours", spec.ours), f("signals", spec.signals), f("slots", spec.slots);
  f("near", spec.near), f("leave", spec.leave), f("height", spec.height), f("equipped", spec.equipped);
}

std::string to_json(const NodeSpec& spec) {
  Json json;
  each(spec, [&](const char* key, const auto& field) { json[key] = field; });
  return json_text(json);
}

NodeSpec spec_of_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    NodeSpec spec;
    each(spec, [&](const char* key, auto& field) { json.at(key).get_to(field); });
    return spec;
  } catch (const nlohmann::json::exception& error) {
    throw InputError({}, std::string("the description of a SUMO node cannot be read: ") + error.what());
  }
}

}  // namespace isochron::sumo
