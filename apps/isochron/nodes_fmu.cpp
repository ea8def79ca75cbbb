// What `isochron nodes` says of an FMU: its variables, with types and units, and what a scenario can give it.

#include "apps/isochron/nodes_fmu.hpp"

#include "apps/isochron/terminal.hpp"
#include "bridge/fmi/package.hpp"
#include "bridge/fmi/values.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const fmi::Description& description, const fmi::Variable& variable) {
  Json json{{"name", variable.name},
            {"causality", to_string(variable.causality)},
            {"variability", to_string(variable.variability)},
            {"type", variable.type == fmi::Type::clock ? "clock" : fmi::message_type(variable.type)}};
  if (!variable.dimensions.empty()) json["count"] = value_count(description, variable, {});
  if (!variable.unit.empty()) json["unit"] = variable.unit;
  if (variable.has_start) json["start"] = variable.start;
  if (!variable.enumeration.empty()) json["enumeration"] = variable.enumeration;
  if (!variable.about.empty()) json["about"] = variable.about;
  json["can_be_set"] = variable.can_be_set();
  return json;
}

std::string number(const Json& value) { return value.is_null() ? "-" : value.dump(); }

}  // namespace

Json fmu_json(const std::string& file) {
  const fmi::Archive archive = fmi::Archive::open(file);
  const fmi::Description d = description_of(archive);
  const auto number_of = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json json{{"fmu", d.name},
            {"about", d.about},
            {"fmi", d.version == fmi::Version::fmi2 ? "2.0" : "3.0"},
            {"made_by", d.tool},
            {"platforms", platforms_of(archive)},
            {"runs_here", archive.has("binaries/" + platform_here(d.version) + "/" + d.identifier + ".so")},
            {"start_time", number_of(d.start_time)},
            {"stop_time", number_of(d.stop_time)},
            {"step_size", number_of(d.step_size)},
            {"tolerance", number_of(d.tolerance)},
            {"fixed_internal_step", number_of(d.internal_step)},
            {"variable_step", d.variable_step},
            {"once_per_process", d.once_per_process},
            {"needs_tool", d.needs_tool},
            {"event_mode", d.event_mode},
            {"saves_state", d.saves_state}};
  json["variables"] = Json::array();
  for (const fmi::Variable& variable : d.variables) json["variables"].push_back(json_of(d, variable));
  return json;
}

std::string fmu_text(const Json& fmu, bool all) {
  std::string text = bold(fmu["fmu"].get<std::string>()) + "  FMI " + fmu["fmi"].get<std::string>();
  if (!fmu["about"].get<std::string>().empty()) text += ", " + fmu["about"].get<std::string>();
  std::string platforms;
  for (const Json& platform : fmu["platforms"]) platforms += " " + platform.get<std::string>();
  text += "\n  binaries for" + (platforms.empty() ? " no platform" : platforms) +
          (fmu["runs_here"].get<bool>() ? "" : "; it cannot run on this machine") + "\n";
  text += "  default experiment: from " + number(fmu["start_time"]) + " to " + number(fmu["stop_time"]) + " s, step " +
          number(fmu["step_size"]) + " s, tolerance " + number(fmu["tolerance"]) + "\n";
  for (const auto& [flag, words] :
       {std::pair{"variable_step", "its steps may have any length"},
        std::pair{"once_per_process", "one instance in a process; more get processes of their own"},
        std::pair{"needs_tool", "needs the tool that made it"},
        std::pair{"event_mode", "its events are handled between steps"},
        std::pair{"saves_state", "its state can be saved and restored"}}) {
    if (fmu[flag].get<bool>()) text += std::string("  ") + words + "\n";
  }
  std::vector<std::vector<std::string>> rows;
  std::size_t hidden = 0;
  for (const Json& variable : fmu["variables"]) {
    const std::string causality = variable["causality"];
    if (!all && (causality == "local" || causality == "calculatedParameter") && !variable["can_be_set"].get<bool>()) {
      ++hidden;
      continue;
    }
    std::string type = variable["type"];
    if (variable.contains("count")) type += "[" + variable["count"].dump() + "]";
    rows.push_back({"  " + causality, variable["name"], type, variable.value("unit", ""), variable.value("start", ""),
                    variable.value("about", "")});
  }
  text += table(rows);
  if (hidden > 0) text += "  and " + std::to_string(hidden) + " inner variables; --all lists them\n";
  return text;
}

}  // namespace isochron::app
