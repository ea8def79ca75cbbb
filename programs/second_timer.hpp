#pragma once
// A timer on another core that rings for a lane whose own timer did not come. A lane sleeps while its program executes;
// if the interrupt that should end that is late, the program executes beyond its budget and nobody there can notice.
// The ring is an interrupt from another core, so both would have to be late.
//
// Threads: expect() and met() from the lane's; a thread of its own, at real-time priority on a core that is no lane.
// Cost:    expect() and met() one store each; the thread wakes at most once for each window.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/time.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::programs {

class SecondTimer {
 public:
  /// Where every core that this process may use is a lane there is no second timer.
  SecondTimer(protocol::Bell& bell, const std::vector<int>& lanes);
  ~SecondTimer();
  SecondTimer(const SecondTimer&) = delete;
  SecondTimer& operator=(const SecondTimer&) = delete;

  void expect(WallTime deadline) { deadline_.store(deadline.ns(), std::memory_order_relaxed); }
  void met() { deadline_.store(INT64_MAX, std::memory_order_relaxed); }

 private:
  void watch(int core);
  protocol::Bell& bell_;
  std::atomic<std::int64_t> deadline_{INT64_MAX};
  std::atomic<std::uint32_t> stop_{0};
  std::thread thread_;
};

}  // namespace isochron::programs
