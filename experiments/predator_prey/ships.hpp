#pragma once
// The two space ships, as their programs know them: rigid bodies that move freely by forces and torques (paper 000,
// §4). The predator's planner rolls this model forward; the real thing is in the world's engine.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/message.hpp"
#include "core/random.hpp"

namespace ships {

using Vec3 = std::array<double, 3>;

constexpr double mass = 1.0;
constexpr double tick = 0.01;           // s, of controllers, planner and world alike
constexpr double flee_distance = 5.0;   // m
constexpr double prey_force_max = 8.0;  // N

inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Vec3 operator*(double s, const Vec3& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline double norm(const Vec3& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }
inline Vec3 clipped(const Vec3& a, double most) { return norm(a) > most ? (most / norm(a)) * a : a; }

/// What the prey does when the predator is near: straight away from it, harder the nearer it is.
inline Vec3 flee(const Vec3& prey, const Vec3& predator) {
  const Vec3 away = prey - predator;
  const double distance = std::max(norm(away), 1e-6);
  const double force = 2 * std::max(0.0, -isochron::repeatable_log(distance / flee_distance));
  return clipped((force / distance) * away, prey_force_max);
}

/// Position and velocity of a ship; its rotation does not matter to where it goes.
struct Point {
  Vec3 position{};
  Vec3 velocity{};
};

/// One semi-implicit Euler step.
inline void advance(Point& ship, const Vec3& force) {
  ship.velocity = ship.velocity + (tick / mass) * force;
  ship.position = ship.position + tick * ship.velocity;
}

/// What the planner hands to the controller: feed-forward forces, and where they should lead, three numbers for each
/// tick.
constexpr std::size_t plan_length = 10;  // at most 0.1 s of a plan is executed
struct Plan {
  std::uint32_t length = 0;
  std::uint32_t candidates = 0;  // how many plans were compared
  std::array<double, 3 * plan_length> forces{};
  std::array<double, 3 * plan_length> positions{};
  std::array<double, 3 * plan_length> velocities{};
};
ISOCHRON_MESSAGE(Plan, "predator_prey/msg/Plan", length, candidates, forces, positions, velocities)

inline Vec3 at_tick(const std::array<double, 3 * plan_length>& values, std::size_t tick_index) {
  return {values[3 * tick_index], values[3 * tick_index + 1], values[3 * tick_index + 2]};
}
inline void set_tick(std::array<double, 3 * plan_length>& values, std::size_t tick_index, const Vec3& v) {
  for (std::size_t i = 0; i < 3; ++i) values[3 * tick_index + i] = v[i];
}

}  // namespace ships
