#pragma once
// One number that stands for every delivery in order.

#include "v2x/radio/medium.hpp"
#include "v2x/radio/repeatable_math.hpp"

namespace isochron::v2x {

class DeliveryDigest {
 public:
  void add(const Delivery& d) {
    std::uint64_t h = mixed(state_ ^ static_cast<std::uint64_t>(d.received.ns()));
    h = mixed(h ^ static_cast<std::uint64_t>(d.sent.ns()) ^ (std::uint64_t{d.from} << 32 | d.to));
    for (const auto o : d.octets) h = (h ^ o) * 0x100000001b3;
    state_ = mixed(h);
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace isochron::v2x
