#pragma once
// The reference experiment: vehicles stand on a straight road of 1 km and broadcast 300 octets ten times a second. The
// same as test/ns3/road.cc does in ns-3.

#include <array>
#include <cmath>
#include <ctime>
#include <memory>
#include <vector>

#include "core/random.hpp"
#include "v2x/radio/dsrc_medium.hpp"

namespace isochron::v2x {

struct RoadOutcome {
  std::array<double, 16> delivery{};  // by distance, rounded to 100 m
  double latency_ms = 0;
  double cpu_s = 0;
  std::uint64_t events = 0;
  std::uint64_t digest = 0;
};

/// As ns-3 is set up: free-space slope with Nakagami fading, every frame that stands out of the noise is locked on to.
inline MediumOptions like_ns3() {
  MediumOptions o;
  o.propagation.line_of_sight = free_space_slope;
  o.propagation.fading_m = 0.75;
  o.power_dbm = 20;
  o.preamble_dbm = -101;
  o.energy_dbm = -82;
  return o;
}

inline RoadOutcome run_road(unsigned nodes, double seconds, std::uint64_t seed, MediumOptions options = like_ns3()) {
  options.seed = seed;
  DsrcMedium medium(options);
  RandomStream draws(seed, "road");
  std::vector<double> places;
  for (unsigned i = 0; i < nodes; ++i) {
    places.push_back(draws.uniform(0, 1000));
    medium.add_station({places.back(), 0, 0});
  }
  RoadOutcome outcome;
  std::array<std::uint64_t, 16> expected{};
  std::array<std::uint64_t, 16> heard{};
  std::uint64_t deliveries = 0;
  const auto bucket = [&](StationId a, StationId b) {
    return static_cast<std::size_t>(std::abs(places[a] - places[b]) / 100 + 0.5);
  };
  const auto deliver = [&](const Delivery& d) {
    ++heard[bucket(d.from, d.to)];
    ++deliveries;
    outcome.latency_ms += static_cast<double>((d.received - d.sent).ns()) * 1e-6;
  };
  const std::clock_t start = std::clock();  // CPU time: the machine is shared
  const SimSpan period = std::chrono::milliseconds(100);
  for (SimTime t; t < SimTime::zero() + SimSpan::from_seconds(seconds); t += period) {
    for (StationId from = 0; from < nodes; ++from) {
      medium.send(t + SimSpan::from_seconds(draws.uniform(0, 0.1)), from, Bytes(300));
    }
    medium.advance(t + period, deliver);
  }
  medium.advance(SimTime::zero() + SimSpan::from_seconds(seconds + 0.6), deliver);
  outcome.cpu_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const auto sent = static_cast<std::uint64_t>(std::llround(seconds * 10));
  for (StationId a = 0; a < nodes; ++a) {
    for (StationId b = 0; b < nodes; ++b) expected[bucket(a, b)] += a == b ? 0 : sent;
  }
  for (std::size_t b = 0; b < heard.size(); ++b) {
    outcome.delivery[b] = expected[b] == 0 ? 0 : static_cast<double>(heard[b]) / static_cast<double>(expected[b]);
  }
  outcome.latency_ms /= static_cast<double>(std::max<std::uint64_t>(deliveries, 1));
  outcome.events = medium.counts().events;
  outcome.digest = medium.digest();
  return outcome;
}

}  // namespace isochron::v2x
