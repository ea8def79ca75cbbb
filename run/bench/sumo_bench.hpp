#pragma once
// Figures of SUMO beside a world: a thousand of its cars and thirty of ours.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_sumo(Report& report);

}  // namespace isochron::bench
