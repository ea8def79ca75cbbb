#pragma once
// What coordination costs, and how coherent a run is.

#include "bench/bench.hpp"

namespace isochron::bench {
void bench_coordinator(Report& report);
}
