#pragma once
// The figures of the real-time kit: `isochron bench rt`.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_rt(Report& report);

// Its parts, in this order.
void bench_rings(Report& report);
void bench_latest_value(Report& report);
void bench_period(Report& report);
void bench_lock_step(Report& report);

}  // namespace isochron::bench
