#pragma once
// An autopilot that sits in a multirotor as a driver sits in a car: it flies by velocities, and holds its place, height
// and heading while none is asked for. What it knows of its state is the truth; the rest is the cascade of
// flight_controller.hpp, so the vehicle tilts, lags and drifts as one does.
//
// Commands: NAME/vx, NAME/vy, NAME/vz in m/s of the world's frame, NAME/yaw_rate in rad/s. Readings: NAME/goal (x y z
// yaw).
//
// Promises: the place that it wants to be at never runs further ahead than `leash`: a wall stops the vehicle, and it
// does
//           not race when the wall ends.
// Threads:  the world's owner thread. Cost: acts every `every`; never allocates.

#include <memory>

#include "world/aircraft/flight_controller.hpp"
#include "world/aircraft/multirotor.hpp"

namespace isochron::world {

struct AutopilotSettings {
  FlightGains gains;
  std::optional<Vec3> inertia;  // kg m²; left out: from mass and arms, as multirotors usually have it
  std::optional<Vec3> hold;     // where it goes first; left out: where it is
  SimSpan every = std::chrono::milliseconds(4);
  double leash = 0.5;  // m
};

class Autopilot final : public Part {
 public:
  /// Borrows the aircraft, which acts after it.
  Autopilot(const Engine& engine, Multirotor& aircraft, const AutopilotSettings& settings);

  void act(Engine& engine, SimSpan dt, Wrenches& wrenches) override;
  [[nodiscard]] std::vector<ActuatorInfo> actuators() const override;
  void command(std::uint32_t actuator, double value) override { wish_[actuator] = value; }
  [[nodiscard]] double commanded(std::uint32_t actuator) const override { return wish_[actuator]; }
  [[nodiscard]] std::vector<SensorInfo> sensors() const override { return {{aircraft_.name() + "/goal", 4}}; }
  void read(std::span<double> values) const override;
  [[nodiscard]] std::size_t state_size() const override { return 4 + 4 + 6 + 1; }
  void save(std::span<double> state) const override;
  void restore(std::span<const double> state) override;

 private:
  void follow_wish(const Vec3& position, double dt);

  Multirotor& aircraft_;
  AutopilotSettings settings_;
  FlightController controller_;
  std::array<double, 4> wish_{};  // vx vy vz yaw_rate
  std::array<double, 4> goal_{};  // x y z yaw
  SimTime next_;
};

/// The vehicle as its controller needs to know it.
FlightVehicle flight_vehicle(const Engine& engine, const Multirotor& aircraft, const std::optional<Vec3>& inertia);

}  // namespace isochron::world
