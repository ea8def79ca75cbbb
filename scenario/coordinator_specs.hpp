#pragma once
// A scenario's programs as the coordinator and the controllers' hosts take them. Shared by all runners that have
// programs.

#include <string>
#include <vector>

#include "coordinator/spec.hpp"
#include "scenario/scenario.hpp"
#include "world/controller.hpp"

namespace isochron {

/// What computing costs that program; `load` reads the tape of a recorded one.
coordinator::Compute compute_of(const Scenario& scenario, const ProgramSection& program, const std::string& full_name,
                                bool load);
/// All robots with those of their programs that are executables.
std::vector<coordinator::RobotSpec> robot_specs(const Scenario& scenario);
coordinator::CoordinatorOptions coordinator_options(const Scenario& scenario, SimSpan step, bool show_output = false);
/// Repeatable means that durations are known beforehand: throws InputError for programs that are measured.
void check_repeatable(const Scenario& scenario);

/// What a controller in a library knows when it is made.
world::ControllerSetup setup_of(const Scenario& scenario, const std::string& robot, const std::string& name,
                                const ProgramSection& program, const world::World& world, world::Senses& senses);

}  // namespace isochron
