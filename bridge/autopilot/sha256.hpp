#pragma once
// SHA-256 (FIPS 180-4), as MAVLink's signatures need it.
//
// Threads: any. Cost: no allocation.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace isochron::autopilot {

class Sha256 {
 public:
  using Digest = std::array<std::byte, 32>;
  Sha256& add(std::span<const std::byte> bytes);
  [[nodiscard]] Digest finish();

 private:
  void take_block();
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_{};
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace isochron::autopilot
