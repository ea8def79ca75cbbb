#pragma once
// The group `links` of isochron bench: what our links cost beside the bare system calls they are made of.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_link(Report& report);

}  // namespace isochron::bench
