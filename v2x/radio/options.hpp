#pragma once
// Everything that can be chosen about a medium. Defaults: 802.11p on a 10 MHz channel at 6 Mbit/s.

#include <cstdint>

#include "core/time.hpp"
#include "v2x/radio/geometry.hpp"
#include "v2x/radio/propagation.hpp"

namespace isochron::v2x {

struct MediumOptions {
  std::uint64_t seed = 1;
  const Obstruction* obstruction = nullptr;  // null = everybody sees everybody; must outlive the medium

  // ideal and fixed
  double range_m = 1e9;                                // farther stations hear nothing
  SimSpan fixed_delay = std::chrono::milliseconds(2);  // fixed: from send to delivery
  double fixed_loss = 0;                               // fixed: probability for each receiver

  // 802.11p
  Propagation propagation;
  double power_dbm = 20;
  double noise_dbm = -98;      // thermal -104 and a noise figure of 6
  double preamble_dbm = -85;   // weakest frame that a receiver locks on to
  double preamble_snr_db = 4;  // and how far it must stand out
  double energy_dbm = -85;     // energy of frames that counts as busy though none was locked on to
  double per_middle_db = 2.8;  // signal to interference and noise at which half of 336 octets fail
  double per_slope = 3.55;     // per dB
  SimSpan slot = std::chrono::microseconds(13);
  SimSpan aifs = std::chrono::microseconds(58);
  SimSpan detection = std::chrono::microseconds(4);  // from a frame's start until others know of it
  std::uint32_t contention_window = 15;
  SimSpan lifetime = std::chrono::milliseconds(500);  // a message waits no longer for the channel
  std::uint32_t queue = 16;                           // and not behind more than these
  unsigned overhead_octets = 36;                      // MAC, LLC and checksum around a message
  double refresh_m = 3;  // a link is evaluated anew after so many metres of its ends and 1 % of its length
};

/// Time on the air of a message of so many octets at 6 Mbit/s in 10 MHz.
SimSpan airtime(const MediumOptions& options, std::size_t octets);

}  // namespace isochron::v2x
