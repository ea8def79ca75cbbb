#include "scenario/reference.hpp"
#include "apps/isochron/command.hpp"
#include "apps/isochron/terminal.hpp"

#include <filesystem>
#include <fstream>

namespace isochron::app {

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
