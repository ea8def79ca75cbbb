// The rt group by itself, without the rest of Isochron: rt_bench_alone [--long] [rings | latest_value | period |
// lock_step]
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "rt/bench/rt_bench.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto asked = [&](const char* word) {
    return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
  };
  const bool long_run = asked("--long");
  bool ok = true;
  isochron::bench::Report report(long_run, [&ok](const isochron::bench::Figure& f) {
    std::printf("%-44s %12.2f %-6s %6s %-34s %-10s %s\n", f.name.c_str(), f.value, f.unit.c_str(),
                f.ratio ? std::to_string(*f.ratio).substr(0, 5).c_str() : "", f.versus.c_str(), f.target.c_str(),
                f.ok ? "" : "MISSED");
    std::fflush(stdout);
    ok = ok && f.ok;
  });
  const std::pair<const char*, void (*)(isochron::bench::Report&)> parts[] = {
      {"rings", isochron::bench::bench_rings},
      {"latest_value", isochron::bench::bench_latest_value},
      {"period", isochron::bench::bench_period},
      {"lock_step", isochron::bench::bench_lock_step},
  };
  const bool all = arguments.size() == (long_run ? 1U : 0U);
  for (const auto& [name, run] : parts) {
    if (all || asked(name)) run(report);
  }
  return ok ? 0 : 1;
}
