#pragma once
// Standard input whose lines come at simulated times; see input.cpp.

#include <cstdint>

#include "protocol/program_protocol.hpp"

namespace isochron::interpose {

/// When the program has attached: takes care of standard input if there are lines for it.
void open_input(protocol::Pages& shared);
/// A forked child reads what is there, and nothing comes any more.
void close_input();
/// Whether this descriptor is standard input, fed by us.
bool is_fed(int descriptor);
/// Puts in what is due; returns when the next line is, or forever.
std::int64_t hand_over_input();
/// Sleeps in simulated time until there is something to read, or the end of it.
void await_input(int descriptor);

}  // namespace isochron::interpose
