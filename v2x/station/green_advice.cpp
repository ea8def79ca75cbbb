#include "v2x/station/green_advice.hpp"

#include <algorithm>

namespace isochron::v2x {

std::optional<GreenAdvice> speed_for_green(double distance_m, double speed_m_s, double limit_m_s,
                                           std::span<const GreenWindow> greens, const GreenAdviceSettings& s) {
  if (distance_m <= 0 || limit_m_s <= 0) return std::nullopt;
  const double lacking = std::max(0.0, limit_m_s - speed_m_s);
  const double soonest_s = distance_m / limit_m_s + lacking * lacking / (2 * s.acceleration_m_s2 * limit_m_s);
  for (const GreenWindow& green : greens) {
    if (soonest_s > green.end_s - s.before_end_s) continue;
    const bool already = green.begin_s <= 0;
    const double arrival_s = std::max(soonest_s, already ? 0 : green.begin_s + s.after_green_s);
    if (arrival_s > green.end_s - s.before_end_s) continue;
    const double green_in_s = std::max(green.begin_s, 0.0);
    if (arrival_s <= soonest_s) return GreenAdvice{limit_m_s, green_in_s};
    const double speed = distance_m / arrival_s;
    if (speed < s.slowest_m_s) return std::nullopt;
    return GreenAdvice{std::min(speed, limit_m_s), green_in_s};
  }
  return std::nullopt;
}

}  // namespace isochron::v2x
