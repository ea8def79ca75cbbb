#pragma once
// The stage as programs meet it: variables with names. For each robot R with a body in the model
//
//     R/pose      isochron_msgs/msg/Motion   where it is and how it moves
//     R/wrench    isochron_msgs/msg/Wrench   a push on it, held until the next write
//
// for each of its sensors S that the scenario declares, what is available at the reader's own time
//
//     R/S         a plain value of msg/sensor_types.hpp; pictures and scans as CDR, R/S/depth where there are several
//
// where joints hang on that body, all of them at once, hinges and slides in the model's order
//
//     R/joint_positions, R/joint_velocities   float64[n]
//     R/efforts                               float64[n], written and read back: the actuators that are named like them
//
// where that body is an aircraft
//
//     R/motors    float64[n]                 0 … 1 for each rotor, written and read back
//
// and for everything the model names: actuators (float64, written and read back) and sensors (float64 or float64[n]).
// A program of robot R may leave "R/" out. Who reads a sensor with `acquire` is kept waiting for that long.
//
// Promises: reads at t see the state at the last step not after t. Writes act in the step in which they fall.

#include <vector>

#include "msg/robot_types.hpp"
#include "programs/plant.hpp"
#include "run/stage.hpp"

namespace isochron {

class WorldPlant final : public programs::Plant {
 public:
  WorldPlant(Stage& stage, const Scenario& scenario);

  [[nodiscard]] const std::vector<programs::Variable>& variables() const override { return variables_; }
  /// Where the commands of the world's actuator are written.
  [[nodiscard]] std::uint32_t variable_of_actuator(std::uint32_t actuator) const { return actuators_ + actuator; }
  [[nodiscard]] SimTime time() const override { return stage_.world().time(); }
  Result<Done, std::string> advance_to(SimTime t) override;
  /// The world as it was at the last step.
  [[nodiscard]] const world::State& state() const { return state_; }
  /// What is read is the stage as it is now: where others changed it since the last step.
  void refresh() { stage_.world().read(state_); }
  SimTime asked(std::uint32_t variable, SimTime at) override;
  void read(std::uint32_t variable, SimTime at, std::span<std::byte> value) override;
  programs::Sample sample(std::uint32_t variable, SimTime at, std::span<std::byte> room) override;
  [[nodiscard]] SimTime holds_until(std::uint32_t variable, SimTime at) const override;
  [[nodiscard]] Result<Done, std::string> check(std::uint32_t variable,
                                                std::span<const std::byte> value) const override;
  void write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) override;

 private:
  enum class Kind { pose, wrench, actuator, sensor, reading, joint_positions, joint_velocities, efforts };
  struct Source {
    Kind kind;
    std::uint32_t index;  // of the body, actuator or sensor
    Wrench held;
    std::uint32_t output = 0;  // of a reading
  };
  void add_body(const std::string& robot, const RobotSection& section);
  void add_sensor(std::uint32_t index);
  [[nodiscard]] bool has(const std::string& name) const;
  void add(programs::Variable variable, Kind kind, std::uint32_t index);
  void add_joints(const std::string& robot, std::uint32_t body);
  void add_motors(const std::string& robot, std::uint32_t body);

  Stage& stage_;
  std::vector<programs::Variable> variables_;
  std::vector<Source> sources_;
  std::uint32_t actuators_ = 0;  // the variable of the first
  world::State state_;
  std::vector<std::vector<std::uint32_t>> lists_;  // where the numbers of joint_positions, … and efforts are
};

}  // namespace isochron
