#pragma once
// cyclictest of Debian's rt-tests, the measure that others know: how late a thread at priority 80 on that processor
// wakes up. Latencies in whole µs, as it counts them.

#include <chrono>
#include <memory>

#include "rt/histogram.hpp"

namespace isochron::bench {

/// Null where it is not installed or may not run.
std::unique_ptr<rt::Histogram> run_cyclictest(int cpu, std::chrono::microseconds interval, int seconds);

}  // namespace isochron::bench
