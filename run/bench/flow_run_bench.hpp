#pragma once
// Runs of nodes as users get them: through the scenario, with the journal on.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_flow_runs(Report& report);

}  // namespace isochron::bench
