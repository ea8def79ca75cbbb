#pragma once
// A State is all that a reader may see of a world at one time: whole, or not at all.

#include <cstdint>
#include <vector>

#include "core/time.hpp"
#include "world/geometry.hpp"

namespace isochron::world {

struct State {
  SimTime time;
  std::uint64_t branch = 0;  // how often the world was restored; (branch, time) only grows
  std::vector<Motion> bodies;
  std::vector<double> positions;   // of joints, at JointInfo::position_at
  std::vector<double> velocities;  // at JointInfo::velocity_at
  std::vector<double> sensors;     // at World::sensor_at
  std::vector<double> commands;    // as held, by actuator
};

}  // namespace isochron::world
