#pragma once
// Figures of whole commands, measured as a person at a terminal would: each starts `isochron` anew.

#include "bench/bench.hpp"

namespace isochron::app {

/// `check` of 10,000 nodes, `launch` of 300, nodes in Python and C: issue "Flows".
void bench_nodes(bench::Report& report);
/// Branches, thousands of runs and their collection, environments for learning: issue "From one run to an answer".
void bench_runs(bench::Report& report);

}  // namespace isochron::app
