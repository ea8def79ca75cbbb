#pragma once
// Runs of whole stacks, for tests.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "programs/test/run_support.hpp"

namespace isochron::programs {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct StackRun {
  RunOutcome outcome;
  std::uint64_t digest = 0;
  std::string output;
  std::string faults;
};

inline ProgramSpec stack(std::string name, std::vector<std::string> run, Compute compute) {
  ProgramSpec spec;
  spec.name = std::move(name);
  spec.run = std::move(run);
  spec.virtual_clock = spec.stack = true;
  spec.compute = std::move(compute);
  spec.on_failure = OnFailure::go_on;
  return spec;
}

inline StackRun run_stacks(std::vector<RobotSpec> robots, SimSpan duration, std::vector<NetworkSpec> networks = {},
                           std::vector<OutsideSpec> outside = {}) {
  std::vector<std::string> names;
  for (const RobotSpec& r : robots) names.push_back(r.name);
  DoubleIntegrator plant(names);
  CoordinatorOptions options = quick();
  options.epoch.unix_ns = 0;
  options.hang_after = seconds(10);
  options.networks = std::move(networks);
  options.outside = std::move(outside);
  MemoryRecorder recorder;
  Coordinator coordinator(plant, std::move(robots), options, &recorder);
  StackRun run;
  run.outcome = coordinator.run(SimTime::zero() + duration);
  run.digest = digest(recorder.happenings);
  for (const ProgramOutcome& program : run.outcome.programs) {
    run.output += program.output;
    for (const std::string& fault : program.faults) run.faults += fault + "\n";
  }
  return run;
}

inline StackRun run_shell(const std::string& script, Compute compute, SimSpan duration = seconds(60)) {
  return run_stacks({RobotSpec{"robot", 1, {}, {stack("script", {"/bin/bash", "-c", script}, std::move(compute))}}},
                    duration);
}

inline const ModelledCompute model{
    ModelledCompute::Shape::fixed, milliseconds(1), {}, {}, 1, std::chrono::microseconds(5), {}};

}  // namespace isochron::programs
