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

/// What an operator asks for, at any time.
struct Order {
  std::uint64_t number = 0;  // 0 = none yet; a new number is a new order
  double steps = 0;          // how many steps to take
  double forward = 0;        // metres for each of them
};

ISOCHRON_MESSAGE(Sensors, "atlas_msgs/msg/Sensors", position, velocity, orientation, angular_velocity, acceleration,
                 foot_force)
ISOCHRON_MESSAGE(Estimate, "atlas_msgs/msg/Estimate", time_ns, position, velocity, centre, centre_velocity, contact)
ISOCHRON_MESSAGE(Torques, "atlas_msgs/msg/Torques", torque)
ISOCHRON_MESSAGE(Order, "atlas_msgs/msg/Order", number, steps, forward)

}  // namespace atlas
