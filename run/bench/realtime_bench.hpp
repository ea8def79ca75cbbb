#pragma once

#include "bench/bench.hpp"

namespace isochron::bench {

/// What a program's requests cost in a run on the wall clock.
void bench_realtime(Report& report);

}  // namespace isochron::bench
