#pragma once
// How a thing with a state is saved and restored: it goes over its values once, in one order, and the Carrier counts,
// copies out or copies back. One description serves all three, so they cannot disagree.
//
//     void carry(Carrier& c) { c(sequence_), c(bias_), c.list(ring_); }
//
// Threads: owner's. Cost: a memcpy of each value; never allocates.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "core/ensure.hpp"
#include "core/random.hpp"

namespace isochron::world {

class Carrier {
 public:
  /// Counts only.
  Carrier() = default;
  static Carrier saving(std::span<double> to) { return Carrier(to.data(), nullptr, to.size_bytes()); }
  static Carrier restoring(std::span<const double> from) { return Carrier(nullptr, from.data(), from.size_bytes()); }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(T& value) { carry(&value, sizeof value); }
  void operator()(RandomStream& stream) {
    std::uint64_t position = stream.position();
    (*this)(position);
    stream.seek(position);
  }
  /// The elements; how many there are does not change.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void list(std::vector<T>& values) { carry(values.data(), values.size() * sizeof(T)); }

  /// How many numbers it takes.
  [[nodiscard]] std::size_t numbers() const { return (bytes_ + sizeof(double) - 1) / sizeof(double); }

 private:
  Carrier(double* to, const double* from, std::size_t room)
      : to_(reinterpret_cast<std::byte*>(to)), from_(reinterpret_cast<const std::byte*>(from)), room_(room) {}

  void carry(void* value, std::size_t size) {
    if (to_ != nullptr || from_ != nullptr) {
      ENSURE(bytes_ + size <= room_, "a snapshot of another size");
      if (size > 0 && to_ != nullptr) std::memcpy(to_ + bytes_, value, size);
      if (size > 0 && from_ != nullptr) std::memcpy(value, from_ + bytes_, size);
    }
    bytes_ += size;
  }
  std::byte* to_ = nullptr;
  const std::byte* from_ = nullptr;
  std::size_t room_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace isochron::world
