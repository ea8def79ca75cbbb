#include "rt/bench/rt_bench.hpp"

namespace isochron::bench {

void bench_rt(Report& report) {
  bench_rings(report);
  bench_latest_value(report);
  bench_period(report);
  bench_lock_step(report);
}

}  // namespace isochron::bench
