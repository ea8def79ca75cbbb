#include "world/aircraft/autopilot.hpp"

#include <algorithm>
#include <cmath>

namespace isochron::world {

FlightVehicle flight_vehicle(const Engine& engine, const Multirotor& aircraft, const std::optional<Vec3>& inertia) {
  FlightVehicle vehicle;
  const RotorSettings& rotor = aircraft.settings().rotor;
  vehicle.centre = engine.catalog().centres[aircraft.body()];
  vehicle.rotors = aircraft.settings().rotors;
  vehicle.mass = engine.catalog().masses[aircraft.body()];
  vehicle.gravity = length(engine.gravity());
  vehicle.max_thrust = rotor.thrust.at(rotor.max_speed);
  vehicle.torque_ratio = rotor.torque.at(rotor.max_speed) / vehicle.max_thrust;
  double arm2 = 0;
  for (const Rotor& one : aircraft.settings().rotors) {
    const Vec3 arm = one.position - vehicle.centre;
    arm2 += (arm[0] * arm[0] + arm[1] * arm[1]) / static_cast<double>(aircraft.rotors());
  }
  const double size = vehicle.mass * arm2;
  vehicle.inertia = inertia.value_or(Vec3{0.09 * size, 0.09 * size, 0.17 * size});
  return vehicle;
}

Autopilot::Autopilot(const Engine& engine, Multirotor& aircraft, const AutopilotSettings& settings)
    : aircraft_(aircraft),
      settings_(settings),
      controller_(flight_vehicle(engine, aircraft, settings.inertia), settings.gains) {
  const Pose pose = engine.motion(aircraft.body()).pose;
  const Vec3 at = settings.hold.value_or(pose.position);
  goal_ = {at[0], at[1], at[2], yaw_of(pose.orientation)};
}

std::vector<ActuatorInfo> Autopilot::actuators() const {
  const std::string& name = aircraft_.name();
  const FlightGains& g = settings_.gains;
  return {{name + "/vx", -g.max_speed, g.max_speed},
          {name + "/vy", -g.max_speed, g.max_speed},
          {name + "/vz", -g.max_climb, g.max_climb},
          {name + "/yaw_rate", -g.max_yaw_rate, g.max_yaw_rate}};
}

void Autopilot::read(std::span<double> values) const { std::copy(goal_.begin(), goal_.end(), values.begin()); }

/// The goal moves as it was told to, but not away from a vehicle that cannot follow.
void Autopilot::follow_wish(const Vec3& position, double dt) {
  const FlightGains& g = settings_.gains;
  const std::array<double, 4> most{g.max_speed, g.max_speed, g.max_climb, g.max_yaw_rate};
  for (std::size_t i = 0; i < 4; ++i) {
    const double wish = std::clamp(wish_[i], -most[i], most[i]);
    if (wish == 0) continue;
    goal_[i] += wish * dt;
    if (i < 3) goal_[i] = std::clamp(goal_[i], position[i] - settings_.leash, position[i] + settings_.leash);
  }
}

void Autopilot::act(Engine& engine, SimSpan, Wrenches&) {
  if (engine.time() < next_) return;
  next_ = engine.time() + settings_.every;
  const double dt = settings_.every.seconds();
  const Motion m = engine.motion(aircraft_.body());
  follow_wish(m.pose.position, dt);
  const FlightState state{m.pose.position, m.linear, m.pose.orientation,
                          rotate(conjugate(m.pose.orientation), m.angular)};
  const auto motors =
      controller_.step(state, {{goal_[0], goal_[1], goal_[2]}, {wish_[0], wish_[1], wish_[2]}, goal_[3], wish_[3]}, dt);
  for (std::uint32_t i = 0; i < motors.size(); ++i) aircraft_.command(i, motors[i]);
}

void Autopilot::save(std::span<double> state) const {
  double* to = std::copy(wish_.begin(), wish_.end(), state.data());
  to = std::copy(goal_.begin(), goal_.end(), to);
  for (const Vec3& learned : {controller_.memory().wind, controller_.memory().torque}) {
    to = std::copy(learned.begin(), learned.end(), to);
  }
  *to = static_cast<double>(next_.ns());  // exact below 2⁵³ ns, a hundred days
}

void Autopilot::restore(std::span<const double> state) {
  const double* from = state.data();
  std::copy_n(from, 4, wish_.begin());
  std::copy_n(from + 4, 4, goal_.begin());
  controller_.set_memory({{from[8], from[9], from[10]}, {from[11], from[12], from[13]}});
  next_ = SimTime::from_ns(static_cast<std::int64_t>(from[14]));
}

}  // namespace isochron::world
