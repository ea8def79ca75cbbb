#pragma once
// `run --strict`: nodes that leave a field of a message unset, or whose result depends on the size of buffers, give the
// same digest often enough to be believed. This runs a scenario of flows twice, with other buffer sizes and with other
// rubbish in the memory of messages, and says where the two part.

#include "apps/isochron/run.hpp"

namespace isochron::app {

/// Fails: exit code 1 when the two differ.
int run_strict(const RunFlags& flags, const std::vector<Override>& overrides);

}  // namespace isochron::app
