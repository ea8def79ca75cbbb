#pragma once
// How fast robots see: LiDAR beams and camera pictures on one core, beside bare Embree with the same rays.

#include "bench/bench.hpp"

namespace isochron::bench {

void bench_sensors(Report& report);

}  // namespace isochron::bench
