#pragma once
// The vehicles of a scenario: bodies of its model that drive. Their commands and readings appear in the World beside
// the model's own (NAME/steer, NAME/speed, …), and in the journal as /vehicles/NAME.
//
// Threads: the stage's.

#include <array>
#include <string>
#include <vector>

#include "core/message.hpp"
#include "run/run_record.hpp"
#include "scenario/scenario.hpp"
#include "world/world.hpp"

namespace isochron {

/// What one vehicle does, for plots. A kinematic one has no gears, pedals or wheels: those stay zero.
struct VehicleState {
  SimTime stamp;
  double speed = 0;  // m/s forward
  double steer = 0;  // −1 … 1, left positive
  double throttle = 0;
  double brake = 0;
  double acceleration = 0;  // m/s² commanded; kinematic only
  double gear = 0;
  double rpm = 0;
  std::array<double, 4> wheel_speed{};  // rad/s: front left, front right, rear left, rear right
  std::array<double, 4> suspension{};   // m of travel
  std::array<double, 4> tyre_load{};    // N
};
ISOCHRON_MESSAGE(VehicleState, "isochron_msgs/msg/VehicleState", stamp, speed, steer, throttle, brake, acceleration,
                 gear, rpm, wheel_speed, suspension, tyre_load)

/// Adds all of them, each with its driver. Throws InputError with every mistake, placed in the scenario or in a
/// driver's file.
void add_vehicles(const Scenario& scenario, world::World& world);

/// Writes what vehicles do into the journal. It repeats what the state has, under names, and is not in the digest.
class VehicleRecord {
 public:
  VehicleRecord(const Scenario& scenario, const world::World& world);
  void begin(Journal& journal);
  void write(Producer& producer, const world::State& state);

 private:
  struct Vehicle {
    std::string name;
    bool full = true;
    std::size_t command_at = 0;  // its first number in State::commands
    std::size_t sensor_at = 0;   // and in State::sensors
    ChannelId channel;
  };
  std::vector<Vehicle> vehicles_;
  VehicleState message_;
};

}  // namespace isochron
