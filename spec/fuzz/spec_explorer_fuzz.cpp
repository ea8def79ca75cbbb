// Random systems without end: the bytes are seeds of a system and of its schedule.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "spec/explorer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron;
  std::uint64_t seeds[2] = {};
  std::memcpy(seeds, data, std::min(size, sizeof seeds));
  const bool all = seeds[1] % 16 == 0;
  const flow::Graph graph = spec::random_graph(seeds[0], all ? 3 : 8);
  const auto findings =
      all ? spec::explore(graph, SimTime::from_ns(5), 2'000) : spec::run_once(graph, SimTime::from_ns(20), seeds[1]);
  if (findings.broken.empty()) return 0;
  std::fprintf(stderr, "%s\n%s", findings.broken.c_str(), spec::to_string(graph).c_str());
  std::abort();
}
