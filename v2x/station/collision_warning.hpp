#pragma once
// Who will be in the way: another vehicle, known by what it says, perhaps hidden behind a corner, that crosses one's
// own path at about the time that one is there, or stands across it. Vehicles of the same or the opposite direction are
// others' business (car following, lanes).

#include <optional>
#include <span>
#include <vector>

#include "v2x/radio/geometry.hpp"

namespace isochron::v2x {

/// Another vehicle as expected now, from its last message.
struct Expected {
  Vec3 position;
  double heading_rad = 0;  // from east, counter-clockwise
  double speed_m_s = 0;
  double acceleration_m_s2 = 0;
  double width_m = 1.8, length_m = 4.5;
};

/// The road ahead of oneself.
struct OwnPath {
  std::vector<Vec3> points;  // one every `spacing` metres, from one's own middle on
  double spacing_m = 1;
  double speed_m_s = 0;
  double wanted_m_s = 13.9;
  double width_m = 1.8, length_m = 4.5;
};

struct WarningSettings {
  double horizon_s = 5;
  double beside_m = 0.7;     // room that both want at their sides
  double apart_s = 0.8;      // in time, between one and the other
  double clearance_m = 2.5;  // stop so far before the place where paths cross
  double pickup_m_s2 = 2;    // how hard one may accelerate meanwhile,
  double leaving_m_s2 = 1;   // and how hard one surely does when one leaves
};

struct Threat {
  double stop_within_m = 0;  // so that the vehicle's nose stays clear; may be negative: too late to stop clear of it
  double in_s = 0;           // when the other will be there
};

std::optional<Threat> find_threat(const OwnPath& own, const Expected& other, const WarningSettings& settings = {});

}  // namespace isochron::v2x
