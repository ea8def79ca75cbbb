#pragma once
// Which runs may be made at the same time on one machine.

#include "scenario/scenario.hpp"

namespace isochron::app {

/// Whether runs at the same time leave each other's results alone: nothing in them may depend on a real clock.
inline bool may_be_parallel(const Scenario& scenario) {
  if (scenario.time.mode == Mode::realtime || scenario.time.mode == Mode::hil) return false;
  if (scenario.time.mode == Mode::callback) return true;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      const Contract contract = (program.compute ? *program.compute : scenario.time.compute).contract;
      if (contract == Contract::measured || contract == Contract::hardware) return false;
    }
  }
  return true;
}

}  // namespace isochron::app
