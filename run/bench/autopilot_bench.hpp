#pragma once

#include "bench/bench.hpp"

namespace isochron::bench {

/// Lock-step with autopilots that compute nothing, beside bare exchanges over the same kind of socket.
void bench_autopilots(Report& report);

}  // namespace isochron::bench
