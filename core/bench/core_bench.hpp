#pragma once
#include "bench/bench.hpp"

namespace isochron::bench {
/// Time arithmetic, the drift ledger, message bytes, random streams.
void bench_core(Report& report);
}  // namespace isochron::bench
