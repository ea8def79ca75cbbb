#include "bridge/fmi/ssp.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bridge/fmi/wiring.hpp"
#include "core/xml.hpp"

namespace isochron::fmi {
namespace {

constexpr const char* structure_file = "SystemStructure.ssd";
constexpr int deepest = 64;

/// Without its namespace: ssd:System is System.
std::string_view local(const char* name) {
  const std::string_view whole(name);
  const auto colon = whole.find(':');
  return colon == std::string_view::npos ? whole : whole.substr(colon + 1);
}

pugi::xml_node child(const pugi::xml_node& node, std::string_view name) {
  for (const pugi::xml_node one : node.children()) {
    if (local(one.name()) == name) return one;
  }
  return {};
}

template <class F>
void each(const pugi::xml_node& node, std::string_view name, F&& f) {
  for (const pugi::xml_node one : node.children()) {
    if (local(one.name()) == name) f(one);
  }
}

/// A connector of a component or of a system, by the path of its element.
struct End {
  std::string element, connector;
  friend auto operator<=>(const End&, const End&) = default;
};

class Reader {
 public:
  explicit Reader(const Archive& archive)
      : archive_(archive),
        text_(archive.read(structure_file, most_description)),
        xml_(text_, archive.file() + "/" + structure_file) {}

  SystemStructure read() {
    const pugi::xml_node root = xml_.root();
    if (local(root.name()) != "SystemStructureDescription") xml_.refuse(root, "does not describe a system structure");
    made_.name = xml_.required(root, "name");
    const pugi::xml_node experiment = child(root, "DefaultExperiment");
    if (experiment) made_.stop_time = xml_.number<double>(experiment, "stopTime").value_or(0);
    const pugi::xml_node system = child(root, "System");
    if (!system) xml_.refuse(root, "has no <System>");
    read_system(system, "", 0);
    connect();
    return std::move(made_);
  }

 private:
  static std::string below(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "/" + name;
  }

  void read_system(const pugi::xml_node& system, const std::string& path, int depth) {
    if (depth > deepest) xml_.refuse(system, "has systems nested too deeply");
    for (const pugi::xml_node element : child(system, "Elements").children()) {
      const std::string_view kind = local(element.name());
      if (kind == "System") read_system(element, below(path, xml_.required(element, "name")), depth + 1);
      if (kind == "Component") read_component(element, path);
      if (kind == "SignalDictionaryReference") xml_.refuse(element, "signal dictionaries cannot be used");
    }
    each(child(system, "Connections"), "Connection", [&](const pugi::xml_node& one) { read_connection(one, path); });
    each_parameter(system, [&](const std::string& name, const std::string& value) {
      system_parameters_.emplace_back(path.empty() ? "" : path + "/", std::pair{name, value});
    });
  }

  void read_component(const pugi::xml_node& node, const std::string& path) {
    SystemStructure::Component component;
    const std::string full = below(path, xml_.required(node, "name"));
    component.name = field_name(full);
    component.source = xml_.required(node, "source");
    component.line = xml_.place(node).line;
    const std::string type = xml_.text(node, "type");
    if (!component.source.ends_with(".fmu") || (!type.empty() && type.find("fmu") == std::string::npos)) {
      xml_.refuse(node, "component `" + foreign_name(full) + "` is not an FMU");
    }
    if (!archive_.has(component.source)) {
      xml_.refuse(node, "`" + foreign_name(component.source) + "` is not in the archive");
    }
    each_parameter(node, [&](const std::string& name, const std::string& value) {
      component.parameters.emplace_back(name, value);
    });
    if (!by_path_.emplace(full, made_.components.size()).second || !names_.insert(component.name).second) {
      xml_.refuse(node, "two components are called `" + foreign_name(full) + "`");
    }
    made_.components.push_back(std::move(component));
  }

  void read_connection(const pugi::xml_node& node, const std::string& path) {
    for (const pugi::xml_node inner : node.children()) {
      if (local(inner.name()).ends_with("Transformation")) {
        xml_.refuse(node, "a connection transforms its values, which is not supported");
      }
    }
    const auto end = [&](const char* element, const char* connector) {
      const std::string name = xml_.text(node, element);
      return End{name.empty() ? path : below(path, name), xml_.required(node, connector)};
    };
    const End from = end("startElement", "startConnector"), to = end("endElement", "endConnector");
    if (!from_.emplace(to, from).second) {
      xml_.refuse(node, "`" + foreign_name(to.element + "." + to.connector) + "` is connected twice");
    }
    lines_[to] = xml_.place(node).line;
  }

