#pragma once
// Octets in the order of COER (ITU-T X.696), the encoding of IEEE 1609.2: whole octets, lengths before whatever varies,
// a preamble of bits that say which optional fields are there.
//
// Promises: a reader never reads beyond its octets; a list is bounded by the octets that are left.
// Fails:    an error names the field and says what is wrong; nothing is thrown.
// Cost:     reading copies nothing.

#include <cstdint>
#include <span>
#include <string>

#include "v2x/codec/error_path.hpp"

namespace isochron::v2x {

using OctetView = std::span<const std::uint8_t>;

/// Which optional fields of a sequence are there, and whether extensions follow.
struct OerPreamble {
  std::uint64_t bits = 0;
  unsigned optionals = 0;
  bool extended = false;
  /// The i-th optional field, counted from 0.
  [[nodiscard]] bool has(unsigned i) const { return (bits >> (optionals - 1 - i) & 1) != 0; }
};

class OerReader {
 public:
  explicit OerReader(OctetView octets) : octets_(octets) {}

  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::size_t left() const { return octets_.size() - at_; }
  /// What was read since that position.
  [[nodiscard]] OctetView since(std::size_t position) const { return octets_.subspan(position, at_ - position); }
  [[nodiscard]] CodecError error() const {
    CodecError e = path_.error();
    e.bit = 8 * at_;
    return e;
  }
  bool fail(std::string what) { return path_.fail(std::move(what)); }
  template <class Place>
  bool in(Place place) {
    return path_.in(place);
  }

  /// The next n octets.
  bool octets(std::size_t n, OctetView& v) {
    if (n > left()) return fail("the message ends here");
    v = octets_.subspan(at_, n);
    at_ += n;
    return true;
  }
  /// An unsigned number of n octets, n <= 8.
  bool number(unsigned n, std::uint64_t& v) {
    OctetView read;
    if (!octets(n, read)) return false;
    v = 0;
    for (const std::uint8_t octet : read) v = v << 8 | octet;
    return true;
  }
  template <class T>
  bool number(unsigned n, T& v) {
    std::uint64_t wide = 0;
    return number(n, wide) && (v = static_cast<T>(wide), true);
  }
  bool length(std::size_t& n) {
    std::uint64_t v = 0;
    if (!number(1, v)) return false;
    if (v >= 0x80) {
      const auto octets = static_cast<unsigned>(v & 0x7f);
      if (octets < 1 || octets > 4) return fail("a length of " + std::to_string(octets) + " octets");
      if (!number(octets, v)) return false;
    }
    if (v > left()) return fail("the message ends here");
    n = static_cast<std::size_t>(v);
    return true;
  }
  /// Octets with their length before them.
  bool text(OctetView& v) {
    std::size_t n = 0;
    return length(n) && octets(n, v);
  }
  /// A whole number without an upper bound, as far as 8 octets hold it.
  bool any_number(std::uint64_t& v) {
    OctetView read;
    if (!text(read)) return false;
    if (read.empty() || read.size() > 8) return fail("a number of " + std::to_string(read.size()) + " octets");
    v = 0;
    for (const std::uint8_t octet : read) v = v << 8 | octet;
    return true;
  }
  /// The number of a choice's alternative.
  bool tag(unsigned& v) {
    std::uint64_t octet = 0;
    if (!number(1, octet)) return false;
    if (octet < 0x80 || octet > 0xbe)
      return fail("no alternative of a choice begins with octet " + std::to_string(octet));
    v = static_cast<unsigned>(octet & 0x3f);
    return true;
  }
  bool enumerated(unsigned& v) {
    std::uint64_t octet = 0;
    if (!number(1, octet)) return false;
    if (octet >= 0x80) return fail("a value beyond all editions");
    v = static_cast<unsigned>(octet);
    return true;
  }
  bool preamble(unsigned optionals, bool extensible, OerPreamble& v) {
    const unsigned bits = optionals + (extensible ? 1 : 0);
    const unsigned size = (bits + 7) / 8;
    std::uint64_t read = 0;
    if (!number(size, read)) return false;
    read >>= size * 8 - bits;
    v.optionals = optionals;
    v.bits = read;
    v.extended = extensible && (read >> optionals & 1) != 0;
    return true;
  }
  /// Extensions: calls each(i, octets) for those that are there.
  template <class Each>
  bool extensions(Each&& each) {
    OctetView map;
    if (!text(map)) return false;
    if (map.size() < 2 || map[0] > 7) return fail("extensions without a list of those that are there");
    const std::size_t count = (map.size() - 1) * 8 - map[0];
    for (std::size_t i = 0; i < count; ++i) {
      if ((map[1 + i / 8] >> (7 - i % 8) & 1) == 0) continue;
      OctetView value;
      if (!text(value) || !each(i, value)) return in(i), in("extensions");
    }
    return true;
  }
  /// SEQUENCE OF: calls each(i) that often.
  template <class Each>
  bool list(Each&& each) {
    std::uint64_t n = 0;
    if (!any_number(n)) return false;
    if (n > left()) return fail("the message ends here");
    for (std::size_t i = 0; i < n; ++i) {
      if (!each(i)) return in(i);
    }
    return true;
  }

 private:
  OctetView octets_;
  std::size_t at_ = 0;
  ErrorPath path_;
};

class OerWriter {
 public:
  void number(unsigned n, std::uint64_t v) {
    for (unsigned i = n; i-- > 0;) out_.push_back(static_cast<std::uint8_t>(v >> 8 * i));
  }
  void octets(OctetView v) { out_.insert(out_.end(), v.begin(), v.end()); }
  void length(std::size_t n) {
    if (n < 0x80) return number(1, n);
    const unsigned size = n < 0x100 ? 1 : n < 0x10000 ? 2 : 4;
    number(1, 0x80 | size);
    number(size, n);
  }
  void text(OctetView v) {
    length(v.size());
    octets(v);
  }
  void any_number(std::uint64_t v) {
    unsigned size = 1;
    while (size < 8 && v >> 8 * size != 0) ++size;
    number(1, size);
    number(size, v);
  }
  void tag(unsigned v) { number(1, 0x80 | v); }
  [[nodiscard]] Bytes take() { return std::move(out_); }
  [[nodiscard]] const Bytes& written() const { return out_; }

 private:
  Bytes out_;
};

}  // namespace isochron::v2x
