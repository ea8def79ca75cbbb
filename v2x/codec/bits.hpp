#pragma once
// Bits in the order of UPER (ITU-T X.691, unaligned): the first bit of a field is the highest of what is left in the
// current octet, and nothing is ever padded inside a message. A reader is a window of bits on someone else's octets; a
// nested "open type" is a smaller window on the same octets, wherever in an octet it happens to begin.
//
// Requires: a reader's octets are followed by `padding` readable ones, so that a read is one load. decode() sees to it.
// Promises: a read beyond the window returns false and touches nothing beyond that padding.
// Cost:     reading never allocates; writing appends to one vector.

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

// The codec's speed comes from seeing through these small functions; under a sanitizer that would only cost compile
// time.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
#define ISOCHRON_V2X_INLINE
#else
#define ISOCHRON_V2X_INLINE [[gnu::always_inline]]
#endif

namespace isochron::v2x {

using Bytes = std::vector<std::uint8_t>;

class BitReader {
 public:
  static constexpr std::size_t padding = 8;

  explicit BitReader(std::span<const std::uint8_t> padded_octets)
      : octets_(padded_octets.data()), end_((padded_octets.size() - padding) * 8) {}

  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::size_t left() const { return end_ - at_; }

  /// The next n bits as an unsigned number; n <= 57. False if there are fewer.
  [[nodiscard]] ISOCHRON_V2X_INLINE bool read(unsigned n, std::uint64_t& value) {
    if (n > left()) return false;
    value = n == 0 ? 0 : (load(at_ >> 3) << (at_ & 7)) >> (64 - n);
    at_ += n;
    return true;
  }

  /// The next 57 bits, highest first, without going on; what is beyond the end is not to be used.
  [[nodiscard]] std::uint64_t peek() const { return load(at_ >> 3) << (at_ & 7); }
  /// Goes on by n <= left() bits.
  void skip(std::size_t n) { at_ += n; }

  /// Narrows this reader to its next n bits and gives what follows as another; false if there are fewer.
  [[nodiscard]] bool split(std::size_t bits, BitReader& inner) {
    if (bits > left()) return false;
    inner = *this;
    inner.end_ = at_ + bits;
    at_ += bits;
    return true;
  }

  /// The next n octets, from whatever bit they begin at.
  [[nodiscard]] bool read_octets(std::size_t n, Bytes& out) {
    if (n > left() / 8) return false;
    out.resize(n);
    std::uint64_t octet = 0;
    for (auto& o : out) {
      if (!read(8, octet)) return false;
      o = static_cast<std::uint8_t>(octet);
    }
    return true;
  }

 private:
  /// 64 bits from octet i on. At least 57 of them are wanted ones whatever the bit offset.
  [[nodiscard]] std::uint64_t load(std::size_t i) const {
    std::uint64_t word = 0;
    std::memcpy(&word, octets_ + i, 8);
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
  }

  const std::uint8_t* octets_;
  std::size_t at_ = 0;
  std::size_t end_;
};

class BitWriter {
 public:
  BitWriter() : BitWriter(Bytes{}) {}
  /// Goes on behind the octets that are there.
  explicit BitWriter(Bytes begun) : octets_(std::move(begun)), used_(octets_.size()) { octets_.resize(used_ + 60); }

  /// The low n bits of value; n <= 32.
  ISOCHRON_V2X_INLINE void write(unsigned n, std::uint64_t value) {
    held_ = held_ << n | (value & ((std::uint64_t{1} << n) - 1));
    count_ += n;
    if (count_ >= 32) flush();
  }
  void write_octets(std::span<const std::uint8_t> octets) {
    for (const auto o : octets) write(8, o);
  }
  /// Pads the last octet with zeros and hands everything over. An open type has at least one octet (X.691 10.1.3).
  [[nodiscard]] Bytes finish() {
    if (count_ % 8 != 0) write(8 - count_ % 8, 0);
    grow();
    for (; count_ > 0; count_ -= 8) octets_[used_++] = static_cast<std::uint8_t>(held_ >> (count_ - 8));
    if (used_ == 0) octets_[used_++] = 0;
    octets_.resize(used_);
    return std::move(octets_);
  }

 private:
  void grow() {
    if (used_ + 4 > octets_.size()) octets_.resize(octets_.size() * 2 + 4);
  }
  void flush() {
    grow();
    count_ -= 32;
    auto word = static_cast<std::uint32_t>(held_ >> count_);
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap32(word);
    std::memcpy(octets_.data() + used_, &word, 4);
    used_ += 4;
  }

  Bytes octets_;
  std::size_t used_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;  // bits of held_ not yet in octets_; < 32 between calls
};

/// How many bits the numbers 0..range take.
constexpr unsigned bits_for(std::uint64_t range) { return static_cast<unsigned>(std::bit_width(range)); }

}  // namespace isochron::v2x
