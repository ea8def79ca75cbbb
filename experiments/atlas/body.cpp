#include "experiments/atlas/body.hpp"

#include <algorithm>

#include "core/ensure.hpp"

namespace atlas {
namespace {

constexpr double fallen_below = 0.6;  // m; it stands at 0.93

template <std::size_t N>
void copy(const std::vector<double>& from, std::uint32_t at, std::array<double, N>& to) {
  std::copy_n(from.begin() + at, N, to.begin());
}

}  // namespace

Body::Body(const isochron::world::World& world) {
  const auto sensor = [&](const char* name) { return world.sensor_at(world.sensor(name)); };
  pelvis_ = world.body("pelvis");
  if (world.actuators().size() < joints) throw isochron::InputError({}, "the model has fewer than 28 motors");
  for (std::uint32_t i = 0; i < joints; ++i) {
    motors_[i] = i;
    const auto& joint = world.catalog().joints[world.joint(world.actuators()[i].name)];
    positions_[i] = joint.position_at;
    velocities_[i] = joint.velocity_at;
  }
  orientation_ = sensor("imu_orientation");
  gyro_ = sensor("imu_gyro");
  acceleration_ = sensor("imu_acceleration");
  forces_ = {sensor("l_sole_force"), sensor("r_sole_force")};
}

Sensors Body::sense(const isochron::world::State& state) const {
  Sensors sensors;
  for (std::size_t i = 0; i < joints; ++i) {
    sensors.position[i] = state.positions[positions_[i]];
    sensors.velocity[i] = state.velocities[velocities_[i]];
  }
  copy(state.sensors, orientation_, sensors.orientation);
  copy(state.sensors, gyro_, sensors.angular_velocity);
  copy(state.sensors, acceleration_, sensors.acceleration);
  sensors.foot_force = {state.sensors[forces_[left]], state.sensors[forces_[right]]};
  return sensors;
}

void Body::drive(const Torques& torques, isochron::world::Commands& commands) const {
  for (std::size_t i = 0; i < joints; ++i) commands.set(motors_[i], torques.torque[i]);
}

void Body::drive(const Torques& torques, isochron::world::World& world) const {
  for (std::size_t i = 0; i < joints; ++i) {
    const auto taken = world.command(motors_[i], torques.torque[i]);
    ENSURE(taken.ok(), "a torque is not a number");
  }
}

bool Body::fallen(const isochron::world::State& state) const {
  return state.bodies[pelvis_].pose.position[2] < fallen_below;
}

}  // namespace atlas
