// Thirty cars with full dynamics on two clients in one process, journal on. Each is driven by an executable of its own at
// 50 Hz with modelled computing, which reads two variables and writes three; beside it the same cars with built-in drivers.
//
//     wait ─▶ read_all ─▶ write_all ─▶ wait       three requests an activation, each a wake of the program and back

#include "run/bench/driven_cars_bench.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "journal/disk.hpp"
#include "programs/bench/bare_switch.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"

namespace isochron::bench {
namespace {

constexpr int cars = 30;
constexpr int requests = 3;

RunReport drive(bool programs, int seconds) {
  std::string members, robots;
  for (int i = 1; i <= cars; ++i) {
    const std::string name = (i < 10 ? "car0" : "car") + std::to_string(i);
    const std::string client = i % 2 == 0 ? "one" : "two";
    // Nobody goes anywhere in particular: a path along the first lane is as good as another for what a driver costs.
    const std::string path = programs ? "" : ", speed: 8, path: [[1.75, -100], [1.75, 115]]";
    members += "    " + name + ": {kind: car, client: " + client + path + "}\n";
    robots += "  " + name + ": {programs: {driver: {run: [" BENCH_PROGRAM ", drive], every: 20ms, ";
    robots += "compute: {modelled: {fixed: 1ms}}}}}\n";
  }
  const std::string text =
      "name: driven_cars\nduration: " + std::to_string(seconds) + "s\nworld: {model: " MODELS
      "/intersection.xml, step: 5ms}\nagents:\n  heartbeat: 10ms\n  members:\n" + members +
      (programs ? "robots:\n" + robots : "") + "time: {mode: heartbeat}\n";
  const std::string journal = "/tmp/isochron_bench_" + std::to_string(getpid()) + ".mcap";
  WallClock clock;
  PosixDisk disk;
  RunWatch watch;
  RunReport report =
      run_scenario(read_scenario(text, "bench.yaml", "/tmp"), {.journal = journal, .machine = {}}, clock, disk, watch);
  std::filesystem::remove(journal);
  return report;
}

}  // namespace

void bench_driven_cars(Report& report) {
  const int seconds = report.long_run() ? 10 : 3;
  double activations = 1;
  const auto wall_with = [&] {
    const RunReport driven = drive(true, seconds);
    activations = 0;
    for (const ProgramReport& program : driven.programs) activations += static_cast<double>(program.activations);
    return driven.wall.seconds();
  };
  const auto [with, without] = side_by_side(3, wall_with, [&] { return drive(false, seconds).wall.seconds(); });
  report.ratio_at_least("cars_30_each_with_a_modelled_executable_real_time_factor", seconds / with, "x",
                        "built-in drivers", seconds / without, 0.5);
  report.at_least("cars_30_each_with_a_modelled_executable", seconds / with, "x", 6);
  report.ratio_at_most("cost_per_request_of_a_driving_program", (with - without) * 1e6 / (activations * requests), "us",
                       "bare futex switch and back", bare_switch_us(), 1.3);
}

}  // namespace isochron::bench
