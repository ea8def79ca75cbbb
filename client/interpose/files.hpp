#pragma once
// How interposed functions wait for descriptors in simulated time.

#include <errno.h>

#include <algorithm>

#include "client/interpose/clock.hpp"

namespace isochron::interpose {

/// Rings all timers that are descriptors and whose time has come; returns when the next one does.
std::int64_t ring_timers();

/// `attempt` looks without waiting: 0 = nothing yet. Without limit and timers there is no time to wait for: `block`.
/// A timer's signal ends the wait, as signals do.
/// `is_ready(with)` looks too, from any thread, and takes nothing away.
template <class Attempt, class Block>
int wait_for_descriptors(std::int64_t limit, Attempt&& attempt, Block&& block, Outside::IsReady is_ready, void* with) {
  const std::uint32_t before = signals_sent();
  for (;;) {
    const std::int64_t timer = ring_timers();
    const std::int64_t signal = next_signal();
    const std::int64_t first = std::min({limit, timer, signal});
    if (first == forever) {
      // What comes through a pipe of the program's own is there as soon as its thread has had its turn.
      while (order_mode() == OrderMode::baton) {
        if (const int result = attempt(); result != 0) return result;
        if (!step_back()) break;
      }
      const Outside outside(is_ready, with);
      return block();
    }
    int result = 0;
    if (try_until(first, [&] { return (result = attempt()) != 0; })) return result;
    if (signal <= now_ns()) send_signals();
    if (signals_sent() != before) {
      errno = EINTR;
      return -1;
    }
    if (limit <= now_ns() && timer > limit) return 0;
  }
}

/// Whether the descriptor became ready before the limit.
bool wait_for_descriptor(int descriptor, short events, std::int64_t limit);

/// Whether a write to it now is an operation in the order of threads.
bool meets_others(int descriptor);
/// Whether a read from it takes what is there and does not wait: then that is an operation too.
bool only_looks(int descriptor, int flags);
template <class Call>
auto in_order(Call&& call) {
  const Turn turn;
  return call();
}
/// With the baton: lets other threads run until the descriptor is ready, if a call on it would wait.
void wait_outside(int descriptor, short events, int flags);
/// Whether a call on this descriptor waits at all.
bool is_blocking(int descriptor);
/// For calls that receive: false when the socket's own time limit (SO_RCVTIMEO) passed; errno says so.
bool arrives_in_time(int descriptor, int flags);
void forget_limits(int descriptor);

}  // namespace isochron::interpose
