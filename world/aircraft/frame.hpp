#pragma once
// Where the rotors of a multirotor are and how they turn: what its simulation and its flight controller both know.

#include <vector>

#include "world/geometry.hpp"

namespace isochron::world {

struct Rotor {
  Vec3 position{};       // of the hub, in the body's frame
  Vec3 axis{0, 0, 1};    // along its thrust; of unit length
  double direction = 1;  // 1: counter-clockwise seen from above (about +axis), −1: clockwise
};

/// Frames as autopilots number them; `arm` from the middle to a hub, hubs `height` above the body's origin.
///
///     quad_x   1 front right ccw, 2 rear left ccw, 3 front left cw, 4 rear right cw
///     quad_plus 1 right ccw, 2 left ccw, 3 front cw, 4 rear cw
///     hexa_x   1 right cw, 2 left ccw, 3 front left cw, 4 rear right ccw, 5 front right ccw, 6 rear left cw
enum class MultirotorFrame { quad_x, quad_plus, hexa_x };
std::vector<Rotor> rotors_of(MultirotorFrame frame, double arm, double height);

}  // namespace isochron::world
