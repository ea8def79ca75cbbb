#pragma once
// Runs of real processes, in few words.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "programs/coordinator.hpp"
#include "programs/test/double_integrator.hpp"

namespace isochron::programs {

using namespace std::chrono_literals;

inline SimTime at(SimSpan span) { return SimTime::zero() + span; }

inline ProgramSpec program(const std::string& name, std::vector<std::string> behaviour,
                           Compute compute = MeasuredCompute{}) {
  ProgramSpec spec;
  spec.name = name;
  spec.run = std::move(behaviour);
  spec.run.insert(spec.run.begin(), ROBOT_PROGRAM);
  spec.compute = std::move(compute);
  return spec;
}

inline RobotSpec robot(const std::string& name, std::vector<ProgramSpec> programs) {
  return {name, 1, {}, std::move(programs)};
}

inline ModelledCompute modelled(SimSpan cost) {
  ModelledCompute model;
  model.cost = cost;
  return model;
}

struct Run {
  RunOutcome outcome;
  MemoryRecorder record;
  int out_of_order = 0;
  [[nodiscard]] const ProgramOutcome& of(const std::string& name) const {
    for (const ProgramOutcome& p : outcome.programs) {
      if (p.name == name) return p;
    }
    throw std::runtime_error("no program " + name);
  }
  [[nodiscard]] std::vector<std::string> logs(std::uint32_t program) const {
    std::vector<std::string> found;
    for (const Happening& h : record.happenings) {
      if (h.kind != Happening::Kind::log || h.program != program) continue;
      found.emplace_back(reinterpret_cast<const char*>(h.bytes.data()), h.bytes.size());
    }
    return found;
  }
};

inline CoordinatorOptions quick() {
  CoordinatorOptions options;
  options.attach_within = std::chrono::seconds(30);
  options.grace = std::chrono::milliseconds(100);
  options.interpose_library = INTERPOSE_LIBRARY;
  return options;
}

inline Run run(std::vector<RobotSpec> robots, SimSpan until, CoordinatorOptions options = quick()) {
  std::vector<std::string> names;
  for (const RobotSpec& r : robots) names.push_back(r.name);
  DoubleIntegrator plant(names);
  Run result;
  Coordinator coordinator(plant, robots, options, &result.record);
  result.outcome = coordinator.run(at(until));
  result.out_of_order = plant.out_of_order;
  for (std::size_t i = 0; i < result.record.tapes.size(); ++i) {
    result.record.tapes[i].program = result.outcome.programs[i].name;
  }
  std::size_t i = 0;
  for (const RobotSpec& r : robots) {
    for (const ProgramSpec& p : r.programs) {
      if (i < result.record.tapes.size()) result.record.tapes[i].cpu_speed = p.cpu_speed;
      ++i;
    }
  }
  return result;
}

/// The same robots with what computing cost in an earlier run.
inline std::vector<RobotSpec> replayed(std::vector<RobotSpec> robots, const Run& earlier) {
  std::size_t i = 0;
  for (RobotSpec& r : robots) {
    for (ProgramSpec& p : r.programs) {
      p.compute = RecordedCompute{std::make_shared<ComputeTape>(earlier.record.tapes.at(i++))};
    }
  }
  return robots;
}

/// The first happening at which two runs part, for the message of a failed comparison; "" = they are the same.
inline std::string first_difference(const Run& a, const Run& b) {
  const auto& x = a.record.happenings;
  const auto& y = b.record.happenings;
  for (std::size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
    const std::string left = i < x.size() ? to_string(x[i]) : "nothing";
    const std::string right = i < y.size() ? to_string(y[i]) : "nothing";
    if (left != right || x[i].bytes != y[i].bytes)
      return "happening " + std::to_string(i) + ": " + left + " | " + right;
  }
  return "";
}

}  // namespace isochron::programs
