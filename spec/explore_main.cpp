// Explores random systems: explore [HOW_MANY] [FIRST_SEED] [MAX_NODES]; explore trace SEED FILE writes FILE.json, a
// system, and FILE.jsonl, what its nodes did, for check_traces.py. Prints what it saw; on a broken rule the seed and
// the system that repeat it. Every tenth system is explored in all interleavings, the others in one.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "flow/check.hpp"
#include "spec/explorer.hpp"

int main(int count, char** arguments) {
  using namespace isochron;
  if (count == 4 && std::string(arguments[1]) == "trace") {
    const std::uint64_t seed = std::strtoull(arguments[2], nullptr, 10);
    const flow::Graph graph = spec::random_graph(seed, 7);
    const SimTime until = SimTime::from_ns(30);
    std::ofstream(std::string(arguments[3]) + ".json") << spec::to_json(graph, until);
    std::ofstream(std::string(arguments[3]) + ".jsonl") << spec::trace_once(graph, until, seed);
    return 0;
  }
  const auto number = [&](int index, std::uint64_t otherwise) {
    return count > index ? std::strtoull(arguments[index], nullptr, 10) : otherwise;
  };
  const std::uint64_t systems = number(1, 20'000);
  const std::uint64_t first = number(2, 1);
  const auto max_nodes = static_cast<std::uint32_t>(number(3, 6));
  std::uint64_t states = 0, whole = 0, deadlocks = 0, refused = 0;
  for (std::uint64_t seed = first; seed < first + systems; ++seed) {
    const bool all = seed % 10 == 0;
    const flow::Graph graph = spec::random_graph(seed, all ? 3 : max_nodes);
    const SimTime until = SimTime::from_ns(static_cast<std::int64_t>(all ? 5 + seed % 3 : 10 + seed % 30));
    const spec::Findings findings = all ? spec::explore(graph, until) : spec::run_once(graph, until, seed);
    if (!findings.broken.empty()) {
      std::printf("seed %llu, until %lld: %s\n%s", static_cast<unsigned long long>(seed),
                  static_cast<long long>(until.ns()), findings.broken.c_str(), spec::to_string(graph).c_str());
      return 1;
    }
    states += findings.states;
    whole += all && findings.whole ? 1 : 0;
    deadlocks += findings.deadlock ? 1 : 0;
    refused += findings.possible && !findings.deadlock ? 1 : 0;
  }
  std::printf(
      "%llu systems (%llu of them in all interleavings), %llu states, %llu deadlocks, each as predicted; %llu that "
      "were possible, because a period varies, did not happen\n",
      static_cast<unsigned long long>(systems), static_cast<unsigned long long>(whole),
      static_cast<unsigned long long>(states), static_cast<unsigned long long>(deadlocks),
      static_cast<unsigned long long>(refused));
  return 0;
}
