#pragma once
// How fast to go so as to pass the stop line while the signal is green, without standing.

#include <optional>
#include <span>

#include "v2x/station/road_view.hpp"

namespace isochron::v2x {

struct GreenAdviceSettings {
  double slowest_m_s = 4;      // slower than this is no advice: one may as well stop
  double after_green_s = 1.5;  // pass so long after the signal turns, for those who start from rest
  double before_end_s = 0.5;   // and so long before it ends
  double acceleration_m_s2 = 1.5;
};

struct GreenAdvice {
  double speed_m_s = 0;
  double green_in_s = 0;  // when the green begins that it aims at; 0 = it is green
  friend bool operator==(const GreenAdvice&, const GreenAdvice&) = default;
};

/// Nothing: no green that was told of can be met, or the stop line is passed. Never above the limit, and never below it
/// for one who meets the green that is.
std::optional<GreenAdvice> speed_for_green(double distance_m, double speed_m_s, double limit_m_s,
                                           std::span<const GreenWindow> greens,
                                           const GreenAdviceSettings& settings = {});

}  // namespace isochron::v2x
