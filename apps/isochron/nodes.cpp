// Lists the node types of a library or a program: their ports, what these carry, and their parameters; of an FMU, its
// variables.

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/isochron/command.hpp"
#include "apps/isochron/nodes_fmu.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "flow/node_library.hpp"
#include "flow/program_node.hpp"
#include "flow/system.hpp"
#include "run/fmu_nodes.hpp"
#include "scenario/find_file.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::vector<std::string> words;
  bool json = false;
  bool all = false;
};

/// What one node type says of itself. A node is made to see its ports; one that needs parameters says why it cannot be.
Json described(const std::string& name, const std::string& about,
               const std::function<std::unique_ptr<flow::UserNode>(const flow::Parameters&)>& make) {
  Json json{{"type", name}, {"about", about}};
  const flow::Parameters none;
  flow::System system;
  try {
    system.add("node", make(none));
  } catch (const InputError& error) {
    json["cannot_be_made"] = error.what();
    return json;
  }
  const flow::NodeInfo& info = system.graph().nodes.front();
  json["inputs"] = Json::array();
  for (const flow::InputInfo& input : info.inputs) {
    json["inputs"].push_back({{"name", input.name}, {"carries", input.type->name}, {"definition", input.type->schema}});
  }
  json["outputs"] = Json::array();
  for (const flow::OutputInfo& output : info.outputs) {
    Json one{{"name", output.name}, {"kind", to_string(output.kind)}};
    if (output.kind == flow::FlowKind::event) {
      one["lookahead"] = to_string(output.lookahead);
    } else {
      one["period"] = to_string(output.period);
      one["first"] = to_string(output.first);
      one["varies"] = output.varies;
    }
    one["capacity"] = output.capacity;
    one["carries"] = output.type->name;
    one["definition"] = output.type->schema;
    json["outputs"].push_back(one);
  }
  json["parameters"] = none.asked();
  return json;
}

Json types_of(const std::vector<std::string>& words) {
  Json all = Json::array();
  const auto library = words.size() == 1 ? find_library(words[0], ".") : std::nullopt;
  const bool is_library = library && library->ends_with(".so");
  if (is_library) {
    const auto opened = flow::NodeLibrary::open(*library);
    for (const auto& [name, about] : opened.types()) {
      all.push_back(
          described(name, about, [&, &type = name](const flow::Parameters& p) { return opened.make(type, p); }));
    }
    return all;
  }
  flow::ProgramCommand command{words, ""};
  command.words[0] = find_program(words[0], ".").value_or(words[0]);
  for (const auto& [name, about] : flow::types_of_program(command)) {
    all.push_back(described(name, about, [&, &type = name](const flow::Parameters& p) {
      return flow::make_program_node(command, type, p);
    }));
  }
  return all;
}

std::string fields_text(const Json& port) {
  std::string text = port["carries"].get<std::string>();
  std::string fields = port["definition"].get<std::string>();
  fields = fields.substr(0, fields.find("===="));
  std::replace(fields.begin(), fields.end(), '\n', ';');
  if (fields.ends_with(";")) fields.pop_back();
  return fields.empty() ? text : text + " {" + fields + "}";
}

std::string text_of(const Json& type) {
  std::string text = bold(type["type"].get<std::string>()) + "  " + type["about"].get<std::string>() + "\n";
  if (type.contains("cannot_be_made")) {
    return text + "  its ports are not known: " + type["cannot_be_made"].get<std::string>() + "\n";
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& port : type["inputs"]) rows.push_back({"  in", port["name"], "", fields_text(port)});
  for (const Json& port : type["outputs"]) {
    const std::string when = port.contains("lookahead") ? "lookahead " + port["lookahead"].get<std::string>()
                                                        : "every " + port["period"].get<std::string>() +
                                                              (port["varies"].get<bool>() ? ", varying" : "");
    rows.push_back({"  out", port["name"], port["kind"].get<std::string>() + ", " + when, fields_text(port)});
  }
  for (const auto& [key, otherwise] : type["parameters"].items()) {
    rows.push_back({"  with", key, "", otherwise.get<std::string>()});
  }
  return text + table(rows);
}

}  // namespace

void add_nodes(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand(
      "nodes", "list the node types of a library or a program: ports and parameters; the variables of an FMU");
  verb->add_option("LIBRARY|PROGRAM|FMU", flags->words,
                   "a library or FMU as a scenario names it, or a program and its arguments")
      ->required();
  verb->add_flag("--json", flags->json, "as JSON");
  verb->add_flag("--all", flags->all, "of an FMU: inner variables too");
  verb->positionals_at_end();
  verb->callback([&action, flags] {
    action = [flags] {
      if (flags->words.size() == 1 && flags->words[0].ends_with(".fmu")) {
        const Json fmu = fmu_json(fmu_file(flags->words[0], "."));
        print(flags->json ? json_text(fmu, 2) + "\n" : fmu_text(fmu, flags->all));
        return exit_fine;
      }
      const Json all = types_of(flags->words);
      if (flags->json) {
        print(all.dump(2) + "\n");
        return exit_fine;
      }
      for (const Json& type : all) print(text_of(type));
      return exit_fine;
    };
  });
}

}  // namespace isochron::app
