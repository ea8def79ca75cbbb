// A step of an FMU in a scenario, journal on, beside the same FMU called bare: values set, a step, values got. The FMU
// is examples/fmu/motor.fmu: ten variables, of which two are set and three are got.

#include "run/bench/fmu_bench.hpp"

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "bridge/fmi/instance.hpp"
#include "bridge/fmi/package.hpp"
#include "flow/bench/primitives.hpp"
#include "journal/disk.hpp"
#include "run/fmu_nodes.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"

namespace isochron::bench {
namespace {

using fmi::Type;

double bare_ns(const std::string& file, int steps, double size) {
  const auto package = fmi::open_package(file);
  fmi::Log log;
  const auto motor = fmi::Instance::make(package->description(), {"motor", package->folder(), false}, log);
  motor->initialise(0, std::nullopt);
  const fmi::Batch inputs{Type::float64, {0, 1}, 2}, outputs{Type::float64, {2, 3, 9}, 3};
  double in[2] = {12, 0.1}, out[3] = {};
  return ns_per_call(
      static_cast<std::uint64_t>(steps),
      [&, at = 0.0]() mutable {
        for (int i = 0; i < steps; ++i, at += size) {
          in[1] = 0.001 * out[0];
          motor->step(
              {at, at + size, size}, [&] { motor->set(inputs, in); }, fmi::Instance::Change::continuous);
          motor->get(outputs, out);
        }
        keep(out[0]);
      },
      1);
}

double node_ns(const std::string& every, int steps, int period_ms, int motors, const std::string& process) {
  std::string text = "name: motors\nduration: " + std::to_string(period_ms * steps) + "ms\nnodes:\n";
  for (int i = 0; i < motors; ++i) {
    const std::string name = "m" + std::to_string(i);
    const std::string other = "m" + std::to_string((i + 1) % motors);
    text += "  " + name + ": {fmu: motor.fmu, every: " + every + ", process: " + process +
            ", parameters: {voltage: 12}, inputs: {load: " + other + ".out.torque}}\n";
  }
  text += "flows: {executor: thread}\ntime: {mode: repeatable}\n";
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("isochron_fmus_" + std::to_string(getpid()))).string();
  std::filesystem::create_directories(folder);
  const Scenario scenario = read_scenario(text, "motors.yaml", folder);
  WallClock clock;
  PosixDisk disk;
  RunWatch watch;
  RunOptions options;
  options.journal = folder + "/motors.mcap";
  const RunReport report = run_scenario(scenario, options, clock, disk, watch);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  const double all = 1e9 * report.wall.seconds();
  return report.end == RunReport::End::finished ? all / steps / motors : NAN;
}

}  // namespace

void bench_fmus(Report& report) {
  const std::string file = fmu_file("motor.fmu", ".");
  if (!std::filesystem::exists(file)) return report.found("fmu_steps_are_not_measured_without_motor_fmu", 0, "");
  const auto [node, bare] = side_by_side(
      5, [] { return node_ns("10ms", 100'000, 10, 2, "shared"); }, [&] { return bare_ns(file, 200'000, 0.01); });
  report.ratio_at_most("fmu_node_10_variables_step", node, "ns", "the FMU called bare", bare, 1.2);
  const auto [own, futex] = side_by_side(
      3, [] { return node_ns("10ms", 5'000, 10, 2, "own"); }, [] { return 2e9 / futex_ping_pong(5'000); });
  report.ratio_at_most("fmu_node_in_a_process_of_its_own_step", own, "ns", "two bare futex round trips", futex, 1);
  const double ten = node_ns("10ms", 10'000, 10, 10, "shared"), thousand = node_ns("10ms", 1000, 10, 1000, "shared");
  report.ratio_at_most("fmu_nodes_1000_step", thousand, "ns", "of 10 FMUs", ten, 2);
}

}  // namespace isochron::bench
