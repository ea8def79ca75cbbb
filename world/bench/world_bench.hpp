#pragma once
// What the world costs, beside the bare engine measured in the same run.

#include "bench/bench.hpp"

namespace isochron::bench {

/// Requires: the environment variable ISOCHRON_MODELS, or the models where the build found them.
void bench_world(Report& report);

}  // namespace isochron::bench
