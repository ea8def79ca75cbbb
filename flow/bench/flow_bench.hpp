#pragma once
#include "bench/bench.hpp"

namespace isochron::bench {
/// Messages per second of flows: one thread, workers, processes; cost at scale; memory.
void bench_flow(Report& report);
}  // namespace isochron::bench