  /// Values that stand in place, and those of parameter sets in files of their own.
  template <class F>
  void each_parameter(const pugi::xml_node& node, F&& f) {
    each(child(node, "ParameterBindings"), "ParameterBinding", [&](const pugi::xml_node& binding) {
      const std::string prefix = xml_.text(binding, "prefix");
      const auto take = [&](const pugi::xml_node& set) {
        each(child(set, "Parameters"), "Parameter", [&](const pugi::xml_node& parameter) {
          f(prefix + std::string(parameter.attribute("name").value()), value_of(parameter));
        });
      };
      if (child(binding, "ParameterMapping")) xml_.refuse(binding, "parameter mappings are not supported");
      take(child(child(binding, "ParameterValues"), "ParameterSet"));
      const std::string source = xml_.text(binding, "source");
      if (source.empty()) return;
      if (!archive_.has(source)) xml_.refuse(binding, "`" + foreign_name(source) + "` is not in the archive");
      const std::string text = archive_.read(source, most_description);
      const Xml set(text, archive_.file() + "/" + source);
      take(set.root());
    });
  }

  static std::string value_of(const pugi::xml_node& parameter) {
    for (const pugi::xml_node typed : parameter.children()) {
      if (typed.attribute("value")) return foreign_text(typed.attribute("value").value());
    }
    return "";
  }

  void connect() {
    for (const auto& [to, first] : from_) {
      const auto component = by_path_.find(to.element);
      if (component == by_path_.end()) continue;  // a system's connector: what is behind it says where it leads
      const std::optional<End> from = origin(first);
      if (!from) continue;  // from outside: nothing is connected there
      const auto source = by_path_.find(from->element);
      if (source == by_path_.end()) {
        throw InputError({archive_.file() + "/" + structure_file, lines_.at(to), 1},
                         "there is no component `" + foreign_name(from->element) + "`");
      }
      const std::string flow = made_.components[source->second].name + ".out." + field_name(from->connector);
      made_.components[component->second].inputs.emplace_back(to.connector, flow);
    }
    for (const auto& [system, parameter] : system_parameters_) give(system, parameter);
  }

  /// Through the connectors of systems, to the component that speaks.
  [[nodiscard]] std::optional<End> origin(End end) const {
    for (int i = 0; i <= deepest && !by_path_.contains(end.element); ++i) {
      const auto next = from_.find(end);
      if (next == from_.end()) return end.element.empty() ? std::nullopt : std::optional<End>(end);
      end = next->second;
    }
    return end;
  }

  /// A parameter of a system is called component.variable.
  void give(const std::string& system, const std::pair<std::string, std::string>& parameter) {
    for (const auto& [path, index] : by_path_) {
      if (!path.starts_with(system)) continue;
      std::string name = path.substr(system.size()) + ".";
      std::ranges::replace(name, '/', '.');
      if (!parameter.first.starts_with(name)) continue;
      made_.components[index].parameters.emplace_back(parameter.first.substr(name.size()), parameter.second);
    }
  }

  const Archive& archive_;
  std::string text_;
  Xml xml_;
  SystemStructure made_;
  std::map<std::string, std::size_t> by_path_;
  std::set<std::string> names_;
  std::map<End, End> from_;  // by where it ends
  std::map<End, int> lines_;
  std::vector<std::pair<std::string, std::pair<std::string, std::string>>> system_parameters_;
};

/// A text that YAML reads as this text.
std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string pairs(const char* key, const std::vector<std::pair<std::string, std::string>>& all) {
  std::string text;
  for (const auto& [name, value] : all) text += (text.empty() ? "" : ", ") + quoted(name) + ": " + quoted(value);
  return text.empty() ? "" : std::string("    ") + key + ": {" + text + "}\n";
}

}  // namespace

SystemStructure read_ssp(const Archive& archive) {
  if (!archive.has(structure_file)) {
    throw InputError({archive.file(), 0, 0}, std::string("has no ") + structure_file, "this zip file is not of SSP");
  }
  return Reader(archive).read();
}

std::string scenario_text(const SystemStructure& system, const std::string& every) {
  std::string text = "# Made by `isochron import ssp`.\nname: " + quoted(field_name(system.name)) + "\n";
  if (system.stop_time > 0) text += "duration: " + std::to_string(std::llround(system.stop_time * 1e9)) + "ns\n";
  text += "nodes:\n";
  for (const SystemStructure::Component& component : system.components) {
    text += "  " + component.name + ":\n    fmu: " + quoted(component.source) + "\n";
    if (!every.empty()) text += "    every: " + every + "\n";
    text += pairs("parameters", component.parameters) + pairs("inputs", component.inputs);
  }
  return text + "time: {mode: repeatable}\n";
}

}  // namespace isochron::fmi
