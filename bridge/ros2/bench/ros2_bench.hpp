#pragma once
// Topics of ROS 2 through the bridge, beside bare Cyclone DDS in the same run.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_ros2(Report& report);

}  // namespace isochron::bench
