#include "rt/bench/cyclictest.hpp"

#include <cstdio>
#include <string>

namespace isochron::bench {

std::unique_ptr<rt::Histogram> run_cyclictest(int cpu, std::chrono::microseconds interval, int seconds) {
  const std::string command = "cyclictest -q -t1 -m -p80 -i" + std::to_string(interval.count()) + " -h20000 -a" +
                              std::to_string(cpu) + " -D" + std::to_string(seconds) + " 2>/dev/null";
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) return nullptr;
  auto us = std::make_unique<rt::Histogram>();
  char line[256];
  long max = -1;
  while (std::fgets(line, sizeof line, output) != nullptr) {  // lines "µs count"
    long value = 0, count = 0;
    if (std::sscanf(line, "# Max Latencies: %ld", &max) == 1 || line[0] == '#') continue;
    if (std::sscanf(line, "%ld %ld", &value, &count) != 2) continue;
    for (long i = 0; i < count; ++i) us->record(value);
  }
  pclose(output);
  if (us->count() == 0) return nullptr;
  if (max > us->max()) us->record(max);  // beyond its histogram
  return us;
}

}  // namespace isochron::bench
