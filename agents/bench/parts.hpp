#pragma once
// The parts of the group `agents`.

#include <cstdint>
#include <string>
#include <vector>

#include "agents/state_cache.hpp"
#include "bench/bench.hpp"
#include "core/time.hpp"

namespace isochron::bench {

void bench_server(Report& report);       // datagrams through it, cost and memory of an agent
void bench_clients(Report& report);      // many processes
void bench_bad_network(Report& report);  // simulated
void bench_trust(Report& report);        // one that floods, stalls or lies
void bench_cars(Report& report);         // scenarios

/// Agents spread evenly over a square, in tiles that one client has each, so that about 50 are within 100 m of each.
struct Crowd {
  Crowd(int agents, int clients);
  struct Place {
    double x, y;
  };
  std::vector<std::vector<Place>> of_client;
};

[[nodiscard]] WallTime wall_now();

}  // namespace isochron::bench
