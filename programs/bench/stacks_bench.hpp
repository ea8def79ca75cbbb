#pragma once
#include "bench/bench.hpp"

namespace isochron::bench {

/// Unmodified programs that talk to each other, beside the same programs on bare loopback.
void bench_stacks(Report& report);

}  // namespace isochron::bench
