#pragma once
// From the accelerator to the driven wheels: a speed-torque curve, gears that shift by themselves, a final drive.
// Below idling speed a slipping clutch hands the torque on, as a converter does.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace isochron::world {

struct PowertrainSettings {
  struct Point {
    double rpm;
    double torque;  // N m at full throttle
  };
  std::vector<Point> curve{{800, 110}, {1500, 160}, {2500, 195}, {3500, 205}, {4500, 200}, {5500, 180}, {6500, 140}};
  double drag_torque = 30;  // N m at closed throttle and full speed
  double inertia = 0.15;    // kg m², at the crank
  std::vector<double> gears{3.6, 2.1, 1.4, 1.05, 0.85};
  double reverse = 3.4;
  double final_drive = 3.9;
  double efficiency = 0.92;
  double shift_up_rpm = 5200, shift_down_rpm = 1900;
  double shift_time = 0.3;  // s without torque
};

class Powertrain {
 public:
  explicit Powertrain(PowertrainSettings settings);

  /// N m at the driven axle in all, for a mean speed of the driven wheels in rad/s; then moves on by dt.
  double step(double throttle, bool reverse, double wheel_speed, double dt);

  /// Full-throttle torque of the curve, linear between its points, zero beyond its last.
  [[nodiscard]] double full_torque(double rpm) const;
  [[nodiscard]] double ratio() const;  // crank to wheel, signed
  [[nodiscard]] double rpm() const { return rpm_; }
  [[nodiscard]] int gear() const { return gear_; }  // 1 …; −1 reverse
  /// The crank's inertia as the axle feels it.
  [[nodiscard]] double axle_inertia() const { return settings_.inertia * ratio() * ratio(); }

  static constexpr std::size_t state_size = 3;
  void save(double* to) const;
  void restore(const double* from);

 private:
  void choose_gear(bool reverse, double wheel_speed, double dt);

  PowertrainSettings settings_;
  int gear_ = 1;
  double shifting_ = 0;  // s left of a shift
  double rpm_ = 0;
};

}  // namespace isochron::world
