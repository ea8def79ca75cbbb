#pragma once
// A car with fourteen degrees of freedom: six of its chassis, a free body of the engine that collides and is seen, and
// a suspension travel and a spin for each of four wheels, which live here. Before each step the wheels are advanced
// over the ground in sub-steps of at most a millisecond, and what the tyres did to the car is applied to the chassis.
//
//        z ▲   ┌──────── chassis ────────┐      body NAME: x forward, y left, its mass includes the wheels
//          └─► x   spring, damper, bar
//               (●)                  (●)        wheels ride along the chassis' z; mocap bodies NAME/wheel_fl, _fr,
//          ─────┴────── ground ───────┴────     _rl, _rr show them when the model has such
//
// The tyre force has a lag (relaxation length), which is also what holds a parked car on a slope: at standstill the
// patch is a spring.
//
// Commands: NAME/steer −1 … 1 (left positive), NAME/throttle and NAME/brake 0 … 1, NAME/reverse 0 or 1.
// Readings: NAME/speed, NAME/rpm, NAME/gear, NAME/wheel_speed (4), NAME/suspension (4), NAME/tyre_load (4).
// Order of wheels: front left, front right, rear left, rear right.

#include <array>
#include <memory>
#include <string>

#include "world/part.hpp"
#include "world/vehicle/ground.hpp"
#include "world/vehicle/powertrain.hpp"
#include "world/vehicle/tyre.hpp"

namespace isochron::world {

struct CarSettings {
  // Where wheel centres stand in the chassis' frame when the springs carry the car.
  double front_axle = 1.25, rear_axle = -1.40, half_track = 0.77, axle_height = -0.25;
  double spring_front = 32'000, spring_rear = 34'000;       // N/m at the wheel
  double damper_front = 3'200, damper_rear = 3'400;         // N s/m
  double anti_roll_front = 14'000, anti_roll_rear = 8'000;  // N/m of difference in travel
  double travel = 0.12;                                     // m each way until the stop
  double stop_stiffness = 300'000;
  double wheel_mass = 38, wheel_inertia = 1.1;
  double max_steer = 0.61;                       // rad of the mean front wheel
  double brake_front = 1'900, brake_rear = 900;  // N m at each wheel
  double drive_front = 1.0;                      // share of torque that goes to the front axle
  double drag_area = 0.65;                       // Cd·A, m²
  double start_speed = 0;                        // m/s: its wheels turn with it from the start
  TyreSettings tyre;
  PowertrainSettings powertrain;
};

class Car final : public Part {
 public:
  /// shared_ptr: all cars of a world drive on one ground. Throws InputError when `body` is missing or cannot move.
  Car(const Engine& engine, std::string body, CarSettings settings, std::shared_ptr<const Ground> ground);

  void act(Engine& engine, SimSpan dt, Wrenches& wrenches) override;
  [[nodiscard]] std::vector<ActuatorInfo> actuators() const override;
  void command(std::uint32_t actuator, double value) override { commands_[actuator] = value; }
  [[nodiscard]] double commanded(std::uint32_t actuator) const override { return commands_[actuator]; }
  [[nodiscard]] std::vector<SensorInfo> sensors() const override;
  void read(std::span<double> values) const override;
  [[nodiscard]] std::size_t state_size() const override;
  void save(std::span<double> state) const override;
  void restore(std::span<const double> state) override;

  [[nodiscard]] std::uint32_t body() const { return body_; }
  /// Of the body's frame over flat ground when the car stands.
  [[nodiscard]] double rest_height() const;

  /// From now on it is there, upright on the ground, and drives so fast.
  void put(Engine& engine, double x, double y, double heading, double speed);
  /// Out of everybody's way and sight, until it is put somewhere.
  void take_away(Engine& engine);

 private:
  enum : std::uint32_t { steer, throttle, brake, reverse };
  struct Wheel {
    double travel = 0, travel_rate = 0;      // up is positive; 0 where the springs carry the car
    double spin = 0, angle = 0;              // rad/s, rad
    double bend_along = 0, bend_across = 0;  // deflection of the patch, m
    double load = 0;
  };
  /// What a wheel stands on during one step, and how the chassis carries it there.
  struct Footing {
    bool touches = false;
    GroundPoint ground;
    Vec3 ground_at{};
    Vec3 mount{};     // the hub at zero travel
    Vec3 velocity{};  // of the chassis at the patch
    Vec3 up{}, forward{}, left{}, axle{};
    double heaviness = 0;  // m/s² that a wheel weighs along its strut
  };
  [[nodiscard]] Footing look(std::size_t wheel, const Motion& chassis) const;
  void advance(std::size_t wheel, const Footing& at, double spring, double drive, double h, Vec3& force, Vec3& torque);
  [[nodiscard]] double spring_force(std::size_t wheel) const;
  [[nodiscard]] double steer_angle(std::size_t wheel) const;
  [[nodiscard]] Vec3 mount(std::size_t wheel) const;
  void show_wheels(Engine& engine, const Motion& chassis, double dt) const;
  void find_rest(const Engine& engine);
  void start_over(double speed);

  std::string name_;
  std::uint32_t body_ = 0;
  std::array<std::uint32_t, 4> wheel_bodies_{};  // 0: not shown
  Vec3 centre_{};
  double gravity_ = 9.81;
  CarSettings settings_;
  std::shared_ptr<const Ground> ground_;
  Powertrain powertrain_;
  std::array<double, 4> commands_{};
  std::array<double, 4> preload_{};  // N that each spring carries at rest
  std::array<Wheel, 4> wheels_{};
  double speed_ = 0;
  bool away_ = false;
};

}  // namespace isochron::world
