#include "world/aircraft/flight_controller.hpp"

#include <algorithm>
#include <cmath>

#include "core/ensure.hpp"

namespace isochron::world {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double rate_integral = 60;  // 1/s²
constexpr double most_learned = 60;   // rad/s² that a rotor with a fault may cost

/// Columns of the rotation matrix: where the body's axes point.
struct Axes {
  Vec3 x, y, z;
};
Axes axes_of(const Quat& q) {
  const auto& [w, x, y, z] = q;
  return {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
          {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
          {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
}

Vec3 shortened(const Vec3& v, double most) {
  const double l = length(v);
  return l > most ? (most / l) * v : v;
}

double wrapped(double angle) { return std::remainder(angle, 2 * pi); }

/// Solves a 4×4 system in place by elimination with pivots; false: it has no one solution.
bool solve(std::array<std::array<double, 4>, 4> a, std::array<std::array<double, 4>, 4>& inverse) {
  inverse = {};
  for (std::size_t i = 0; i < 4; ++i) inverse[i][i] = 1;
  for (std::size_t column = 0; column < 4; ++column) {
    std::size_t best = column;
    for (std::size_t row = column; row < 4; ++row) {
      if (std::fabs(a[row][column]) > std::fabs(a[best][column])) best = row;
    }
    if (std::fabs(a[best][column]) < 1e-12) return false;
    std::swap(a[best], a[column]), std::swap(inverse[best], inverse[column]);
    const double pivot = a[column][column];
    for (std::size_t k = 0; k < 4; ++k) a[column][k] /= pivot, inverse[column][k] /= pivot;
    for (std::size_t row = 0; row < 4; ++row) {
      if (row == column) continue;
      const double factor = a[row][column];
      for (std::size_t k = 0; k < 4; ++k) {
        a[row][k] -= factor * a[column][k];
        inverse[row][k] -= factor * inverse[column][k];
      }
    }
  }
  return true;
}

}  // namespace

double yaw_of(const Quat& q) {
  return std::atan2(2 * (q[0] * q[3] + q[1] * q[2]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]));
}

/// Least squares: Bᵀ (B Bᵀ)⁻¹ with a column of B for each rotor, lift, roll, pitch and yaw of one newton.
FlightController::FlightController(FlightVehicle vehicle, const FlightGains& gains)
    : vehicle_(std::move(vehicle)), gains_(gains), motors_(vehicle_.rotors.size()) {
  std::vector<std::array<double, 4>> effects;
  std::array<std::array<double, 4>, 4> square{}, inverse{};
  for (const Rotor& rotor : vehicle_.rotors) {
    const Vec3 arm = rotor.position - vehicle_.centre;
    const std::array<double, 4>& e =
        effects.emplace_back(std::array<double, 4>{1, arm[1], -arm[0], -rotor.direction * vehicle_.torque_ratio});
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) square[i][j] += e[i] * e[j];
    }
  }
  ENSURE(solve(square, inverse), "these rotors cannot hold a vehicle level");
  for (const auto& e : effects) {
    std::array<double, 4>& share = shares_.emplace_back();
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) share[i] += inverse[i][j] * e[j];
    }
  }
}

Vec3 FlightController::wanted_acceleration(const FlightState& state, const FlightGoal& goal, double dt) {
  Vec3 velocity = gains_.position * (goal.position - state.position) + goal.velocity;
  const Vec3 level = shortened({velocity[0], velocity[1], 0}, gains_.max_speed);
  velocity = {level[0], level[1], std::clamp(velocity[2], -gains_.max_climb, gains_.max_climb)};
  const Vec3 error = velocity - state.velocity;
  Vec3& wind = memory_.wind;
  wind = wind + (gains_.velocity_integral * dt) * error;
  for (double& x : wind) x = std::clamp(x, -0.6 * gains_.max_acceleration, 0.6 * gains_.max_acceleration);
  const Vec3 wanted = gains_.velocity * error + wind;
  const Vec3 sideways = shortened({wanted[0], wanted[1], 0}, gains_.max_acceleration);
  return {sideways[0], sideways[1], std::clamp(wanted[2], -0.7 * vehicle_.gravity, 0.8 * vehicle_.gravity)};
}

