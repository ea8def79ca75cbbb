#pragma once
// A controller in a library as the coordinator calls it: it sees the stage as it is at its release, and its commands
// are writes to the actuators' variables.
//
// Threads: the coordinator's. Cost: no allocation of ours after the first activations.

#include <memory>
#include <string>
#include <vector>

#include "programs/called_program.hpp"
#include "run/coordinator_specs.hpp"
#include "run/stage_senses.hpp"
#include "run/world_plant.hpp"

namespace isochron {

class LibraryProgram final : public programs::CalledProgram {
 public:
  /// Throws InputError: the library cannot be loaded, or its controller does not want to be made.
  LibraryProgram(const Scenario& scenario, const std::string& robot, const std::string& name,
                 const ProgramSection& program, Stage& stage, const WorldPlant& plant);

  Result<std::span<const Command>, std::string> call(SimTime at) override;

 private:
  Stage& stage_;
  const WorldPlant& plant_;
  StageSenses senses_;  // before the host, which reads it
  world::ControllerHost host_;
  std::vector<Command> commands_;
};

/// Makes them for robot_specs(). Throws InputError at the place of the library.
MakeCalled libraries_of(const Scenario& scenario, Stage& stage, const WorldPlant& plant);

}  // namespace isochron
