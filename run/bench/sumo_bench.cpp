// A town of SUMO, a grid of 10 × 10 crossings with a thousand cars, around the thirty cars of examples/cars: those are
// vehicles in SUMO, and SUMO's near them are bodies of the world.

#include "run/bench/sumo_bench.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/random.hpp"
#include "journal/decode.hpp"
#include "journal/disk.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"
#include "scenario/find_file.hpp"

namespace isochron::bench {
namespace {

constexpr int ours = 30, theirs = 1000, bodies = 60;

void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

/// Cars from everywhere to everywhere, all of them soon.
std::string routes() {
  std::string text = "<routes>\n  <vType id=\"car\" length=\"4.5\"/>\n";
  RandomStream random(1, "trips");
  const auto place = [&](int most) { return static_cast<int>(random.uniform() * most); };
  const auto name = [](int x, int y) { return std::string(1, static_cast<char>('A' + x)) + std::to_string(y); };
  for (int i = 0; i < theirs + theirs / 5; ++i) {
    const int x = place(9), y = place(10), to_x = place(9), to_y = place(10);
    text += "  <trip id=\"t" + std::to_string(i) + "\" type=\"car\" depart=\"" + std::to_string(0.01 * i) +
            "\" departPos=\"random_free\" departLane=\"random\" from=\"" + name(x, y) + name(x + 1, y) + "\" to=\"" +
            name(to_x, to_y) + name(to_x + 1, to_y) + "\"/>\n";
  }
  return text + "</routes>\n";
}

std::string model() {
  std::string text = "<mujoco>\n<include file=\"intersection.xml\"/>\n<worldbody>\n";
  for (int i = 0; i < bodies; ++i) {
    text += "<body name=\"traffic_" + std::to_string(i) + "\" mocap=\"true\" pos=\"10000 " +
            std::to_string(10000 + 20 * i) + " 5\"><geom type=\"box\" size=\"2.25 0.9 0.5\" pos=\"0 0 0.7\"/></body>\n";
  }
  return text + "</worldbody>\n</mujoco>\n";
}

std::string scenario_text() {
  std::string text =
      "name: town\nduration: 30s\nseed: 1\nworld: {model: town.xml, step: 10ms}\n"
      "nodes: {traffic: {sumo: {network: town.net.xml, routes: [town.rou.xml], bodies: [traffic_*], near: 100, "
      "origin: [800, 800], arguments: [--no-warnings, \"true\"]}}}\ntime: {mode: repeatable}\nvehicles:\n";
  for (int i = 1; i <= ours; ++i) {
    const std::string name = "car" + std::string(i < 10 ? "0" : "") + std::to_string(i);
    const int lane = (i - 1) / 8, at = (i - 1) % 8;
    const double off = at < 4 ? 1.75 : 5.25;
    const std::string there = std::to_string(lane == 0 || lane == 3 ? off : -off);
    const std::string from = lane % 2 == 0 ? (lane == 0 ? "-60" : "60") : (lane == 3 ? "-60" : "60");
    const std::string to = from == "60" ? "-115" : "115";
    const std::string path = lane % 2 == 0 ? "[[" + there + ", " + from + "], [" + there + ", " + to + "]]"
                                           : "[[" + from + ", " + there + "], [" + to + ", " + there + "]]";
    text += "  " + name + ": {driver: {path: " + path + ", speed: 9}}\n";
  }
  return text;
}

}  // namespace

void bench_sumo(Report& report) {
  const auto generate = find_program("netgenerate", ".");
  if (!generate || !find_program("isochron_sumo", ".")) {
    return report.found("sumo_is_not_measured_because_it_is_not_installed", 0, "");
  }
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("isochron_town_" + std::to_string(getpid()))).string();
  std::filesystem::create_directories(folder);
  const std::string make = *generate +
                           " --grid --grid.number=10 --grid.length=200 --default.lanenumber 2 --tls.guess true "
                           "--no-warnings true --seed 1 --output-file " +
                           folder + "/town.net.xml > /dev/null 2>&1";
  const bool made = std::system(make.c_str()) == 0;
  for (const char* model : {"intersection.xml", "intersection_cars.xml"}) {
    std::filesystem::copy_file(std::string(MODELS) + "/" + model, folder + "/" + model,
                               std::filesystem::copy_options::overwrite_existing);
  }
  write(folder + "/town.rou.xml", routes());
  write(folder + "/town.xml", model());
  write(folder + "/town.yaml", scenario_text());
  if (made) {
    const Scenario scenario = load_scenario(folder + "/town.yaml");
    WallClock clock;
    PosixDisk disk;
    RunWatch watch;
    RunOptions options;
    options.journal = folder + "/town.mcap";
    const RunReport run = run_scenario(scenario, options, clock, disk, watch);
    auto reader = McapReader::open(disk, options.journal);
    double running = 0;
    if (reader) {
      const auto series = read_series(*reader, "/traffic.traffic", "running");
      if (series && !series->values.empty()) running = series->values.back();
    }
    report.found("sumo_cars_at_the_end", running, "");
    report.at_least("sumo_1000_cars_beside_30_detailed_real_time_factor", run.real_time_factor(), "", 3);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace isochron::bench
