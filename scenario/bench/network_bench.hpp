#pragma once

#include "bench/bench.hpp"

namespace isochron::bench {

/// Steps of nodes in processes over shared memory, TCP, DDS and ROS, each beside the bare middleware; one-way
/// throughput; three hosts with a delay.
void bench_network(Report& report);

}  // namespace isochron::bench
