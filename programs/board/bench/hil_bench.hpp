#pragma once

#include "bench/bench.hpp"

namespace isochron::bench {

/// Round trips beside bare TCP, the error of executed time, and 64 targets at once.
void bench_hil(Report& report);

}  // namespace isochron::bench
