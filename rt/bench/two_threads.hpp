#pragma once
// Two threads, one on each of two cores, that start together; and medians of things measured in turn.

#include <algorithm>
#include <atomic>
#include <functional>
#include <vector>

#include "rt/thread.hpp"
#include "rt/topology.hpp"

namespace isochron::bench {

/// First and last core: the farthest apart that this machine has.
inline std::pair<int, int> two_cores() {
  const std::vector<int> cores = rt::Topology::read().physical_cores();
  return {cores.front(), cores.back()};
}

/// Real-time where permitted, so that other work on the machine does not cut a round in pieces. Rounds are short.
inline rt::ThreadSettings on_core(int cpu) {
  return {.policy = rt::Policy::fifo, .priority = rt::Priority::above_min(1), .cpus = {cpu}, .lock_memory = false};
}

/// Seconds that it takes until both are through.
template <class First, class Second>
double seconds_together(First first, Second second) {
  const auto [a, b] = two_cores();
  std::atomic<int> there = 0;
  const auto meet = [&there] {
    for (++there; there < 2;) rt::spin_pause();
    return rt::MonotonicClock::now();
  };
  rt::MonotonicTime began[2], ended[2];
  {
    rt::Thread one(on_core(a), [&] { began[0] = meet(), first(), ended[0] = rt::MonotonicClock::now(); });
    rt::Thread two(on_core(b), [&] { began[1] = meet(), second(), ended[1] = rt::MonotonicClock::now(); });
  }
  return std::chrono::duration<double>(std::max(ended[0], ended[1]) - std::min(began[0], began[1])).count();
}

inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The median of each thing, measured in turn so that noise meets all alike.
inline std::vector<double> medians_in_turn(int rounds, const std::vector<std::function<double()>>& things) {
  std::vector<std::vector<double>> values(things.size());
  for (int r = 0; r < rounds; ++r) {
    for (std::size_t i = 0; i < things.size(); ++i) values[i].push_back(things[i]());
  }
  std::vector<double> medians;
  for (auto& v : values) medians.push_back(median_of(std::move(v)));
  return medians;
}

}  // namespace isochron::bench
