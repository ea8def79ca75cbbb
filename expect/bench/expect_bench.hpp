#pragma once
// What an expectation costs for each sample that it looks at.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_expect(Report& report);

}  // namespace isochron::bench
