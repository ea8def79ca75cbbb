#pragma once
// The real clock: CLOCK_MONOTONIC. What runs flows when nobody hands it another one.

#include <time.h>

#include <cerrno>

#include "core/clock.hpp"

namespace isochron {

class WallClock final : public Clock {
 public:
  WallTime now() override {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return WallTime::from_ns(t.tv_sec * 1'000'000'000LL + t.tv_nsec);
  }
  void sleep_until(WallTime until) override {
    const timespec t{until.ns() / 1'000'000'000, until.ns() % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
    }
  }
};

}  // namespace isochron
