#pragma once
// What a link costs: the time that a request and the answer before it spent on the way, together, measured by pings at
// the start and by every request later. The mean and its usual deviation are smoothed as TCP does it, so that they
// follow a link that changes.
//
// Also what the target's clock shows beside ours. Only differences of it are ever used, so an offset does no harm; a
// clock that jumps or runs backwards does, and is noticed here.
//
// Threads: owner thread.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "core/time.hpp"

namespace isochron::programs {

class LatencyMeter {
 public:
  /// One way there and back took this long.
  void add(WallSpan way) {
    way = std::max(way, WallSpan::zero());
    if (count_ == 0) {
      least_ = mean_ = way;
      jitter_ = way / 2;
    } else {
      const std::int64_t error = (way - mean_).ns();
      mean_ += WallSpan::from_ns(error / 8);
      jitter_ += WallSpan::from_ns((std::abs(error) - jitter_.ns()) / 4);
    }
    least_ = std::min(least_, way);
    most_ = std::max(most_, way);
    recent_[count_ % recent_.size()] = way;
    ++count_;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] WallSpan least() const { return least_; }
  [[nodiscard]] WallSpan most() const { return most_; }
  [[nodiscard]] WallSpan mean() const { return mean_; }
  [[nodiscard]] WallSpan jitter() const { return jitter_; }
  /// Of the last eight.
  [[nodiscard]] WallSpan recent_most() const { return *std::max_element(recent_.begin(), recent_.end()); }
  /// The way rarely takes longer than this.
  [[nodiscard]] WallSpan allowance() const { return mean_ + jitter_ * 4; }

 private:
  std::uint64_t count_ = 0;
  WallSpan least_, most_, mean_, jitter_;
  std::array<WallSpan, 8> recent_{};
};

/// The target's clock minus ours, at the start and now.
class ClockOffset {
 public:
  /// Our clock and the target's at about the same moment, known to ± uncertainty.
  void add(WallTime ours, std::int64_t theirs_ns, WallSpan uncertainty) {
    const std::int64_t offset = theirs_ns / 2 - ours.ns() / 2;  // halves: a clock that is told may be anything
    const std::int64_t allowed = uncertainty.ns() / 2 + spread_ns_ / 2 + tolerance_ns;  // of both times
    spread_ns_ = uncertainty.ns();
    const __int128 change = static_cast<__int128>(offset) - half_;
    if (known_ && (change > allowed || change < -allowed)) ++jumps_;
    if (!known_) first_half_ = offset;
    known_ = true;
    half_ = offset;
  }
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] double first_s() const { return static_cast<double>(first_half_) * 2e-9; }
  [[nodiscard]] double now_s() const { return static_cast<double>(half_) * 2e-9; }
  [[nodiscard]] std::uint64_t jumps() const { return jumps_; }

 private:
  static constexpr std::int64_t tolerance_ns = 20'000'000;
  bool known_ = false;
  std::int64_t first_half_ = 0, half_ = 0, spread_ns_ = 0;
  std::uint64_t jumps_ = 0;
};

}  // namespace isochron::programs
