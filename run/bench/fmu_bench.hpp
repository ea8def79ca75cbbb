#pragma once
// Figures of FMUs in scenarios.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_fmus(Report& report);

}  // namespace isochron::bench
