#pragma once
// When simulated zero is on the wall clock. Threads of a run in real time are started first, which takes as long as it
// takes (memory is locked and touched), wait here, and begin together when zero is set.
//
// Threads: set() once, by the one that starts the others; await() by those.

#include <atomic>

#include "core/time.hpp"

namespace isochron {

class ZeroHour {
 public:
  void set(WallTime zero) {
    ns_.store(zero.ns(), std::memory_order_release);
    ns_.notify_all();
  }
  WallTime await() const {
    ns_.wait(0, std::memory_order_acquire);
    return WallTime::from_ns(ns_.load(std::memory_order_acquire));
  }

 private:
  std::atomic<std::int64_t> ns_{0};
};

}  // namespace isochron
