#pragma once
// A multirotor: a free body of the model with any number of rotors. Each rotor's speed follows its command with a lag;
// thrust and torque are curves of the speed. Air that moves across a rotor drags it along (induced drag), the ground
// below carries more, a battery that is used up or loaded turns the motors slower, and a blade can break.
//
//     command ──× volts──► speed wanted ──lag──► ω ──┬─► thrust T(ω) · ground effect − climb · ω · v_axial
//                                                    ├─► torque Q(ω) against its turning, and J dω/dt
//                                                    └─► − induced · ω · v_across at the hub
//
// Commands NAME/motor1 … are 0 … 1; beyond they are clamped. Readings: NAME/rotor_speed, NAME/thrust, NAME/battery
// (volts, amperes, charge, watts, joules), NAME/wind (world frame, gusts included).
//
// Promises: the lag is solved exactly, and T, Q are those of the mean over the step.
// Threads:  the world's owner thread. Cost: some 50 ns a rotor; never allocates in a step.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "world/aircraft/air.hpp"
#include "world/aircraft/battery.hpp"
#include "world/aircraft/frame.hpp"
#include "world/part.hpp"
#include "world/vehicle/ground.hpp"

namespace isochron::world {

/// What a rotor gives by its speed in rad/s: factor · ω², or points joined by straight lines, and beyond the last one
/// as the square of the speed.
struct RotorCurve {
  double factor = 0;
  std::vector<std::array<double, 2>> points;
  [[nodiscard]] double at(double speed) const;
};

struct RotorSettings {
  double max_speed = 900;          // rad/s, at full command and full voltage
  RotorCurve thrust{7.4e-6, {}};   // N
  RotorCurve torque{1.18e-7, {}};  // N m
  double spin_up = 0.025;          // s, time constants
  double spin_down = 0.05;
  double radius = 0.12;        // m, for the ground effect
  double inertia = 3e-5;       // kg m² of rotor and motor about the axis
  double induced_drag = 8e-5;  // N for each rad/s and m/s across the axis
  double climb = 8e-5;         // N of thrust lost for each rad/s and m/s along the axis
};

struct MultirotorSettings {
  std::vector<Rotor> rotors;
  RotorSettings rotor;
  Vec3 drag_area{0.015, 0.015, 0.03};  // Cd·A of the body along its axes, m²
  bool ground_effect = true;
  std::optional<BatterySettings> battery;  // none: full voltage for ever
};

/// Cheeseman and Bennett: thrust near the ground over thrust far from it, at the same speed. Bounded below half a
/// radius, where a rotor does not fly.
double ground_effect(double radius, double height);

class Multirotor final : public Part {
 public:
  /// `ground` may be null: then it has no effect. `seed` is of its gusts. Throws InputError.
  Multirotor(const Engine& engine, std::string body, MultirotorSettings settings, std::shared_ptr<const Air> air,
             std::shared_ptr<const Ground> ground, std::uint64_t seed);

  [[nodiscard]] std::uint32_t body() const { return body_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const MultirotorSettings& settings() const { return settings_; }
  [[nodiscard]] std::size_t rotors() const { return spins_.size(); }
  /// Its rotors turn already, as fast as carries its weight.
  void begin_airborne(const Engine& engine);
  /// A blade breaks: the rotor keeps this share of thrust and torque, for good.
  void lose_blade(std::size_t rotor, double share) { spins_[rotor].blades = share; }

  void act(Engine& engine, SimSpan dt, Wrenches& wrenches) override;
  [[nodiscard]] std::vector<ActuatorInfo> actuators() const override;
  void command(std::uint32_t actuator, double value) override { spins_[actuator].command = value; }
  [[nodiscard]] double commanded(std::uint32_t actuator) const override { return spins_[actuator].command; }
  [[nodiscard]] std::vector<SensorInfo> sensors() const override;
  void read(std::span<double> values) const override;
  [[nodiscard]] std::size_t state_size() const override;
  void save(std::span<double> state) const override;
  void restore(std::span<const double> state) override;

 private:
  struct Spin {
    double command = 0;
    double speed = 0;   // rad/s
    double thrust = 0;  // N, of the last step
    double blades = 1;  // 1 whole, 0 none
  };
  struct Sum {
    Vec3 force{}, torque{};  // body frame, about the centre of mass
    Vec3 momentum{};         // of all that turns
    double power = 0;        // W at the shafts
  };
  void set_step(double dt);
  Vec3 air_at(const Motion& motion, double dt);
  [[nodiscard]] double height_of_ground(const Motion& motion) const;
  void turn(std::size_t rotor, const Vec3& through_air, const Vec3& turning, double lift, double dt, Sum& sum);
  void carry(Carrier& c);

  std::string name_;
  std::uint32_t body_ = 0;
  Vec3 centre_{};
  MultirotorSettings settings_;
  std::shared_ptr<const Air> air_;
  std::shared_ptr<const Ground> ground_;
  Gusts gusts_;
  double dt_ = 0, keep_up_ = 0, keep_down_ = 0;
  double reach_ = 0;  // below this height over ground there is an effect
  std::vector<Spin> spins_;
  Battery battery_;
  Vec3 wind_{};
};

}  // namespace isochron::world
