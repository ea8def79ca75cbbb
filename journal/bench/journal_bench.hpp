#pragma once
// What recording costs: the producer's tick, the whole way to the disk against bare compression and writing, the ring
// alone and the digest alone.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_journal(Report& report);

}  // namespace isochron::bench
