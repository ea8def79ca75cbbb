#pragma once
// The programs that drive one client's agents: those of the robots whose bodies the client simulates. They take turns
// with its world (scenario/companions.hpp), so every contract, every kind of program and every mode of agents goes
// together. A car whose robot has programs has no built-in driver: its controls (NAME/steer, …) are theirs.
//
// A client may begin late or be told to begin again later; then its programs' clocks begin at the client's time, and
// stand still while it is outside.
//
// Threads: the client's.

#include <optional>
#include <string>

#include "scenario/companions.hpp"
#include "scenario/run.hpp"
#include "scenario/world_plant.hpp"

namespace isochron {

class AgentPrograms {
 public:
  /// `scenario` has this client's robots only. Throws InputError.
  AgentPrograms(const Scenario& scenario, Stage& stage);
  ~AgentPrograms();

  /// Whom what they do is told to; outlives them.
  void record_with(coordinator::Recorder& recorder) { recorder_ = &recorder; }
  /// They begin at `begin`, which is the stage's present time. Requires record_with().
  void start(SimTime begin, SimTime until, std::function<bool()> stopping = {});
  [[nodiscard]] bool started() const { return companions_.has_value(); }
  /// Before each step: all that they do until it ends. Fails: why they ended. Requires start().
  Result<Done, std::string> take_turn();
  /// What they did; nothing where they were never started.
  void finish(RunReport& report);

  [[nodiscard]] const coordinator::Numbered& numbered() const { return numbered_; }
  [[nodiscard]] const WorldPlant& plant() const { return plant_; }
  [[nodiscard]] std::vector<OutputRecord> outputs() const;

 private:
  class ShiftedPlant;
  Scenario scenario_;
  Stage& stage_;
  WorldPlant plant_;
  std::vector<coordinator::RobotSpec> robots_;
  coordinator::Numbered numbered_;
  coordinator::Recorder* recorder_ = nullptr;
  std::unique_ptr<ShiftedPlant> shifted_;
  std::optional<Companions> companions_;
};

/// Whether a program drives the robot with this body.
bool has_programs(const Scenario& scenario, const std::string& body);

}  // namespace isochron
