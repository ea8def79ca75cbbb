#pragma once
// Bits in the order of UPER (ITU-T X.691, unaligned): the first bit of a field is the highest of what is left in the
// current octet, and nothing is ever padded inside a message. A reader is a window of bits on someone else's octets; a
// nested "open type" is a smaller window on the same octets, wherever in an octet it happens to begin.
//
// Promises: a read beyond the window returns false and touches no memory outside it.
// Cost:     reading never allocates; writing appends to one vector.

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace isochron::v2x {

using Bytes = std::vector<std::uint8_t>;

class BitReader {
 public:
  explicit BitReader(std::span<const std::uint8_t> octets)
      : octets_(octets.data()), size_(octets.size()), end_(octets.size() * 8) {}

  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::size_t left() const { return end_ - at_; }

  /// The next n bits as an unsigned number; n <= 57. False if there are fewer.
  [[nodiscard]] bool read(unsigned n, std::uint64_t& value) {
    if (n > left()) return false;
    value = n == 0 ? 0 : (load(at_ >> 3) << (at_ & 7)) >> (64 - n);
    at_ += n;
    return true;
  }

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
  /// 64 bits from octet i on, zeros beyond the end. At least 57 of them are wanted ones whatever the bit offset.
  [[nodiscard]] std::uint64_t load(std::size_t i) const {
    std::uint64_t word = 0;
    if (i + 8 <= size_) {
      std::memcpy(&word, octets_ + i, 8);
      return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
    }
    for (std::size_t k = 0; k < 8; ++k) word = word << 8 | (i + k < size_ ? octets_[i + k] : 0u);
    return word;
  }

  const std::uint8_t* octets_;
  std::size_t size_;
  std::size_t at_ = 0;
  std::size_t end_;
};

class BitWriter {
 public:
  BitWriter() = default;
  /// Goes on from the octets that are there.
  explicit BitWriter(Bytes begun) : octets_(std::move(begun)) {}

  /// The low n bits of value; n <= 56.
  void write(unsigned n, std::uint64_t value) {
    held_ = held_ << n | (value & ((std::uint64_t{1} << n) - 1));
    count_ += n;
    while (count_ >= 8) {
      count_ -= 8;
      octets_.push_back(static_cast<std::uint8_t>(held_ >> count_));
    }
  }
  void write_octets(std::span<const std::uint8_t> octets) {
    if (count_ == 0) {
      octets_.insert(octets_.end(), octets.begin(), octets.end());
    } else {
      for (const auto o : octets) write(8, o);
    }
  }
  /// Pads the last octet with zeros and hands everything over. An open type has at least one octet (X.691 10.1.3).
  [[nodiscard]] Bytes finish() {
    if (count_ > 0) write(8 - count_, 0);
    if (octets_.empty()) octets_.push_back(0);
    return std::move(octets_);
  }
  void reserve(std::size_t octets) { octets_.reserve(octets); }

 private:
  Bytes octets_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;  // bits of held_ not yet in octets_; < 8 between calls
};

/// How many bits the numbers 0..range take.
constexpr unsigned bits_for(std::uint64_t range) { return static_cast<unsigned>(std::bit_width(range)); }

}  // namespace isochron::v2x
