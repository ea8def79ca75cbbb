#pragma once
// What a summary gathers over a run: p99(x), most(x), mean(x), …
//
// Promises: quantiles are exact for the first four million samples. Of longer runs a random four million of all are
//           kept, by a seed that is always the same. A quantile is the smallest sample that is not exceeded by so
//           large a share of all.
// Threads:  owner thread. Cost: of a quantile 8 bytes for each sample kept; else none.

#include <optional>
#include <vector>

#include "core/random.hpp"
#include "expect/meaning.hpp"

namespace isochron::expect {

class Gatherer {
 public:
  explicit Gatherer(const Gathered& what) : what_(what) {}
  void add(double value);
  [[nodiscard]] std::uint64_t samples() const { return count_; }
  /// Nothing: no sample, except of a count.
  [[nodiscard]] std::optional<double> value();

 private:
  static constexpr std::size_t most_kept = 4'000'000;
  void keep(double value);

  const Gathered& what_;
  std::uint64_t count_ = 0, true_count_ = 0;
  double most_ = 0, least_ = 0, sum_ = 0, last_ = 0;
  std::vector<double> kept_;
  RandomStream chance_{1, "quantiles"};
};

}  // namespace isochron::expect
