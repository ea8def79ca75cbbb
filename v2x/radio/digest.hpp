#pragma once
// One number that stands for every delivery in order.

#include "v2x/radio/medium.hpp"
#include "v2x/radio/repeatable_math.hpp"

namespace isochron::v2x {

/// Of a message; taken once, however many hear it.
inline std::uint64_t digest_of(std::span<const std::uint8_t> octets) {
  std::uint64_t h = mixed(octets.size());
  std::size_t i = 0;
  for (; i + 8 <= octets.size(); i += 8) {
    std::uint64_t word = 0;
    for (unsigned k = 0; k < 8; ++k) word |= std::uint64_t{octets[i + k]} << 8 * k;
    h = mixed(h ^ word);
  }
  for (; i < octets.size(); ++i) h = mixed(h ^ octets[i]);
  return h;
}

/// A message on its way to several.
struct SharedMessage {
  explicit SharedMessage(Bytes bytes) : octets(std::move(bytes)), digest(digest_of(octets)) {}
  Bytes octets;
  std::uint64_t digest;
};

class DeliveryDigest {
 public:
  void add(const Delivery& d, std::uint64_t octets_digest) {
    const std::uint64_t who = std::uint64_t{d.from} << 32 | d.to;
    const std::uint64_t when =
        mixed(static_cast<std::uint64_t>(d.received.ns())) + static_cast<std::uint64_t>(d.sent.ns());
    state_ = mixed(mixed(state_ ^ when) ^ who ^ octets_digest);
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace isochron::v2x
