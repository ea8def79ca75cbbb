// The rt group by itself, without the rest of Isochron: rt_bench_alone [--long]
#include <cstdio>
#include <cstring>

#include "rt/bench/rt_bench.hpp"

int main(int argc, char** argv) {
  const bool long_run = argc > 1 && std::strcmp(argv[1], "--long") == 0;
  bool ok = true;
  isochron::bench::Report report(long_run, [&ok](const isochron::bench::Figure& f) {
    std::printf("%-44s %12.2f %-6s %6s %-34s %-10s %s\n", f.name.c_str(), f.value, f.unit.c_str(),
                f.ratio ? std::to_string(*f.ratio).substr(0, 5).c_str() : "", f.versus.c_str(), f.target.c_str(),
                f.ok ? "" : "MISSED");
    std::fflush(stdout);
    ok = ok && f.ok;
  });
  isochron::bench::bench_rt(report);
  return ok ? 0 : 1;
}
