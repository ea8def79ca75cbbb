#pragma once
// The programs that drive one client's agents: those of the robots whose bodies the client simulates. They take turns
// with its world (programs/companions.hpp), so every contract, every kind of program and every mode of agents goes
// together. A car whose robot has programs has no built-in driver: its controls (NAME/steer, …) are theirs. Bridges to
// nodes of ROS take their turns with them.
//
// A client may begin late or be told to begin again later; then its programs' clocks begin at the client's time, and
// stand still while it is outside.
//
// Threads: the client's.

#include <optional>
#include <string>

#include "programs/companions.hpp"
#include "run/board_host.hpp"
#include "run/radio_post.hpp"
#include "run/robot_wires.hpp"
#include "run/ros_post.hpp"
#include "run/run.hpp"
#include "run/world_plant.hpp"

namespace isochron {

class AgentPrograms {
 public:
  /// `scenario` has this client's robots only; `radio`: theirs, null = they have none. Throws InputError.
  AgentPrograms(const Scenario& scenario, Stage& stage, V2xUnit* radio);
  ~AgentPrograms();

  /// Whom what they do is told to; outlives them. `journal`, `producer`: where holds of boards are written.
  void record_with(programs::Recorder& recorder, RunRecord* journal = nullptr, Producer* producer = nullptr);
  /// The bridges that stand at this client; whoever has no journal records them. Empty: none.
  [[nodiscard]] const std::vector<std::unique_ptr<RosPost>>& ros() { return ros_; }
  /// Returns when those are there whom the bridges wait for.
  void open(RunWatch& watch, Clock& clock);
  /// They begin at `begin`, which is the stage's present time. Requires open(), record_with().
  void start(SimTime begin, SimTime until, std::function<bool()> stopping = {},
             const BoardHost::Listening& on_listening = {});
  [[nodiscard]] bool started() const { return companions_.has_value(); }
  /// Before each step: all that they do until it ends. Fails: why they ended. Requires start().
  Result<Done, std::string> take_turn();
  /// What they did; nothing where they were never started.
  void finish(RunReport& report);

  /// Programs, and after them whom they talk to besides each other: there are more names than speeds.
  [[nodiscard]] const programs::Numbered& numbered() const { return numbered_; }
  [[nodiscard]] const WorldPlant& plant() const { return plant_; }
  [[nodiscard]] std::vector<OutputRecord> outputs() const;

 private:
  class ShiftedPlant;
  /// In the order of their numbers.
  std::vector<programs::Correspondent*> correspondents();
  Scenario scenario_;
  Stage& stage_;
  WorldPlant plant_;
  std::vector<programs::RobotSpec> robots_;
  programs::Numbered numbered_;
  programs::Recorder* recorder_ = nullptr;
  RunRecord* journal_ = nullptr;
  Producer* producer_ = nullptr;
  std::optional<RadioPost> radio_;
  std::vector<std::unique_ptr<RosPost>> ros_;
  std::optional<BoardHost> boards_;
  std::unique_ptr<ShiftedPlant> shifted_;
  std::optional<RobotWires> wires_;
  std::optional<programs::Companions> companions_;
};

/// Whether a program drives the robot with this body.
bool has_programs(const Scenario& scenario, const std::string& body);

}  // namespace isochron
