#pragma once
// Of a target that cannot be held: how far its own clock and simulated time have come apart since it attached, looked
// at with each of its requests. That is the error of a run with it: what it did happened so much too early or late.
//
// Threads: owner thread.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/time.hpp"

namespace isochron::programs {

class ClocksApart {
 public:
  /// A request by its clock: when the answer before came, when it left; and in simulated time.
  void add(std::int64_t received, std::int64_t sent, SimTime before, SimTime at) {
    if (!began_) {
      began_ = before;
      began_by_its_clock_ = received;
    }
    const double passed = static_cast<double>(sent) - static_cast<double>(began_by_its_clock_);
    const double apart = std::abs(passed * 1e-9 - (at - *began_).seconds());
    ++count_;
    sum_s_ += apart;
    most_s_ = std::max(most_s_, apart);
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean_s() const { return count_ == 0 ? 0 : sum_s_ / static_cast<double>(count_); }
  [[nodiscard]] double most_s() const { return most_s_; }

 private:
  std::optional<SimTime> began_;
  std::int64_t began_by_its_clock_ = 0;
  std::uint64_t count_ = 0;
  double sum_s_ = 0, most_s_ = 0;
};

}  // namespace isochron::programs
