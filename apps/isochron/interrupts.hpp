#pragma once
// Ctrl-C and SIGTERM: the first one asks to end cleanly, the second one is the system's.
//
// Threads: any; one thing is told at a time.

namespace isochron::app {

/// From now on the first signal calls `told`, inside the signal's handler: it may do no more than store into atomics.
void on_interrupt(void (*told)());

/// Since on_interrupt() was called for the first time.
[[nodiscard]] bool interrupted();

/// Returns at the first signal; at once if it has come already.
void wait_for_interrupt();

}  // namespace isochron::app
