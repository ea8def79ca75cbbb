#pragma once
// A clock moved by hand, so that loops can be tested without waiting and without a scheduler's whims.

#include "rt/clock.hpp"

namespace isochron::rt {

class ManualClock {
 public:
  using time_point = MonotonicTime;
  struct State {
    time_point now{std::chrono::seconds(100)};
    nanoseconds wakes_late{};  // added to every sleep
    int sleeps = 0;
  };
  explicit ManualClock(State& state) : state_(&state) {}
  [[nodiscard]] time_point now() const { return state_->now; }
  void sleep_until(time_point t) {
    ++state_->sleeps;
    state_->now = std::max(state_->now, t + state_->wakes_late);
  }

 private:
  State* state_;
};

}  // namespace isochron::rt
