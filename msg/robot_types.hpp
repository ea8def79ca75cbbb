#pragma once
// What a robot program reads and writes when it needs no sensor of its own: where a body is and how it moves, and a
// push. SI units, world frame, z up; quaternions are w x y z.

#include <array>

#include "core/message.hpp"

namespace isochron {

struct Motion {
  std::array<double, 3> position{};
  std::array<double, 4> orientation{1, 0, 0, 0};
  std::array<double, 3> linear{};
  std::array<double, 3> angular{};
};
ISOCHRON_MESSAGE(Motion, "isochron_msgs/msg/Motion", position, orientation, linear, angular)

/// At the centre of mass.
struct Wrench {
  std::array<double, 3> force{};
  std::array<double, 3> torque{};
};
ISOCHRON_MESSAGE(Wrench, "isochron_msgs/msg/Wrench", force, torque)

}  // namespace isochron
