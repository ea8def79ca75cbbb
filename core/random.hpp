#pragma once
// Randomness that repeats. Every user of chance (one sensor, one link, one driver) has a stream of its own, derived
// from the run's seed and its own name, so that adding a sensor changes no other's noise. A draw is a pure function of
// (key, counter), and uses only operations that IEEE 754 rounds exactly: the same bits on every machine, unlike libm.
//
// Threads: owner thread. Cost: ~3 ns a draw; never allocates.

#include <cstdint>
#include <string_view>

namespace isochron {

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  /// 64 random bits.
  std::uint64_t bits();
  /// In [0, 1), 53 bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, n), without bias. n > 0.
  std::uint64_t below(std::uint64_t n);
  /// Mean 0, standard deviation 1.
  double normal();
  bool chance(double probability) { return uniform() < probability; }

  /// Where in the stream this is; set it to return there (snapshots).
  [[nodiscard]] std::uint64_t position() const { return counter_; }
  void seek(std::uint64_t position) { counter_ = position; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

/// Natural logarithm of x > 0 by exact operations only; within 2 ulp. Same bits everywhere.
double repeatable_log(double x);

}  // namespace isochron
