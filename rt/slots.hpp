#pragma once
// Where a ring keeps its elements: on the heap, with a capacity chosen at run time, or inside the ring itself, which
// may then be placed in memory shared by processes (it has no pointer).
//
// Requires: the capacity is a power of two, so that a position turns into a place with one mask.
// Cost:     allocates at set-up or never.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rt/ensure.hpp"

namespace isochron::rt {

constexpr bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

template <class T>
class HeapSlots {
 public:
  explicit HeapSlots(std::size_t capacity) : slots_(make(capacity)), mask_(capacity - 1) {}

  T& operator[](std::uint64_t position) { return slots_[position & mask_]; }
  [[nodiscard]] std::size_t capacity() const { return mask_ + 1; }

 private:
  static std::unique_ptr<T[]> make(std::size_t capacity) {
    RT_ENSURE(is_power_of_two(capacity), "a ring's capacity is a power of two");
    return std::make_unique<T[]>(capacity);
  }
  std::unique_ptr<T[]> slots_;
  std::size_t mask_;
};

template <class T, std::size_t Capacity>
class InlineSlots {
 public:
  static_assert(is_power_of_two(Capacity), "a ring's capacity is a power of two");

  T& operator[](std::uint64_t position) { return slots_[position & (Capacity - 1)]; }
  [[nodiscard]] static constexpr std::size_t capacity() { return Capacity; }

 private:
  std::array<T, Capacity> slots_{};
};

}  // namespace isochron::rt
