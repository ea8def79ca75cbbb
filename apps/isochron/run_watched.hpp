#pragma once
// A run as a person at a terminal has it: progress on one line, Ctrl-C stops it cleanly, and the machine it ran on goes
// into the journal.

#include "run/run.hpp"

namespace isochron::app {

/// Requires: one at a time, since Ctrl-C belongs to it.
RunReport run_watched(const Scenario& scenario, RunOptions options, bool show_progress);
/// The same with a watch that others hold too, as a live view does.
RunReport run_watched(const Scenario& scenario, RunOptions options, bool show_progress, RunWatch& watch);

/// What is recorded of this machine with each run.
std::map<std::string, std::string> machine_notes();

/// The exit code that says how it ended.
int exit_code(const RunReport& report);

}  // namespace isochron::app
