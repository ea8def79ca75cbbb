#pragma once
// Clock values in few bytes. A program that watches its clock reads it millions of times a second, each time a little
// later than before: each value is the difference to the one before it, the sign in the last bit, seven bits a byte,
// the high bit set in all bytes but the last.
//
// Threads: none of its own. Cost: a few ns for each value; no allocation.

#include <cstddef>
#include <cstdint>

namespace isochron::protocol {

inline constexpr std::size_t clock_value_most = 10;  // bytes of one value

/// Returns how many bytes it took.
inline std::size_t pack_clock_value(std::int64_t difference, unsigned char* bytes) {
  std::uint64_t rest = (static_cast<std::uint64_t>(difference) << 1) ^ static_cast<std::uint64_t>(difference >> 63);
  std::size_t size = 0;
  while (rest >= 0x80) {
    bytes[size++] = static_cast<unsigned char>(rest | 0x80);
    rest >>= 7;
  }
  bytes[size++] = static_cast<unsigned char>(rest);
  return size;
}

/// Takes byte after byte; true when the value is whole.
class ClockValueUnpacker {
 public:
  bool take(unsigned char byte) {
    if (shift_ < 64) bits_ |= static_cast<std::uint64_t>(byte & 0x7f) << shift_;
    shift_ += 7;
    return (byte & 0x80) == 0;
  }
  [[nodiscard]] std::int64_t difference() const {
    return static_cast<std::int64_t>(bits_ >> 1) ^ -static_cast<std::int64_t>(bits_ & 1);
  }

 private:
  std::uint64_t bits_ = 0;
  unsigned shift_ = 0;
};

}  // namespace isochron::protocol
