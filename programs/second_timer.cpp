#include "programs/second_timer.hpp"

#include <sched.h>

#include <algorithm>

#include "programs/futex.hpp"

namespace isochron::programs {

namespace {

constexpr WallSpan patience = std::chrono::microseconds(200);  // a timer is seldom later
constexpr WallSpan longest_sleep = std::chrono::milliseconds(2);

int core_beside(const std::vector<int>& lanes) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed) && std::find(lanes.begin(), lanes.end(), core) == lanes.end()) return core;
  }
  return -1;
}

}  // namespace

SecondTimer::SecondTimer(protocol::Bell& bell, const std::vector<int>& lanes) : bell_(bell) {
  if (const int core = core_beside(lanes); core >= 0) thread_ = std::thread([this, core] { watch(core); });
}

SecondTimer::~SecondTimer() {
  stop_.store(1, std::memory_order_release);
  futex_wake(stop_);
  if (thread_.joinable()) thread_.join();
}

void SecondTimer::watch(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
  sched_param parameter{};
  parameter.sched_priority = sched_get_priority_max(SCHED_FIFO) - 5;
  sched_setscheduler(0, SCHED_FIFO, &parameter);
  while (stop_.load(std::memory_order_acquire) == 0) {
    const WallTime now = wall_now();
    const std::int64_t deadline = deadline_.load(std::memory_order_relaxed);
    WallTime look = now + longest_sleep;
    if (deadline != INT64_MAX) {
      const WallTime overdue = WallTime::from_ns(deadline) + patience;
      look = now >= overdue ? now + patience : std::min(look, overdue);
      if (now >= overdue) {
        bell_.rings.fetch_add(1, std::memory_order_seq_cst);
        futex_wake(bell_.rings);
      }
    }
    futex_wait_until(stop_, 0, look);
  }
}

}  // namespace isochron::programs
