// Makes a scenario of what other tools describe.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/command.hpp"
#include "apps/isochron/maps.hpp"
#include "apps/isochron/terminal.hpp"
#include "bridge/fmi/ssp.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "road/intersections.hpp"
#include "road/model.hpp"
#include "road/net_xml.hpp"
#include "scenario/find_file.hpp"

namespace isochron::app {
namespace {

struct Flags {
  std::string file, folder, every;
};

struct RoadFlags {
  std::string file, model, origin, network;
  std::uint32_t cars = 0;
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

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError({file, 0, 0}, "cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& file, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw InputError({file, 0, 0}, "cannot be written");
}

/// netconvert knows OpenDRIVE; what it makes is removed again.
class Converted {
 public:
  explicit Converted(const std::string& xodr) {
    const auto program = find_program("netconvert", ".");
    if (!program) {
      throw InputError({xodr, 0, 0}, "OpenDRIVE is read by SUMO's `netconvert`, which is not installed",
                       "install Debian's package `sumo`");
    }
    std::string pattern = (std::filesystem::temp_directory_path() / "isochron_road_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw InputError({pattern, 0, 0}, "cannot be made");
    folder_ = pattern;
    convert(*program, xodr);
  }
  ~Converted() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;
  [[nodiscard]] std::string network() const { return folder_ + "/road.net.xml"; }

 private:
  /// Which lanes of OpenDRIVE are driven on: netconvert's own list is in a package that need not be installed.
  static std::string lane_types() {
    std::string text = "<types>\n";
    for (const char* type : {"driving", "bidirectional", "entry", "exit", "onRamp", "offRamp", "connectingRamp",
                             "mwyEntry", "mwyExit", "slipLane"}) {
      text += std::string("  <type id=\"") + type +
              "\" priority=\"8\" speed=\"13.89\" disallow=\"pedestrian tram rail_urban rail rail_electric rail_fast "
              "ship\"/>\n";
    }
    for (const char* type : {"none", "stop", "shoulder", "border", "restricted", "parking", "median", "special1",
                             "special2", "special3", "roadWorks", "curb"}) {
      text += std::string("  <type id=\"") + type + "\" discard=\"true\"/>\n";
    }
    return text +
           "  <type id=\"sidewalk\" allow=\"pedestrian\" speed=\"1.4\"/>\n"
           "  <type id=\"walking\" allow=\"pedestrian\" speed=\"1.4\"/>\n"
           "  <type id=\"biking\" allow=\"bicycle\" speed=\"5.6\"/>\n"
           "  <type id=\"bus\" allow=\"bus\" speed=\"13.89\"/>\n</types>\n";
  }
  void convert(const std::string& program, const std::string& xodr) const {
    const std::string said = folder_ + "/said";
    write(folder_ + "/lanes.typ.xml", lane_types());
    ChildProcess child({program, "--opendrive-files", xodr, "--type-files", folder_ + "/lanes.typ.xml", "--output-file",
                        network(), "--no-warnings", "true"},
                       folder_ + "/out", said);
    child.wait();
    if (child.well()) return;
    std::string why = foreign_text(text_of(said), 1000);
    std::ranges::replace(why, '\n', ' ');
    throw InputError({xodr, 0, 0}, "netconvert cannot read it: " + why);
  }
  std::string folder_;
};

std::array<double, 2> origin_of(const std::string& text, const road::Network& network) {
  if (text.empty()) return {};
  if (text == "centre") return road::centre(network);
  std::array<double, 2> origin{};
  const char* const end = text.data() + text.size();
  const auto [comma, x] = std::from_chars(text.data(), end, origin[0]);
  if (x == std::errc{} && comma != end && *comma == ',') {
    const auto [last, y] = std::from_chars(comma + 1, end, origin[1]);
    if (y == std::errc{} && last == end && std::isfinite(origin[0]) && std::isfinite(origin[1])) return origin;
  }
  throw InputError({"--origin", 0, 0}, "is not a place, as in 120,80 or centre");
}

int import_road(const RoadFlags& flags) {
  const bool open_drive = flags.file.ends_with(".xodr");
  if (!open_drive && !flags.file.ends_with(".net.xml")) {
    throw InputError({flags.file, 0, 0}, "is neither a .net.xml of SUMO nor an .xodr (OpenDRIVE)");
  }
  if (!std::filesystem::exists(flags.file)) throw InputError({flags.file, 0, 0}, "does not exist");
  std::optional<Converted> converted;
  if (open_drive) converted.emplace(flags.file);
  const std::string from = converted ? converted->network() : flags.file;
  const road::Network network = road::read_net_xml(text_of(from), open_drive ? "road.net.xml" : flags.file);
  if (open_drive && !flags.network.empty()) write(flags.network, text_of(from));
  const std::filesystem::path model(flags.model);
  road::ModelOptions options;
  options.name = model.stem().string();
  options.origin = origin_of(flags.origin, network);
  options.cars = flags.cars;
  write(flags.model, road::model_text(network, options));
  std::string said = flags.model + ": " + std::to_string(network.lanes.size()) + " lanes, " +
                     std::to_string(network.connections.size()) + " connections, " +
                     std::to_string(network.signals.size()) + " signals";
  if (const std::string lanes = road::intersections_text(network, options.origin); !lanes.empty()) {
    const std::string beside = (model.parent_path() / (options.name + ".lanes.yaml")).string();
    write(beside, "# Signals and lanes of " + flags.model + ", for scenarios with `agents` and `v2x`.\n" + lanes);
    said += "; " + beside;
  }
  print(said + "\n");
  return exit_fine;
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("import", "import what another tool describes as a scenario");
  verb->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* ssp = verb->add_subcommand("ssp", "a system of FMUs, SSP 1.0: components, connections, parameters");
  ssp->add_option("FILE", flags->file, "the .ssp file")->required();
  ssp->add_option("-o,--output", flags->folder, "folder for the scenario and its FMUs")->required();
  ssp->add_option("--every", flags->every, "communication step of all FMUs; as each FMU says if left out");
  auto road_flags = std::make_shared<RoadFlags>();
  CLI::App* road =
      verb->add_subcommand("road", "a model to drive on, of a road network: SUMO's .net.xml, or OpenDRIVE");
  road->add_option("FILE", road_flags->file, "the .net.xml or .xodr file")->required();
  road->add_option("-o,--output", road_flags->model, "the model, MJCF; NAME.lanes.yaml is written beside it")
      ->required();
  road->add_option("--origin", road_flags->origin, "X,Y of the network, or `centre`: becomes the world's origin");
  road->add_option("--cars", road_flags->cars, "bodies traffic_00 and up, which show vehicles of SUMO")
      ->check(CLI::Range(0, 10000));
  road->add_option("--network", road_flags->network, "of OpenDRIVE: where the .net.xml goes that SUMO drives on");
  road->callback([&action, road_flags] { action = [road_flags] { return import_road(*road_flags); }; });
  add_import_map(*verb, action);
  ssp->callback([&action, flags] { action = [flags] { return import_ssp(*flags); }; });
}

}  // namespace isochron::app
