#include "apps/isochron/command.hpp"
#include "apps/isochron/terminal.hpp"
#include "scenario/reference.hpp"
#include "scenario/scenario.hpp"

#include <filesystem>
#include <fstream>

namespace isochron::app {

void add_check(CLI::App& app, Action& action) {
  auto file = std::make_shared<std::string>();
  auto sets = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = app.add_subcommand("check", "read a scenario, report every mistake, start nothing");
  verb->add_option("FILE", *file, "scenario file")->required();
  verb->callback([&action, file] {
    action = [file] {
      const Scenario scenario = load_scenario(*file);
      print(scenario.file + ": fine (" + scenario.name + ", " + to_string(scenario.duration) + ")\n");
      return exit_fine;
    };
  });
}

void add_reference(CLI::App& app, Action& action) {
  auto folder = std::make_shared<std::string>();
  auto schema = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("reference", "print the scenario reference, made from the loader itself");
  verb->add_flag("--json-schema", *schema, "print a JSON Schema for editors instead");
  verb->add_option("--write", *folder, "write both into this folder");
  verb->callback([&action, folder, schema] {
    action = [folder, schema] {
      if (folder->empty()) {
        print(*schema ? scenario_json_schema() : scenario_reference());
        return exit_fine;
      }
      const std::filesystem::path where(*folder);
      std::ofstream(where / "scenario.md") << scenario_reference();
      std::ofstream(where / "scenario.schema.json") << scenario_json_schema();
      return exit_fine;
    };
  });
}

}  // namespace isochron::app
