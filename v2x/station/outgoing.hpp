#pragma once
// What a station wants to say, and when.

#include "core/time.hpp"
#include "v2x/codec/bits.hpp"
#include "v2x/radio/medium.hpp"

namespace isochron::v2x {

struct Outgoing {
  SimTime at;
  Bytes octets;
  double power_dbm = Medium::default_power;
};

}  // namespace isochron::v2x
