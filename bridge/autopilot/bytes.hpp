#pragma once
// Little-endian numbers in and out of bytes, for packets whose layout is fixed.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace isochron::autopilot {

static_assert(std::endian::native == std::endian::little, "packets are written as they lie in memory");

using Bytes = std::vector<std::byte>;

template <class T>
requires std::is_arithmetic_v<T>
void put(Bytes& to, T value) {
  const std::size_t at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

/// Zero where the bytes end before.
template <class T>
requires std::is_arithmetic_v<T>
[[nodiscard]] T get(std::span<const std::byte> from, std::size_t at) {
  T value{};
  if (at + sizeof value <= from.size()) std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}

}  // namespace isochron::autopilot
