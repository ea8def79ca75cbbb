#pragma once
// A run's schedule as Chrome's trace events, which ui.perfetto.dev and chrome://tracing open: a process for each robot,
// a thread for each program, its turns on the core (or its activations), messages as arrows, drift as a counter, marks.
//
// Times are simulated, in microseconds. Fails: InputError when the journal cannot be read.

#include <string>

namespace isochron::app {

/// Prints it; an exit code.
int export_trace(const std::string& journal);

}  // namespace isochron::app
