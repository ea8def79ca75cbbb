// The figures of nodes in processes alone, for work on them: network_bench [--long] [shared_memory|tcp|dds|ros|hosts].

#include <cstdio>
#include <string_view>
#include <vector>

#include "scenario/bench/network_bench.hpp"

int main(int count, char** arguments) {
  using namespace isochron::bench;
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  const bool long_run = !words.empty() && words.front() == "--long";
  Report report(long_run, [](const Figure& figure) {
    std::printf("%-44s %14.4g %-4s %s", figure.name.c_str(), figure.value, figure.unit.c_str(),
                figure.ok ? "" : "MISSED ");
    if (figure.ratio) std::printf("%.2f x %s ", *figure.ratio, figure.versus.c_str());
    std::printf("%s\n", figure.target.c_str());
    std::fflush(stdout);
  });
  bench_network(report, words.size() > long_run ? words.back() : "");
}
