#pragma once
// Thirty cars of a shared world, driven by programs and by built-in drivers.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_driven_cars(Report& report);

}  // namespace isochron::bench
