// The figures of nodes in processes alone, for work on them: network_bench [--long].

#include <cstdio>
#include <string_view>

#include "scenario/bench/network_bench.hpp"

int main(int count, char** arguments) {
  using namespace isochron::bench;
  Report report(count > 1 && std::string_view(arguments[1]) == "--long", [](const Figure& figure) {
    std::printf("%-44s %14.4g %-4s %s", figure.name.c_str(), figure.value, figure.unit.c_str(),
                figure.ok ? "" : "MISSED ");
    if (figure.ratio) std::printf("%.2f x %s ", *figure.ratio, figure.versus.c_str());
    std::printf("%s\n", figure.target.c_str());
    std::fflush(stdout);
  });
  bench_network(report);
}
