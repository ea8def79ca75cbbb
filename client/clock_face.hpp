#pragma once
// How a program reads its own clock out of the shared page: V when it was dispatched, and what it has executed since by
// the time stamp counter. The counter runs a little fast (it does not stop when the host takes the machine away), so
// the value is cut off at the end of what was granted, and the next dispatch brings the exact time again.
//
// Promises: never goes back within one program. Threads: any of the program. Cost: ~10 ns, no system call.

#include <cstdint>

#include "link/program_protocol.hpp"

namespace isochron::client {

inline std::uint64_t time_stamp_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
#error "Isochron has no time stamp counter for this processor"
#endif
}

inline std::int64_t monotone(protocol::ClockFace& face, std::int64_t value) {
  const std::int64_t newest = face.newest.load(std::memory_order_relaxed);
  if (value <= newest) return newest;
  face.newest.store(value, std::memory_order_relaxed);
  return value;
}

/// The clock of modes `held` and `flowing`.
inline std::int64_t look_at_clock(protocol::ClockFace& face) {
  for (;;) {
    const std::uint32_t turn = face.turn.load(std::memory_order_acquire);
    const std::int64_t base = face.base.load(std::memory_order_relaxed);
    const std::int64_t limit = face.limit.load(std::memory_order_relaxed);
    const std::uint64_t counter = face.counter.load(std::memory_order_relaxed);
    const std::uint64_t scale = face.scale.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((turn & 1) != 0 || turn != face.turn.load(std::memory_order_relaxed)) continue;
    const std::uint64_t counts = time_stamp_counter() - counter;
    if (scale == 0) return monotone(face, base);
    const auto elapsed = static_cast<std::int64_t>((static_cast<unsigned __int128>(counts) * scale) >> 32);
    const std::int64_t value = elapsed > limit - base ? limit : base + elapsed;
    return monotone(face, value);
  }
}

/// Leaves a value for the record; false when the ring is full and must be emptied first.
inline bool leave_in_ring(protocol::Link& link, std::int64_t value) {
  const std::uint32_t head = link.ring_head.load(std::memory_order_relaxed);
  if (head - link.ring_tail.load(std::memory_order_acquire) >= protocol::ring_size) return false;
  link.ring[head % protocol::ring_size] = value;
  link.ring_head.store(head + 1, std::memory_order_release);
  return true;
}

/// Takes the next value of a replayed clock; false when the ring is empty and must be filled first.
inline bool take_from_ring(protocol::Link& link, std::int64_t& value) {
  const std::uint32_t tail = link.ring_tail.load(std::memory_order_relaxed);
  if (tail == link.ring_head.load(std::memory_order_acquire)) return false;
  value = link.ring[tail % protocol::ring_size];
  link.ring_tail.store(tail + 1, std::memory_order_release);
  return true;
}

}  // namespace isochron::client
