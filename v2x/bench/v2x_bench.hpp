#pragma once
// Figures of the V2X layer: the codec beside generated code, the radio beside ns-3, and a city street in real time.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_v2x(Report& report);

}  // namespace isochron::bench
