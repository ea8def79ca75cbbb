#pragma once
// The aircraft of a scenario: bodies of its model that fly. Their commands and readings appear in the World beside the
// model's own (NAME/motor1, NAME/rotor_speed, NAME/battery, …), and in the journal as /aircraft/NAME.
//
// Threads: the stage's.

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/message.hpp"
#include "run/run_record.hpp"
#include "scenario/scenario.hpp"
#include "world/aircraft/multirotor.hpp"
#include "world/world.hpp"

namespace isochron {

/// What one aircraft does, for plots.
struct AircraftState {
  SimTime stamp;
  double height = 0;    // m, of its body's origin in the world
  double speed = 0;     // m/s over ground
  double airspeed = 0;  // m/s
  double tilt = 0;      // rad from upright
  double throttle = 0;  // mean of the commands
  double thrust = 0;    // N, all rotors
  double voltage = 0, current = 0, charge = 0;
  double power = 0;                 // W
  double energy = 0;                // J so far
  std::array<double, 3> wind{};     // m/s, gusts included
  std::vector<double> rotor_speed;  // rad/s
};
ISOCHRON_MESSAGE(AircraftState, "isochron_msgs/msg/AircraftState", stamp, height, speed, airspeed, tilt, throttle,
                 thrust, voltage, current, charge, power, energy, wind, rotor_speed)

/// The air of a scenario; what `world.wind` says of it.
void set_air(const Scenario& scenario, world::Air& air);

class Aircraft {
 public:
  /// Adds all of them to the world. Throws InputError with every mistake, placed in the scenario.
  Aircraft(const Scenario& scenario, world::World& world);

  /// The wind changed.
  void set_air(const Scenario& scenario) { isochron::set_air(scenario, *air_); }
  /// AIRCRAFT/motor2; false: there is no such rotor.
  bool lose_blade(std::string_view rotor, double share);
  /// Null: the body is no aircraft.
  [[nodiscard]] const world::Multirotor* on(std::uint32_t body) const;

  /// Writes what aircraft do into the journal. It repeats what the state has, under names, and is not in the digest.
  void begin(Journal& journal);
  void write(Producer& producer, const world::State& state);

 private:
  struct One {
    world::Multirotor* aircraft;  // the world's
    std::size_t command_at = 0;   // its first number in State::commands
    std::size_t sensor_at = 0;    // and in State::sensors
    ChannelId channel;
    AircraftState message;
  };
  std::shared_ptr<world::Air> air_;
  std::vector<One> all_;
};

}  // namespace isochron
