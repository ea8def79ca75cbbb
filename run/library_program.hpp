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

  Result<std::span<const Command>, std::string> call(SimTime at, Letters& letters) override;

 private:
  /// Those of the call at hand.
  class Post final : public world::Letters {
   public:
    bool receive(std::string_view from, std::string_view type, std::vector<std::byte>& into) override {
      return now != nullptr && now->receive(from, type, into);
    }
    void send(std::string_view to, std::string_view type, std::span<const std::byte> bytes) override {
      if (now != nullptr) now->send(to, type, bytes);
    }
    CalledProgram::Letters* now = nullptr;
  };

  Stage& stage_;
  const WorldPlant& plant_;
  StageSenses senses_;  // before the host, which reads it
  Post letters_;
  world::ControllerHost host_;
  std::vector<Command> commands_;
};

/// Makes them for robot_specs(). Throws InputError at the place of the library.
MakeCalled libraries_of(const Scenario& scenario, Stage& stage, const WorldPlant& plant);

}  // namespace isochron
