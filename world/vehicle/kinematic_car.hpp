#pragma once
// A car for crowds: the bicycle model, without forces. It follows its commands as far as its tyres hold, stays on the
// ground, and moves a mocap body (or a free one), so that others see it and run into it.
//
//     ẋ = v cos ψ   ẏ = v sin ψ   ψ̇ = v κ   v̇ = a      κ = tan(δ) / wheelbase
//
// Promises: (v² κ)² + a² ≤ (friction · ground's friction · g)²: what bends the way comes first, brakes and drive get the
//           rest; and a ≤ `acceleration`.
//
// Mocap bodies NAME/wheel_fl, _fr, _rl and _rr show its wheels when the model has such.
//
// Commands: NAME/steer −1 … 1, NAME/acceleration m/s² (it never rolls backwards). Reading: NAME/speed.

#include <array>
#include <memory>
#include <string>

#include "world/part.hpp"
#include "world/vehicle/ground.hpp"

namespace isochron::world {

struct KinematicCarSettings {
  double wheelbase = 2.65;
  double max_steer = 0.61;  // rad
  double height = 0.54;     // of the body's frame over the ground
  double rear_axle = -1.4;  // in the body's frame
  double half_track = 0.77, axle_height = -0.25, wheel_radius = 0.31;
  double start_speed = 0;
  double friction = 1.0;    // of its tyres, on a surface of friction 1
  double acceleration = 4;  // m/s², the most that its drive gives
};

class KinematicCar final : public Part {
 public:
  KinematicCar(const Engine& engine, std::string body, KinematicCarSettings settings,
               std::shared_ptr<const Ground> ground);

  void act(Engine& engine, SimSpan dt, Wrenches& wrenches) override;
  [[nodiscard]] std::vector<ActuatorInfo> actuators() const override;
  void command(std::uint32_t actuator, double value) override { commands_[actuator] = value; }
  [[nodiscard]] double commanded(std::uint32_t actuator) const override { return commands_[actuator]; }
  [[nodiscard]] std::vector<SensorInfo> sensors() const override;
  void read(std::span<double> values) const override { values[0] = speed_; }
  [[nodiscard]] std::size_t state_size() const override { return 9; }
  void save(std::span<double> state) const override;
  void restore(std::span<const double> state) override;

  [[nodiscard]] std::uint32_t body() const { return body_; }
  [[nodiscard]] double speed() const { return speed_; }

  /// From now on it is there and drives so fast.
  void put(Engine& engine, double x, double y, double heading, double speed);
  /// Out of everybody's way and sight, until it is put somewhere.
  void take_away(Engine& engine);

 private:
  [[nodiscard]] double grip() const { return settings_.friction * surface_ * gravity_; }
  void show(Engine& engine, double x, double y, double from, double yaw_rate, double steer);
  void show_wheels(Engine& engine, const Motion& motion, double steer) const;
  std::string name_;
  std::uint32_t body_ = 0;
  KinematicCarSettings settings_;
  std::shared_ptr<const Ground> ground_;         // shared by all cars of a world
  std::array<std::uint32_t, 4> wheel_bodies_{};  // 0: not shown
  double x_ = 0, y_ = 0, yaw_ = 0, speed_ = 0;   // of the rear axle
  double rolled_ = 0;                            // angle of the wheels
  double gravity_ = 9.81, surface_ = 1;          // friction of the ground that it stands on
  bool away_ = false;
  double commands_[2]{};
};

}  // namespace isochron::world
