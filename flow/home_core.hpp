#pragma once
// Processes of small nodes are faster on one core than on many: handing the turn to somebody on the same core costs a
// microsecond or two, waking another core tens. So they start on the core of their parent, and whoever finds that its
// turns cost more than the grain leaves for all the others. Inside flow/ only.
//
// Threads: the object is made before fork; a child has its own copy.
// Cost:    two readings of the thread's processor time for every sixteenth turn, while at home.

#include <sched.h>

#include <chrono>
#include <cstdint>

#include "core/time.hpp"
#include "rt/cpu_clock.hpp"

namespace isochron::flow {

class HomeCore {
 public:
  /// The core on which the caller runs; grain zero = nobody settles.
  explicit HomeCore(WallSpan grain) : grain_(grain) {
    known_ = sched_getaffinity(0, sizeof all_, &all_) == 0 && CPU_COUNT(&all_) > 1;
    const int here = sched_getcpu();
    CPU_ZERO(&home_);
    if (here >= 0) CPU_SET(here, &home_);
    known_ = known_ && here >= 0;
  }
  /// How many cores there are to spread over.
  [[nodiscard]] std::size_t cores() const { return known_ ? static_cast<std::size_t>(CPU_COUNT(&all_)) : 1; }

  /// This process stays on the home core while its turns are cheap.
  void settle() { at_home_ = known_ && grain_ > WallSpan::zero() && sched_setaffinity(0, sizeof home_, &home_) == 0; }
  [[nodiscard]] bool at_home() const { return at_home_; }

  /// Takes a turn of the node.
  template <class Turn>
  auto turn(Turn&& take) {
    if (!at_home_ || ++turns_ % every != 0) return take();
    const auto before = processor_time();
    auto result = take();
    spent_ += processor_time() - before;
    if (++looked_at_ == batch) judge();
    return result;
  }

 private:
  static constexpr std::uint32_t every = 16, batch = 8;
  static std::chrono::nanoseconds processor_time() {
    return rt::CpuClock::this_thread().now().value_or(std::chrono::nanoseconds::zero());
  }
  void judge() {
    if (WallSpan(spent_) / looked_at_ > grain_) {
      sched_setaffinity(0, sizeof all_, &all_);
      at_home_ = false;
    }
    spent_ = {};
    looked_at_ = 0;
  }

  WallSpan grain_;
  cpu_set_t all_{};
  cpu_set_t home_{};
  bool known_ = false;
  bool at_home_ = false;
  std::uint32_t turns_ = 0;
  std::uint32_t looked_at_ = 0;
  std::chrono::nanoseconds spent_{};
};

}  // namespace isochron::flow
