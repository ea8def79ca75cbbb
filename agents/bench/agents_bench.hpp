#pragma once
#include "bench/bench.hpp"

namespace isochron::bench {

void bench_agents(Report& report);

}  // namespace isochron::bench
