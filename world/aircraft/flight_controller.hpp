#pragma once
// A cascaded flight controller for a multirotor: position → velocity → attitude → rates → mixer. It knows the vehicle
// by its mass, inertia and rotors, and gives a command of 0 … 1 for each motor. It depends on nothing but its inputs,
// so that it serves inside the world (autopilot.hpp) and in a program of its own alike.
//
// Frames: the world is x east, y north, z up; the body x forward, y left, z up. Quaternions w x y z.
// Threads: owner thread. Cost: step() is some 200 ns; never allocates.

#include <array>
#include <span>
#include <vector>

#include "world/aircraft/frame.hpp"
#include "world/vectors.hpp"

namespace isochron::world {

struct FlightVehicle {
  std::vector<Rotor> rotors;
  Vec3 centre{};  // of mass, in the body's frame
  double mass = 1;
  Vec3 inertia{0.005, 0.005, 0.01};  // kg m²
  double max_thrust = 6;             // N of one rotor at full command; thrust goes with the command squared
  double torque_ratio = 0.016;       // N m of torque for each N of thrust
  double gravity = 9.81;
};

struct FlightGains {
  double position = 1.2;           // 1/s
  double velocity = 3.5;           // 1/s
  double velocity_integral = 1.2;  // 1/s²
  double attitude = 9;             // 1/s
  double yaw = 4;                  // 1/s
  double rate = 28;                // 1/s
  double yaw_rate = 10;            // 1/s
  double max_speed = 4;            // m/s
  double max_climb = 1.5;          // m/s
  double max_acceleration = 5;     // m/s², level
  double max_tilt = 0.6;           // rad
  double max_yaw_rate = 1.5;       // rad/s
};

struct FlightState {
  Vec3 position{}, velocity{};
  Quat orientation{1, 0, 0, 0};
  Vec3 rates{};  // body frame
};

struct FlightGoal {
  Vec3 position{};
  Vec3 velocity{};  // on top of what the position asks for
  double yaw = 0;
  double yaw_rate = 0;
};

class FlightController {
 public:
  explicit FlightController(FlightVehicle vehicle, const FlightGains& gains = {});

  /// Commands for the motors, 0 … 1, from now on for dt.
  std::span<const double> step(const FlightState& state, const FlightGoal& goal, double dt);
  /// What it has learned: of the wind, and of rotors that do not give what they should.
  struct Memory {
    Vec3 wind{}, torque{};
  };
  [[nodiscard]] const Memory& memory() const { return memory_; }
  void set_memory(const Memory& memory) { memory_ = memory; }
  [[nodiscard]] std::span<const double> motors() const { return motors_; }

 private:
  [[nodiscard]] Vec3 wanted_acceleration(const FlightState& state, const FlightGoal& goal, double dt);
  void mix(double thrust, const Vec3& torque);

  FlightVehicle vehicle_;
  FlightGains gains_;
  std::vector<std::array<double, 4>> shares_;  // thrust of each rotor for a unit of lift, roll, pitch and yaw
  Memory memory_;
  std::vector<double> motors_;
};

double yaw_of(const Quat& q);

}  // namespace isochron::world
