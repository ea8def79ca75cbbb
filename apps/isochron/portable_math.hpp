#pragma once
// `time: {math: portable}`: the C library chooses its variants of sin, exp and others when a process starts, by what
// the CPU can do, and they differ in their last bits. A variable in the environment leaves some of them out. So this
// command starts itself anew with that variable; the programs that it starts inherit it.
//
// Requires: called before anything was done, by whoever has the scenario: nothing of the process survives.

#include "scenario/scenario.hpp"

namespace isochron::app {

/// Returns where nothing has to be done. Fails: std::runtime_error if this command cannot be started again.
void settle_math(const Scenario& scenario);

}  // namespace isochron::app