std::span<const double> FlightController::step(const FlightState& state, const FlightGoal& goal, double dt) {
  const Vec3 acceleration = wanted_acceleration(state, goal, dt);
  const Vec3 pull = acceleration + Vec3{0, 0, vehicle_.gravity};
  const double most = std::tan(gains_.max_tilt) * pull[2];
  const Vec3 level = shortened({pull[0], pull[1], 0}, most);
  const Vec3 force{level[0], level[1], pull[2]};
  const Axes body = axes_of(state.orientation);

  // How the body's z must turn to come to the force, in the body's frame; yaw by itself, as it is slower.
  const Vec3 up = unit(force);
  const Vec3 world_turn = cross(body.z, up);
  const double sine = length(world_turn), cosine = dot(body.z, up);
  const double angle = std::atan2(sine, cosine);
  const Vec3 turn = sine > 1e-9 ? (angle / sine) * world_turn : Vec3{};
  const double off = wrapped(goal.yaw - yaw_of(state.orientation));
  const double yaw_rate = std::clamp(gains_.yaw * off + goal.yaw_rate, -gains_.max_yaw_rate, gains_.max_yaw_rate);
  const Vec3 rates{gains_.attitude * dot(turn, body.x), gains_.attitude * dot(turn, body.y), yaw_rate * body.z[2]};

  const Vec3 spin = rates - state.rates;
  Vec3& learned = memory_.torque;
  learned = learned + (rate_integral * dt) * spin;
  for (double& x : learned) x = std::clamp(x, -most_learned, most_learned);
  const Vec3& j = vehicle_.inertia;
  const Vec3 momentum{j[0] * state.rates[0], j[1] * state.rates[1], j[2] * state.rates[2]};
  const Vec3 gain{gains_.rate, gains_.rate, gains_.yaw_rate};
  Vec3 torque = cross(state.rates, momentum);
  for (std::size_t i = 0; i < 3; ++i) torque[i] += j[i] * (gain[i] * spin[i] + learned[i]);
  mix(vehicle_.mass * std::max(0.0, dot(force, body.z)), torque);
  return motors_;
}

/// Where a rotor would have to give more than it can, yaw is given up first, then lift; roll and pitch come last.
void FlightController::mix(double thrust, const Vec3& torque) {
  double yaw = 1;
  for (const auto& share : shares_) {
    const double without = share[0] * thrust + share[1] * torque[0] + share[2] * torque[1];
    const double turning = share[3] * torque[2];
    const double room = turning > 0 ? vehicle_.max_thrust - without : -without;
    if (std::fabs(turning) > 1e-12) yaw = std::min(yaw, std::max(0.15, room / turning));
  }
  double highest = 0, lowest = vehicle_.max_thrust;
  const auto wanted = [&](const std::array<double, 4>& share) {
    return share[0] * thrust + share[1] * torque[0] + share[2] * torque[1] + share[3] * yaw * torque[2];
  };
  for (const auto& share : shares_) {
    highest = std::max(highest, wanted(share));
    lowest = std::min(lowest, wanted(share));
  }
  double shift = highest > vehicle_.max_thrust ? vehicle_.max_thrust - highest : 0;
  if (lowest + shift < 0) shift = std::min(-lowest, std::max(shift, vehicle_.max_thrust - highest));
  for (std::size_t i = 0; i < motors_.size(); ++i) {
    const double force = std::clamp((wanted(shares_[i]) + shift) / vehicle_.max_thrust, 0.0, 1.0);
    motors_[i] = std::sqrt(force);
  }
}

}  // namespace isochron::world
