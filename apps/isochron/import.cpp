// Makes a scenario of what other tools describe.

#include <filesystem>
#include <fstream>

#include "apps/isochron/command.hpp"
#include "apps/isochron/terminal.hpp"
#include "bridge/fmi/ssp.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"

namespace isochron::app {
namespace {

struct Flags {
  std::string file, folder, every;
};

int import_ssp(const Flags& flags) {
  if (!flags.every.empty()) {
    const auto span = parse_span<SimClockTag>(flags.every);
    if (!span || *span <= SimSpan::zero()) throw InputError({"--every", 0, 0}, "is not a step, as in 1ms");
  }
  const fmi::Archive archive = fmi::Archive::open(flags.file);
  const fmi::SystemStructure system = fmi::read_ssp(archive);
  const std::string name = flags.folder + "/" + std::filesystem::path(flags.file).stem().string() + ".yaml";
  for (const auto& component : system.components) archive.unpack(component.source, flags.folder);
  std::error_code ignored;
  std::filesystem::create_directories(flags.folder, ignored);
  std::ofstream out(name);
  out << fmi::scenario_text(system, flags.every);
  out.close();
  if (!out) throw InputError({name, 0, 0}, "cannot be written");
  print(name + ": " + std::to_string(system.components.size()) + " FMUs\n");
  return exit_fine;
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("import", "make a scenario of what other tools describe");
  verb->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* ssp = verb->add_subcommand("ssp", "a system of FMUs, SSP 1.0: components, connections, parameters");
  ssp->add_option("FILE", flags->file, "the .ssp file")->required();
  ssp->add_option("-o,--output", flags->folder, "folder for the scenario and its FMUs")->required();
  ssp->add_option("--every", flags->every, "communication step of all FMUs; as each FMU says if left out");
  ssp->callback([&action, flags] { action = [flags] { return import_ssp(*flags); }; });
}

}  // namespace isochron::app
