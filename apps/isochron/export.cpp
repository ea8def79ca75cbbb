// Makes of a scenario what other tools import.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "apps/isochron/command.hpp"
#include "apps/isochron/maps.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "run/fmu_gateway.hpp"
#include "run/run.hpp"
#include "scenario/find_file.hpp"
#include "scenario/scenario_files.hpp"

namespace isochron::app {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string file, output, step;
  int fmi = 3;
  std::vector<std::string> inputs, outputs;
};

std::string own_path() {
  std::error_code failed;
  const fs::path path = fs::read_symlink("/proc/self/exe", failed);
  return failed ? "isochron" : path.string();
}

/// The folder that all files are in.
fs::path common_folder(const std::vector<NeededFile>& files) {
  fs::path common = fs::path(files.front().place).parent_path();
  for (const NeededFile& file : files) {
    while (!common.empty() && common != common.root_path()) {
      const fs::path relative = fs::path(file.place).lexically_relative(common);
      if (!relative.empty() && *relative.begin() != "..") break;
      common = common.parent_path();
    }
  }
  return common;
}

void add_files(const Scenario& scenario, fmi::Export& made) {
  std::vector<std::string> nodes{"world"};
  for (const auto& [name, node] : scenario.nodes) nodes.push_back(name);
  const std::vector<NeededFile> files = needed_files(scenario, nodes);
  const fs::path common = common_folder(files);
  const fs::path file = fs::absolute(scenario.file).lexically_normal();
  for (const NeededFile& needed : files) {
    if (needed.secret) continue;
    made.files.push_back({needed.path, fs::path(needed.place).lexically_relative(common).string()});
  }
  made.scenario = file.lexically_relative(common).string();
}

SimSpan step_of(const Flags& flags, SimSpan world_step) {
  if (flags.step.empty()) return world_step;
  const auto step = parse_span<SimClockTag>(flags.step);
  if (!step || *step <= SimSpan::zero()) throw InputError({"--step", 0, 0}, "is not a step, as in 10ms");
  if (*step % world_step != SimSpan::zero()) {
    throw InputError({"--step", 0, 0}, "must be a multiple of the world's step, " + to_string(world_step));
  }
  return *step;
}

std::vector<std::string> names_of(const std::vector<fmi::ExportedVariable>& variables) {
  std::vector<std::string> names;
  for (const fmi::ExportedVariable& variable : variables) names.push_back(variable.name);
  return names;
}

int export_fmu(const Flags& flags) {
  const Scenario scenario = load_scenario(flags.file);
  FmuInterface interface = fmu_interface(scenario);
  interface.keep(flags.inputs.empty() ? names_of(interface.inputs) : flags.inputs,
                 flags.outputs.empty() ? names_of(interface.outputs) : flags.outputs, {flags.file, 0, 0});
  const auto binary = find_library("isochron_export", scenario.folder);
  if (!binary) throw InputError({"isochron_export.so", 0, 0}, "is not in Isochron's lib folder");
  fmi::Export made;
  made.version = flags.fmi == 2 ? fmi::Version::fmi2 : fmi::Version::fmi3;
  made.name = scenario.name;
  made.step_ns = step_of(flags, interface.world_step).ns();
  made.stop = scenario.duration.seconds();
  made.inputs = interface.inputs;
  made.outputs = interface.outputs;
  made.binary = *binary;
  made.command = own_path();
  add_files(scenario, made);
  const std::string file = flags.output.empty() ? scenario.name + ".fmu" : flags.output;
  std::error_code ignored;
  fs::create_directories(fs::path(file).parent_path(), ignored);
  write_package(made, file);
  print(file + ": FMI " + std::to_string(flags.fmi) + ".0, " + std::to_string(made.inputs.size()) + " inputs, " +
        std::to_string(made.outputs.size()) + " outputs, step " + to_string(SimSpan::from_ns(made.step_ns)) + "\n");
  return exit_fine;
}

int serve(const std::string& folder) {
  const char* text = std::getenv("ISOCHRON_FMU_FD");
  const int socket = text == nullptr ? -1 : std::atoi(text);
  if (socket <= 2) throw InputError({"serve fmu", 0, 0}, "is started by FMUs that `isochron export fmu` made");
  const bool well = serve_fmu(folder, socket);
  ::close(socket);
  return well ? exit_fine : exit_failed;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("export", "export a scenario for other tools");
  verb->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* fmu = verb->add_subcommand("fmu", "an FMU for co-simulation: the scenario's world, robots and nodes");
  fmu->add_option("SCENARIO", flags->file, "scenario file")->required();
  fmu->add_option("-o,--output", flags->output, "the .fmu file; NAME.fmu if left out");
  fmu->add_option("--fmi", flags->fmi, "version of the standard: 2 or 3")->check(CLI::IsMember({2, 3}));
  fmu->add_option("--step", flags->step, "its communication step; the world's step if left out");
  fmu->add_option("--input", flags->inputs, "an actuator that is an input; all that are free if left out")
      ->allow_extra_args(false);
  fmu->add_option("--output-variable", flags->outputs, "what it tells; everything if left out")
      ->allow_extra_args(false);
  add_export_v2x(*verb, action);
  fmu->callback([&action, flags] { action = [flags] { return export_fmu(*flags); }; });
}

void add_serve_fmu(CLI::App& serve_verb, Action& action) {
  auto folder = std::make_shared<std::string>();
  CLI::App* fmu = serve_verb.add_subcommand("fmu", "the scenario behind an exported FMU; its binary starts this");
  fmu->add_option("RESOURCES", *folder, "the FMU's resources")->required();
  fmu->callback([&action, folder] { action = [folder] { return serve(*folder); }; });
}

}  // namespace isochron::app
