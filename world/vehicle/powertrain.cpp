#include "world/vehicle/powertrain.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/input_error.hpp"

namespace isochron::world {
namespace {
constexpr double rpm_per_rad = 30 / std::numbers::pi;
}

Powertrain::Powertrain(PowertrainSettings settings) : settings_(std::move(settings)) {
  const auto& curve = settings_.curve;
  if (curve.size() < 2 || settings_.gears.empty()) {
    throw InputError(Place{}, "a powertrain needs two points of its curve and a gear");
  }
  if (!std::is_sorted(curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.rpm < b.rpm; })) {
    throw InputError(Place{}, "the speed-torque curve must rise in speed");
  }
  rpm_ = curve.front().rpm;
}

double Powertrain::full_torque(double rpm) const {
  const auto& curve = settings_.curve;
  if (rpm <= curve.front().rpm) return curve.front().torque;
  const auto after = std::find_if(curve.begin(), curve.end(), [rpm](const auto& p) { return p.rpm >= rpm; });
  if (after == curve.end()) return 0;
  const auto before = after - 1;
  const double share = (rpm - before->rpm) / (after->rpm - before->rpm);
  return before->torque + share * (after->torque - before->torque);
}

double Powertrain::ratio() const {
  const double gear = gear_ < 0 ? -settings_.reverse : settings_.gears[static_cast<std::size_t>(gear_ - 1)];
  return gear * settings_.final_drive;
}

void Powertrain::choose_gear(bool reverse, double wheel_speed, double dt) {
  shifting_ = std::max(0.0, shifting_ - dt);
  const int before = gear_;
  if (reverse || gear_ < 0) {
    // Into reverse and out of it near standstill only.
    if (std::fabs(wheel_speed) < 3) gear_ = reverse ? -1 : 1;
  } else if (shifting_ == 0) {
    const double rpm = std::fabs(wheel_speed * ratio()) * rpm_per_rad;
    if (rpm > settings_.shift_up_rpm && gear_ < static_cast<int>(settings_.gears.size())) ++gear_;
    if (rpm < settings_.shift_down_rpm && gear_ > 1) --gear_;
  }
  if (gear_ != before) shifting_ = settings_.shift_time;
}

double Powertrain::step(double throttle, bool reverse, double wheel_speed, double dt) {
  choose_gear(reverse, wheel_speed, dt);
  const double idle = settings_.curve.front().rpm, fastest = settings_.curve.back().rpm;
  const double geared = wheel_speed * ratio() * rpm_per_rad;
  rpm_ = std::max(idle, geared);
  if (shifting_ > 0) return 0;
  // Engine braking grows with speed and goes with the clutch at idling speed.
  const double drag = geared > idle ? settings_.drag_torque * (geared - idle) / (fastest - idle) : 0;
  const double full = full_torque(rpm_);
  const double torque = throttle * full - (1 - throttle) * drag;
  return torque * ratio() * settings_.efficiency;
}

void Powertrain::save(double* to) const {
  to[0] = gear_;
  to[1] = shifting_;
  to[2] = rpm_;
}

void Powertrain::restore(const double* from) {
  gear_ = static_cast<int>(from[0]);
  shifting_ = from[1];
  rpm_ = from[2];
}

}  // namespace isochron::world
