#pragma once
// A running 64-bit hash of what was sent on a flow: (time, next, payload) of every message, in order. Two runs of one
// system are the same exactly when the hashes of all their flows are, which is how repeatability is tested here. The
// journal has its own, stronger record; this one costs a few nanoseconds a message and needs nothing else.
//
// Promises: a pure function of the bytes given; the same on every little-endian machine.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace isochron::flow {

namespace hashing {
inline constexpr std::uint64_t k0 = 0xd6e8feb86659fd93ULL;
inline constexpr std::uint64_t k1 = 0xa3b195354a39b70dULL;
inline constexpr std::uint64_t k2 = 0x9fb21c651e98df25ULL;

/// The high and low half of a 128-bit product, folded: every input bit reaches every output bit.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t load(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}
}  // namespace hashing

/// Two words into a running hash.
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t a, std::uint64_t b = 0) {
  return hashing::fold(a ^ hashing::k0 ^ hash, b ^ hashing::k1) ^ hashing::fold(hash ^ hashing::k2, a + hashing::k0);
}

/// Bytes into a running hash. Two independent chains, so that the multiplications overlap.
inline std::uint64_t mix_bytes(std::uint64_t hash, const void* data, std::size_t size) {
  using namespace hashing;
  const auto* at = static_cast<const std::byte*>(data);
  std::size_t left = size;
  std::uint64_t other = hash ^ k2;
  while (left >= 32) {
    hash = fold(load(at) ^ k0, load(at + 8) ^ hash);
    other = fold(load(at + 16) ^ k1, load(at + 24) ^ other);
    at += 32;
    left -= 32;
  }
  std::byte tail[32] = {};
  if (left != 0) std::memcpy(tail, at, left);
  hash = fold(load(tail) ^ k0, load(tail + 8) ^ hash);
  other = fold(load(tail + 16) ^ k1, load(tail + 24) ^ other);
  return fold(hash ^ k1, other ^ size);
}

}  // namespace isochron::flow
