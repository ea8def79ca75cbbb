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

/// Each has a program that holds it on its brake: what a driver does with its car is not what is measured here.
Scenario with_programs(const std::string& duration) {
  std::string members, robots;
  for (int i = 1; i <= cars; ++i) {
    const std::string name = (i < 10 ? "car0" : "car") + std::to_string(i);
    members += "    " + name + ": {kind: car, client: " + (i % 2 == 0 ? "one" : "two") + "}\n";
    robots += "  " + name + ": {programs: {driver: {run: [" BENCH_PROGRAM ", drive], every: 20ms, ";
    robots += "compute: {modelled: {fixed: 1ms}}}}}\n";
  }
  const std::string text = "name: driven_cars\nduration: " + duration +
                           "\nworld: {model: " MODELS
                           "/intersection.xml, step: 5ms}\nagents:\n  heartbeat: 10ms\n  members:\n" +
                           members + "robots:\n" + robots + "time: {mode: heartbeat}\n";
  return read_scenario(text, "bench.yaml", "/tmp");
}

RunReport run_it(const Scenario& scenario) {
  const std::string journal = "/tmp/isochron_bench_" + std::to_string(getpid()) + ".mcap";
  WallClock clock;
  PosixDisk disk;
  RunWatch watch;
  RunReport report = run_scenario(scenario, {.journal = journal, .machine = {}}, clock, disk, watch);
  std::filesystem::remove(journal);
  return report;
}

}  // namespace

void bench_driven_cars(Report& report) {
  const int seconds = report.long_run() ? 10 : 3;
  const std::string duration = std::to_string(seconds) + "s";
  const Scenario driven = with_programs(duration);
  const Scenario built_in = load_scenario(MODELS "/../examples/agents/thirty_cars.yaml", {{"duration", duration}});
  double activations = 1;
  const auto wall_with = [&] {
    const RunReport done = run_it(driven);
    activations = 0;
    for (const ProgramReport& program : done.programs) activations += static_cast<double>(program.activations);
    return done.wall.seconds();
  };
  const auto [with, without] = side_by_side(3, wall_with, [&] { return run_it(built_in).wall.seconds(); });
  report.ratio_at_least("cars_30_each_with_a_modelled_executable_real_time_factor", seconds / with, "x",
                        "built-in drivers", seconds / without, 0.5);
  report.at_least("cars_30_each_with_a_modelled_executable", seconds / with, "x", 6);
  report.ratio_at_most("cost_per_request_of_a_driving_program", (with - without) * 1e6 / (activations * requests), "us",
                       "bare futex switch and back", bare_switch_us(), 1.3);
}

}  // namespace isochron::bench
