#pragma once
// An estimator at a device's pace and a controller several times slower, kept in step without either ever waiting for
// the other. The estimator runs when data arrives and publishes its state with the arrival time t_est. The controller
// takes the newest state, computes, writes, and sleeps until
//
//     t_est + dt_est + dt_con
//
// so that its pace follows the device's through hiccups and clock drift: t_est is measured anew each time. When the
// device falls silent t_est stands still, and the controller keeps its own pace of dt_con rather than spin.
//
//     data        ▼     ▼     ▼     ▼     ▼     ▼     ▼     ▼ t_est + dt_est + dt_con
//     estimator   ▐█▌   ▐█▌   ▐█▌   ▐█▌   ▐█▌   ▐█▌   ▐█▌   ▐█▌
//     controller  t_est └──▐███████▌ · · · · · · · · · · · ·▐███████▌
//
// The margin of that rule, which is Smith et al.'s, is small: the controller wakes as the estimator begins with the
// next data. It is out of step when its wake-up latency plus the jitter between the two arrivals exceeds the
// estimator's computing time. An estimator that is faster than that wants a `phase` of less than dt_est: the controller
// then wakes at t_est + phase + dt_con, with a margin of phase for late data and of dt_est − phase for its own
// lateness.
//
// In step, consecutive activations use states dt_con / dt_est estimator ticks apart. Those that do not are counted
// under the names of Smith et al. (2014), whose tables we compare with: fewer ticks is a *lag*, more is a *lead*.
//
// Requires: dt_con is a multiple of dt_est. state() and publish() from the estimator's thread, the rest from the
// controller's. Threads:  one estimator, one controller. Cost:     wait-free on both sides but for wait(); never
// allocates.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "rt/clock.hpp"
#include "rt/latest_value.hpp"

namespace isochron::rt {

struct LockStepCounts {
  std::uint64_t activations = 0;
  std::uint64_t lags = 0;         // fewer estimator ticks than expected since the controller's last state
  std::uint64_t leads = 0;        // more
  std::uint64_t worst_ticks = 0;  // the farthest out of step
  std::uint64_t late = 0;         // wait() was called after the release had passed
};

template <class State, class Clock = MonotonicClock>
class LockStep {
 public:
  using TimePoint = typename Clock::time_point;
  struct Estimate {
    State state{};
    TimePoint t_est{};       // when the data arrived that it was made from
    std::uint64_t tick = 0;  // counts the estimates, from 1
  };

  LockStep(nanoseconds dt_est, nanoseconds dt_con, Clock clock = {}) : LockStep(dt_est, dt_con, dt_est, clock) {}
  LockStep(nanoseconds dt_est, nanoseconds dt_con, nanoseconds phase, Clock clock = {})
      : clock_(clock), dt_est_(dt_est), dt_con_(dt_con), phase_(phase) {
    RT_ENSURE(dt_est > nanoseconds::zero() && dt_con >= dt_est && dt_con % dt_est == nanoseconds::zero(),
              "the controller's period is a multiple of the estimator's");
    RT_ENSURE(phase >= nanoseconds::zero() && phase <= dt_est, "the phase lies between two data");
  }

  // --- the estimator's ---

  /// Where the state is to be written; it holds an earlier one.
  [[nodiscard]] State& state() { return latest_.slot().state; }
  void publish(TimePoint t_est) {
    latest_.slot().t_est = t_est;
    latest_.slot().tick = ++ticks_;
    latest_.publish();
  }

  // --- the controller's ---

  /// The newest estimate, or nullptr before the first: then wait() lets one estimator period pass.
  [[nodiscard]] const Estimate* begin() {
    const Estimate* estimate = latest_.read();
    if (estimate == nullptr) return nullptr;
    const bool silent = estimate->tick == used_.tick;
    if (counts_.activations++ > 0 && std::exchange(compares_, true)) compare(estimate->tick - used_.tick);
    used_ = {estimate->tick, silent ? clock_.now() + dt_con_ : estimate->t_est + phase_ + dt_con_};
    return estimate;
  }

  /// To be called when the commands are written. Sleeps until the next activation; returns the slack, negative = late.
  nanoseconds wait() {
    const TimePoint next = counts_.activations > 0 ? used_.next : clock_.now() + dt_est_;
    const nanoseconds slack = wait_until<Clock>(next, clock_);
    woken_late_ = clock_.now() - next;
    if (slack < nanoseconds::zero()) ++counts_.late;
    return slack;
  }
  /// How long after its time the last wait() returned.
  [[nodiscard]] nanoseconds woken_late() const { return woken_late_; }
  /// The controller stood by for a while, on purpose: its next activation is not compared with the one before.
  void stood_by() { compares_ = false; }

  /// Forgets what was counted so far, as after a warm-up.
  void clear_counts() { counts_ = {.activations = counts_.activations > 0 ? 1U : 0U}; }
  [[nodiscard]] const LockStepCounts& counts() const { return counts_; }

 private:
  void compare(std::uint64_t ticks) {
    const auto expected = static_cast<std::uint64_t>(dt_con_ / dt_est_);
    if (ticks < expected) ++counts_.lags;
    if (ticks > expected) ++counts_.leads;
    const std::uint64_t off = ticks < expected ? expected - ticks : ticks - expected;
    counts_.worst_ticks = std::max(counts_.worst_ticks, off);
  }

  struct Used {
    std::uint64_t tick = 0;
    TimePoint next{};  // the activation after the one that used it
  };

  LatestValue<Estimate> latest_;
  Clock clock_;
  nanoseconds dt_est_, dt_con_, phase_;
  alignas(no_sharing) std::uint64_t ticks_ = 0;  // the estimator's
  alignas(no_sharing) Used used_;                // the controller's
  nanoseconds woken_late_{};
  bool compares_ = true;
  LockStepCounts counts_;
};

}  // namespace isochron::rt
