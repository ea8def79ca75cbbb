#pragma once
// What a run of a target counts as executed: by its own clock, so that the link costs nothing, but only as far as ours
// and the pings bear it out. What the target says is not believed where it cannot be true:
//
//      told < 0, told > run        its clock jumped, or runs backwards: ours counts
//      its clock's rate is off     as pings show (clock_rate.hpp): ours counts
//      run - told > any ping       so long the link does not take: what is beyond is the target's
//
// Promises: what is taken out of a run as the link's is never more than one and a half of the longest of the last
//           pings, and 50 us that the two systems may take.
// Threads:  owner thread. Cost: no heap.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "programs/board/clock_rate.hpp"
#include "programs/board/latency.hpp"
#include "programs/board/options.hpp"

namespace isochron::programs {

class TargetClock {
 public:
  TargetClock(LinkCost cost, double tolerance) : cost_(cost), tolerance_(tolerance) {}

  /// A request came `run` after the answer before it had left; by the target's clock it executed for `told`, nothing:
  /// what it says is no span at all.
  SimSpan executed(WallSpan run, std::optional<WallSpan> told, const LatencyMeter& pings, const ClockRate& rate) {
    const bool charged = cost_ == LinkCost::charged;
    const WallSpan possible = run + ClockRate::tick +
                              WallSpan::from_ns(static_cast<std::int64_t>(static_cast<double>(run.ns()) * tolerance_));
    wrong_ = !told || *told < WallSpan::zero() || *told > possible || rate.off();
    beyond_ = WallSpan::zero();
    if (wrong_) {
      ++faults_;
      return SimSpan::from_ns((charged ? run : std::max(run - pings.least(), WallSpan::zero())).ns());
    }
    const WallSpan way = run - std::min(*told, run);
    const WallSpan believed = std::min(way, pings.recent_most() * 3 / 2 + least_way);
    latency_.add(believed);
    if (!charged && way > believed) {
      beyond_ = way - believed;
      beyond_in_all_ += beyond_;
      ++times_beyond_;
    }
    return SimSpan::from_ns((charged ? run : run - believed).ns());
  }

  /// As it was measured before there were requests.
  void begin(const LatencyMeter& pings) {
    if (latency_.count() == 0) latency_ = pings;
  }
  /// Of the last run: the clock could not be believed.
  [[nodiscard]] bool wrong() const { return wrong_; }
  /// Of the last run: what was on the way for longer than pings are, and was charged.
  [[nodiscard]] WallSpan beyond() const { return beyond_; }

  [[nodiscard]] const LatencyMeter& latency() const { return latency_; }
  [[nodiscard]] std::uint64_t faults() const { return faults_; }
  [[nodiscard]] std::uint64_t times_beyond() const { return times_beyond_; }
  [[nodiscard]] WallSpan beyond_in_all() const { return beyond_in_all_; }

 private:
  static constexpr WallSpan least_way = std::chrono::microseconds(50);
  LinkCost cost_;
  double tolerance_;
  LatencyMeter latency_;
  bool wrong_ = false;
  WallSpan beyond_, beyond_in_all_;
  std::uint64_t faults_ = 0, times_beyond_ = 0;
};

}  // namespace isochron::programs
