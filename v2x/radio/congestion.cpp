#include "v2x/radio/congestion.hpp"

#include <algorithm>

namespace isochron::v2x {

void CongestionControl::observe(double busy_ratio, unsigned vehicles_within_100_m) {
  const CongestionOptions& o = options_;
  if (!o.adapts) return;
  density_ = o.density_weight * vehicles_within_100_m + (1 - o.density_weight) * density_;
  busy_ratio_ = o.busy_weight * busy_ratio + (1 - o.busy_weight) * busy_ratio_;
  const double excess = std::clamp((busy_ratio_ - o.busy_low) / (o.busy_high - o.busy_low), 0.0, 1.0);
  const double wanted = o.power_high_dbm - excess * (o.power_high_dbm - o.power_low_dbm);
  power_dbm_ += o.power_gain * (wanted - power_dbm_);
}

SimSpan CongestionControl::interval() const {
  const double ms = 100 * density_ / options_.density_coefficient;
  return std::clamp(SimSpan::from_seconds(ms * 1e-3), options_.shortest, options_.longest);
}

bool CongestionControl::misplaced(SimTime now, const Vec3& at) const {
  if (!ever_sent_) return false;
  const double dt = (now - sent_at_).seconds();
  const Vec3 believed{sent_place_.x + sent_velocity_.x * dt, sent_place_.y + sent_velocity_.y * dt,
                      sent_place_.z + sent_velocity_.z * dt};
  return distance(believed, at) > options_.error_m && now - sent_at_ >= options_.shortest;
}

bool CongestionControl::due(SimTime now, const Vec3& at) const {
  return !ever_sent_ || now - sent_at_ >= interval() || misplaced(now, at);
}

void CongestionControl::sent(SimTime now, const Vec3& at, const Vec3& velocity_m_s) {
  ever_sent_ = true;
  sent_at_ = now;
  sent_place_ = at;
  sent_velocity_ = velocity_m_s;
}

}  // namespace isochron::v2x
