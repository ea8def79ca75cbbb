#pragma once
// The least that a switch from one process to another and back can cost on this machine.

namespace isochron::bench {

/// Two processes on one core that wake each other by a futex: microseconds for there and back.
double bare_switch_us();

}  // namespace isochron::bench
