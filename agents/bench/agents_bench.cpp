#include "agents/bench/agents_bench.hpp"

#include <cmath>
#include <ctime>

#include "agents/bench/parts.hpp"
#include "core/random.hpp"

namespace isochron::bench {

WallTime wall_now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return WallTime::from_ns(t.tv_sec * 1'000'000'000 + t.tv_nsec);
}

Crowd::Crowd(int agents, int clients) : of_client(static_cast<std::size_t>(clients)) {
  RandomStream random(1, "crowd");
  const double side = std::sqrt(agents * 3.14159 * 1e4 / 50);
  const int columns = std::max(1, static_cast<int>(std::sqrt(clients)));
  const int rows = (clients + columns - 1) / columns;
  for (int i = 0; i < agents; ++i) {
    const int client = i % clients;
    const double width = side / columns, height = side / rows;
    const double x = (client % columns + random.uniform()) * width, y = (client / columns + random.uniform()) * height;
    of_client[static_cast<std::size_t>(client)].push_back({x, y});
  }
}

void bench_agents(Report& report) {
  bench_server(report);
  bench_clients(report);
  bench_bad_network(report);
  bench_trust(report);
  bench_cars(report);
}

}  // namespace isochron::bench
