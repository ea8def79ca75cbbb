#pragma once
// A scenario's programs as the coordinator and the controllers' hosts take them. Shared by all runners that have
// programs.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "programs/outcome.hpp"
#include "programs/spec.hpp"
#include "run/run.hpp"
#include "run/stall_record.hpp"
#include "scenario/scenario.hpp"
#include "world/controller.hpp"

namespace isochron {

class InjectedFaults;

/// What computing costs that program; `load` reads the tape of a recorded one.
programs::Compute compute_of(const Scenario& scenario, const ProgramSection& program, const std::string& full_name,
                             bool load);
/// Makes what is called of a program in a library.
using MakeCalled = std::function<std::shared_ptr<programs::CalledProgram>(
    const std::string& robot, const std::string& name, const ProgramSection& program)>;
/// All robots with their programs; those in libraries only where `make` makes them.
std::vector<programs::RobotSpec> robot_specs(const Scenario& scenario, const MakeCalled& make = {});
programs::CoordinatorOptions coordinator_options(const Scenario& scenario, SimSpan step, bool show_output = false);
/// `slow` and changed speeds reach the robot's programs.
void tie_to_faults(programs::RobotSpec& robot, InjectedFaults& faults);
/// Repeatable means that durations are known beforehand: throws InputError for programs that are measured.
void check_repeatable(const Scenario& scenario);

/// Programs whose clock cannot be followed are refused with their place.
void check_executables(const Scenario& scenario);
/// How each executable's output is recorded.
std::vector<OutputRecord> outputs_of(const Scenario& scenario);
/// What the programs of a coordinator did, for the report of the run that they took part in.
void fill_programs(const programs::RunOutcome& outcome, RunReport& report);
/// Who stood where for so long, as the journal has it.
std::vector<WaitRecord> wait_records(const std::vector<programs::CoordinatorOptions::Standing>& all, WallSpan since);
/// The same where the report has these programs already, by what was recorded of them: the coordinator knows more.
void take_programs(const programs::RunOutcome& outcome, RunReport& report);

/// What a controller in a library knows when it is made.
world::ControllerSetup setup_of(const Scenario& scenario, const std::string& robot, const std::string& name,
                                const ProgramSection& program, const world::World& world, world::Senses& senses,
                                world::Letters* letters = nullptr);

}  // namespace isochron
