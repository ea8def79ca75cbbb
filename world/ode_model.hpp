#pragma once
// Says whether ODE can stand in for MuJoCo on a model; throws InputError listing everything it cannot do, each with
// its line where the name can be found in the file.

#include "world/mujoco_model.hpp"

namespace isochron::world {

void demand_ode_can(const MujocoModel& model);

}  // namespace isochron::world
