#pragma once

#include <string_view>

#include "bench/bench.hpp"

namespace isochron::bench {

/// Steps of nodes in processes over shared memory, TCP, DDS and ROS, each beside the bare middleware; one-way
/// throughput; three hosts with a delay. `only`: one of shared_memory, tcp, dds, ros, hosts; all if empty.
void bench_network(Report& report, std::string_view only = {});

}  // namespace isochron::bench
