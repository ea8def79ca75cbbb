#pragma once
// What passes between the robot, its estimator, its controller and its operator. Plain numbers of fixed size: they are
// copied through rings, latest values, datagrams and shared memory as they stand.

#include <array>
#include <cstdint>

#include "core/message.hpp"

namespace atlas {

inline constexpr int joints = 28;
inline constexpr int dof = joints + 6;  // with the pelvis, which nothing drives

enum Side : int { left = 0, right = 1 };
inline Side other(Side side) { return side == left ? right : left; }

using Joints = std::array<double, joints>;
using Vec3 = std::array<double, 3>;
using Quaternion = std::array<double, 4>;  // w x y z

/// What the robot measures.
struct Sensors {
  Joints position{};
  Joints velocity{};
  Quaternion orientation{1, 0, 0, 0};  // of the pelvis, as its inertial unit integrates it
  Vec3 angular_velocity{};             // in the pelvis's frame
  Vec3 acceleration{};                 // in the pelvis's frame, gravity in it
  std::array<double, 2> foot_force{};  // N on each sole
};

/// What the estimator makes of it.
struct Estimate {
  std::int64_t time_ns = 0;  // of the measurement it is made from, by the robot's clock
  std::array<double, joints + 7> position{};
  std::array<double, dof> velocity{};  // as MuJoCo has them: the pelvis's linear in the world, angular in its own frame
  Vec3 centre{};                       // of mass, by the Kalman filter
  Vec3 centre_velocity{};
  std::array<double, 2> contact{};  // 1 when the sole carries weight
};

/// What the controller wants: torques, and what it was thinking, for the log.
struct Torques {
  Joints torque{};
};

/// What the robot's own position controllers are to hold while nobody controls it.
struct Hold {
  double active = 0;  // 1: hold
  Joints position{};  // there
  Joints torque{};    // what held it until then
};

/// Where a sole is to stand: its middle, on the floor.
struct Footstep {
  double side = 0;  // of enum Side
  double x = 0, y = 0;
};
inline Side side_of(const Footstep& step) { return step.side < 0.5 ? left : right; }
inline constexpr std::size_t footsteps_max = 8;

/// What an operator asks for, at any time.
struct Order {
  std::uint64_t number = 0;  // 0 = none yet; a new number is a new order
  double steps = 0;          // how many steps to take
  double forward = 0;        // metres for each of them
  double freeze = 0;         // or: stand frozen for so many seconds
  double placed = 0;         // or: so many footsteps, in this order
  std::array<Footstep, footsteps_max> places{};
};

/// What the operator is told.
struct Standing {
  std::uint64_t obeyed = 0;   // the newest order that was begun
  std::uint64_t refused = 0;  // the newest that cannot be done
  double walking = 0;         // 1 while there are steps to take
  double frozen = 0;          // 1 while nobody controls it
  std::array<Footstep, 2> soles{};
};

ISOCHRON_MESSAGE(Sensors, "atlas_msgs/msg/Sensors", position, velocity, orientation, angular_velocity, acceleration,
                 foot_force)
ISOCHRON_MESSAGE(Estimate, "atlas_msgs/msg/Estimate", time_ns, position, velocity, centre, centre_velocity, contact)
ISOCHRON_MESSAGE(Torques, "atlas_msgs/msg/Torques", torque)
ISOCHRON_MESSAGE(Hold, "atlas_msgs/msg/Hold", active, position, torque)
ISOCHRON_MESSAGE(Footstep, "atlas_msgs/msg/Footstep", side, x, y)
ISOCHRON_MESSAGE(Order, "atlas_msgs/msg/Order", number, steps, forward, freeze, placed, places)
ISOCHRON_MESSAGE(Standing, "atlas_msgs/msg/Standing", obeyed, refused, walking, frozen, soles)

}  // namespace atlas
