#pragma once
// The timeline of a scenario's `faults`: what breaks when. Each entry becomes the mark that a person's click would have
// left (scenario/mark.hpp), so that the run does the same and a replay repeats it.

#include <string>
#include <vector>

#include "scenario/mark.hpp"
#include "scenario/scenario.hpp"
#include "world/engine.hpp"

namespace isochron {

/// In the order of time. Random times are drawn from the seed of the faults, a stream for each entry.
std::vector<Mark> timed_marks(const Scenario& scenario);

/// For worlds that are nodes of flows: what is done to them when. As the journal of a run to be repeated says, or the
/// timeline.
std::vector<Mark> planned_marks(const Scenario& scenario);

/// What a single entry gets wrong, and names of sensors, robots and programs that do not exist.
void check_timed_faults(const Scenario& scenario, std::vector<Mistake>& mistakes);
/// Names of bodies and actuators, which the model has. Throws InputError.
void check_timed_faults(const Scenario& scenario, const world::Catalog& catalog);

}  // namespace isochron
