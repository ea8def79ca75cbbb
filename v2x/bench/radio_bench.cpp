// The radio beside ns-3, and 1,000 vehicles on the streets of a quarter in real time.

#include <cmath>
#include <cstdio>
#include <string>

#include "v2x/bench/codec_bench.hpp"
#include "v2x/radio/dsrc_medium.hpp"
#include "v2x/test/road.hpp"

namespace isochron::bench {
namespace {

using namespace v2x;

struct Reference {
  unsigned nodes;
  double delivery[3];
};
// Delivery of ns-3 3.37 at 200, 400 and 600 m (docs/v2x.md).
constexpr Reference recorded[] = {
    {30, {.976, .930, .873}}, {100, {.919, .854, .779}}, {200, {.719, .600, .497}}, {300, {.437, .302, .219}}};

/// CPU seconds for each simulated one of ns-3 itself, from the program that test/ns3/compare.sh builds.
std::optional<double> ns3_cost(unsigned nodes, double seconds) {
  const std::string program = ISOCHRON_NS3_ROAD;
  if (program.empty()) return std::nullopt;
  const std::string command =
      "'" + program + "' " + std::to_string(nodes) + " " + std::to_string(seconds) + " 1 20 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  char line[512] = "";
  const bool read = std::fgets(line, sizeof line, pipe) != nullptr;
  if (pclose(pipe) != 0 || !read) return std::nullopt;
  const std::string text = line;
  const auto at = text.find("cpu_s ");
  if (at == std::string::npos) return std::nullopt;
  return std::stod(text.substr(at + 6)) / seconds;
}

void against_ns3(Report& report) {
  for (const Reference& reference : recorded) {
    double worst = 0;
    std::array<double, 3> mean{};
    constexpr int runs = 2;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
      const RoadOutcome outcome = run_road(reference.nodes, 5, seed);
      for (std::size_t i = 0; i < 3; ++i) mean[i] += outcome.delivery[2 + 2 * i] / runs;
    }
    for (std::size_t i = 0; i < 3; ++i) worst = std::max(worst, std::abs(mean[i] - reference.delivery[i]));
    report.at_most("radio_delivery_off_ns3_" + std::to_string(reference.nodes) + "_nodes", worst, "share", 0.04);
  }
}

void speed_beside_ns3(Report& report) {
  const double seconds = 2;
  for (const unsigned nodes : {30u, 100u}) {
    const std::string name = "radio_cost_" + std::to_string(nodes) + "_nodes_cpu_s_per_s";
    const double ours = run_road(nodes, 10, 1).cpu_s / 10;
    if (const auto theirs = ns3_cost(nodes, seconds)) {
      report.ratio_at_most(name, ours, "s/s", "ns-3 3.37", *theirs, 0.1);
    } else {
      report.found(name, ours, "s/s", "ns-3 is not installed: not compared");
    }
  }
}

/// A main street of 3 km and four cross streets of 500 m, with houses between: one sees only along one's own street.
struct Quarter final : Obstruction {
  struct Street {
    double x, y;    // where it begins
    double dx, dy;  // which way
    double length;
  };
  static constexpr Street streets[] = {{0, 0, 1, 0, 3000},
                                       {500, -250, 0, 1, 500},
                                       {1100, -250, 0, 1, 500},
                                       {1800, -250, 0, 1, 500},
                                       {2500, -250, 0, 1, 500}};
  /// Where a car is that began `s` metres into the streets laid end to end and went on for `way`, up and down its own.
  static Vec3 at(double s, double way) {
    for (const Street& street : streets) {
      if (s < street.length) {
        double along = std::fmod(s + way, 2 * street.length);
        if (along > street.length) along = 2 * street.length - along;
        return {street.x + street.dx * along, street.y + street.dy * along, 1.5};
      }
      s -= street.length;
    }
    return {0, 0, 1.5};
  }
  bool line_of_sight(const Vec3& a, const Vec3& b) const override {
    const bool both_main = std::abs(a.y) < 15 && std::abs(b.y) < 15;
    return both_main || std::abs(a.x - b.x) < 30;
  }
};

void city(Report& report) {
  const Quarter quarter;
  MediumOptions options;
  options.obstruction = &quarter;
  DsrcMedium medium(options);
  RandomStream draws(1, "city");
  std::vector<double> places;
  for (int i = 0; i < 1000; ++i) medium.add_station(Quarter::at(places.emplace_back(draws.uniform(0, 5000)), 0));
  std::uint64_t heard = 0;
  const double seconds = report.long_run() ? 20 : 3;
  const SimSpan period = std::chrono::milliseconds(100);
  const std::clock_t start = std::clock();
  for (SimTime t; t < SimTime::zero() + SimSpan::from_seconds(seconds); t += period) {
    for (StationId i = 0; i < 1000; ++i) {
      medium.set_position(i, Quarter::at(places[i], 14 * t.seconds()));
      medium.send(t + SimSpan::from_seconds(draws.uniform(0, 0.1)), i, Bytes(300));
    }
    medium.advance(t + period, [&](const Delivery&) { ++heard; });
  }
  const double cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  report.at_most("radio_1000_vehicles_5_km_cpu_s_per_s", cpu / seconds, "s/s", 1);
  report.found("radio_1000_vehicles_5_km_events_per_s", static_cast<double>(medium.counts().events) / cpu, "1/s");
  report.found("radio_1000_vehicles_5_km_deliveries_per_s", static_cast<double>(heard) / cpu, "1/s");
}

}  // namespace

void bench_radio(Report& report) {
  against_ns3(report);
  speed_beside_ns3(report);
  city(report);
}

}  // namespace isochron::bench
