#include "run/bench/flow_run_bench.hpp"

#include <unistd.h>

#include <filesystem>

#include "journal/disk.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"

namespace isochron::bench {
namespace {

/// Nodes in a ring, each passes on a number every 10 ms. `flows` and `journal` are those sections.
std::string ring(int nodes, int steps, const std::string& executor, const std::string& record) {
  std::string text = "name: ring\nduration: " + std::to_string(10 * steps) + "ms\nnodes:\n";
  for (int i = 0; i < nodes; ++i) {
    text += "  n" + std::to_string(i) + ": {library: stall_nodes, type: Relay, inputs: {in: n" +
            std::to_string((i + nodes - 1) % nodes) + ".out}}\n";
  }
  return text + "flows: {executor: " + executor + "}\njournal: {record: " + record + "}\ntime: {mode: repeatable}\n";
}

struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("isochron_bench_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

/// Steps of the ring for each second, from the run's start to a finished journal.
double steps_per_s(int nodes, int steps, const std::string& executor, const std::string& record = "[]") {
  const Folder folder;
  const Scenario scenario = read_scenario(ring(nodes, steps, executor, record), "ring.yaml", folder.path.string());
  WallClock clock;
  PosixDisk disk;
  RunWatch watch;
  RunOptions options;
  options.journal = (folder.path / "ring.mcap").string();
  const RunReport result = run_scenario(scenario, options, clock, disk, watch);
  return result.end == RunReport::End::finished ? steps / result.wall.seconds() : 0;
}

}  // namespace

void bench_flow_runs(Report& report) {
  const auto [on, off] = side_by_side(
      5, [] { return 3 * steps_per_s(3, 1'000'000, "thread"); },
      [] { return 3 * steps_per_s(3, 1'000'000, "thread", "[none]"); });
  report.at_least("run_thread_ring_3_messages_per_s", on, "1/s", 10e6);
  report.ratio_at_least("run_thread_ring_3_journal_on", on, "1/s", "no flow recorded", off, 0.6);
  double three = 0, many = 0;
  for (int i = 0; i < 3; ++i) {
    three = std::max(three, steps_per_s(3, 200'000, "processes"));
    many = std::max(many, steps_per_s(1000, 1000, "processes"));
  }
  report.at_least("run_processes_ring_3_steps_per_s", three, "1/s", 150'000);
  report.at_least("run_processes_ring_1000_steps_per_s", many, "1/s", 2000);
}

}  // namespace isochron::bench
