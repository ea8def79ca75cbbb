#pragma once
// How likely a stretch of a frame survives at a given signal to interference and noise. The published curve is for
// whole frames of 336 octets; a stretch of another length survives with the power of its share.

#include <array>
#include <bit>
#include <cstdint>

#include "v2x/radio/options.hpp"

namespace isochron::v2x {

class PacketError {
 public:
  explicit PacketError(const MediumOptions& options);
  /// Natural logarithm of the chance to survive one nanosecond; <= 0. Steps of 1/64 octave (0.05 dB).
  [[nodiscard]] double log_success_per_ns(double sinr) const {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(sinr));
    const std::int64_t i = static_cast<std::int64_t>(bits >> 17) - first_;
    return i < 0 ? table_.front() : i >= size_ ? 0 : table_[static_cast<std::size_t>(i)];
  }

 private:
  static constexpr int size_ = 64 * 12;             // twelve octaves
  static constexpr std::int64_t first_ = 121 * 64;  // from a ratio of 1/64 on
  std::array<double, size_> table_;
};

}  // namespace isochron::v2x
