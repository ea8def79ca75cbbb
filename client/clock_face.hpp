#pragma once
// How a program reads its own clock out of the shared page: V when it was dispatched, and what it has executed since by
// the time stamp counter. The counter runs a little fast (it does not stop when the host takes the machine away), so
// the value is cut off at the end of what was granted, and the next dispatch brings the exact time again.
//
// Promises: never goes back within one program. Threads: any of the program. Cost: ~10 ns, no system call.

#include <time.h>

#include <cstdint>

#include "protocol/clock_values.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::client {

inline std::uint64_t time_stamp_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  // A board of another kind: no host runs there, and so nobody who would share its memory with programs.
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

/// counts * scale / 2^32, in 64 bits, as far as the result fits: 32-bit processors have no wider product.
constexpr std::uint64_t scaled(std::uint64_t counts, std::uint64_t scale) {
  constexpr std::uint64_t low = 0xffff'ffff;
  return (counts >> 32) * scale + (counts & low) * (scale >> 32) + (((counts & low) * (scale & low)) >> 32);
}

inline std::int64_t monotone(std::atomic<std::int64_t>& kept, std::int64_t value) {
  const std::int64_t newest = kept.load(std::memory_order_relaxed);
  if (value <= newest) return newest;
  kept.store(value, std::memory_order_relaxed);
  return value;
}
inline std::int64_t monotone(protocol::ClockFace& face, std::int64_t value) { return monotone(face.newest, value); }

/// The machine's clock where the counter is trapped: a system call, as the vDSO would read the counter.
std::int64_t wall_ns_without_counter();

/// What the face shows, and how much of that the program did not execute.
struct Shown {
  std::int64_t time = 0;
  std::int64_t waited = 0;
};
inline Shown read_face(protocol::ClockFace& face) {
  for (;;) {
    const std::uint32_t turn = face.turn.load(std::memory_order_acquire);
    const std::int64_t base = face.base.load(std::memory_order_relaxed);
    const std::int64_t limit = face.limit.load(std::memory_order_relaxed);
    const std::uint64_t counter = face.counter.load(std::memory_order_relaxed);
    const std::uint64_t scale = face.scale.load(std::memory_order_relaxed);
    const std::int64_t waited = face.waited.load(std::memory_order_relaxed);
    const std::int64_t wall = face.wall.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((turn & 1) != 0 || turn != face.turn.load(std::memory_order_relaxed)) continue;
    if (scale == 0) return {base, waited};
    const bool trapped = face.counter_use != protocol::CounterUse::host;
    const std::uint64_t counts =
        trapped ? static_cast<std::uint64_t>(wall_ns_without_counter() - wall) : time_stamp_counter() - counter;
    const auto elapsed = static_cast<std::int64_t>(scaled(counts, trapped ? face.rate : scale));
    return {elapsed > limit - base ? limit : base + elapsed, waited};
  }
}

/// The clock of modes `held` and `flowing`.
inline std::int64_t look_at_clock(protocol::ClockFace& face) { return monotone(face, read_face(face).time); }

/// The CPU time of the program in these modes, as its robot's computer counts it.
inline std::int64_t look_at_cpu_clock(protocol::ClockFace& face) {
  const Shown shown = read_face(face);
  return monotone(face.newest_cpu, shown.time - shown.waited);
}

/// Leaves a value for the record; false when the ring is full and must be emptied first.
inline bool leave_in_ring(protocol::Link& link, std::int64_t value) {
  const std::uint32_t head = link.ring_head.load(std::memory_order_relaxed);
  const std::uint32_t room =
      static_cast<std::uint32_t>(protocol::ring_size) - (head - link.ring_tail.load(std::memory_order_acquire));
  if (room < protocol::clock_value_most) return false;
  unsigned char bytes[protocol::clock_value_most];
  const std::size_t size = protocol::pack_clock_value(value - link.ring_last, bytes);
  for (std::size_t i = 0; i < size; ++i) link.ring[(head + i) % protocol::ring_size] = bytes[i];
  link.ring_last = value;
  link.ring_head.store(head + static_cast<std::uint32_t>(size), std::memory_order_release);
  return true;
}

/// Takes the next value of a replayed clock; false when the ring has no whole one and must be filled first.
inline bool take_from_ring(protocol::Link& link, std::int64_t& value) {
  const std::uint32_t tail = link.ring_tail.load(std::memory_order_relaxed);
  const std::uint32_t head = link.ring_head.load(std::memory_order_acquire);
  protocol::ClockValueUnpacker unpacker;
  for (std::uint32_t at = tail; at != head; ++at) {
    if (!unpacker.take(link.ring[at % protocol::ring_size])) continue;
    value = link.ring_last = link.ring_last + unpacker.difference();
    link.ring_tail.store(at + 1, std::memory_order_release);
    return true;
  }
  return false;
}

}  // namespace isochron::client
