#pragma once
// How often and how loud a vehicle sends its safety messages, so that the channel holds: SAE J2945/1's congestion
// control. The more vehicles within 100 m, the longer the interval; the busier the channel, the lower the power; and at
// once when others must be wrong about where it is.
//
// Promises: interval = clamp(100 ms · N / 25, 100 ms, 600 ms) with N the smoothed number of vehicles within 100 m;
//           power falls linearly from 20 to 10 dBm as the smoothed busy ratio rises from 50 % to 80 %, half of the way
//           in each step.
// Requires: observe() every 100 ms.
// Threads:  owner thread; never allocates.

#include "core/time.hpp"
#include "v2x/radio/geometry.hpp"

namespace isochron::v2x {

struct CongestionOptions {
  bool adapts = true;            // false: always the shortest interval and the highest power
  double density_weight = 0.05;  // of the newest count
  double density_coefficient = 25;
  SimSpan shortest = std::chrono::milliseconds(100);
  SimSpan longest = std::chrono::milliseconds(600);
  double busy_weight = 0.5;
  double busy_low = 0.5;
  double busy_high = 0.8;
  double power_high_dbm = 20;
  double power_low_dbm = 10;
  double power_gain = 0.5;
  double error_m = 0.5;  // others' idea of the place may be off by this before it is sent at once
};

class CongestionControl {
 public:
  explicit CongestionControl(const CongestionOptions& options = {})
      : options_(options), power_dbm_(options.power_high_dbm) {}

  /// What was seen in the last 100 ms: the share of time that the channel was busy, and how many vehicles are within
  /// 100 m.
  void observe(double busy_ratio, unsigned vehicles_within_100_m);

  [[nodiscard]] SimSpan interval() const;
  [[nodiscard]] double power_dbm() const { return power_dbm_; }
  [[nodiscard]] double density() const { return density_; }
  [[nodiscard]] double busy_ratio() const { return busy_ratio_; }

  /// Whether to send now: the interval is over, or others, who extrapolate the last message, are too far off.
  [[nodiscard]] bool due(SimTime now, const Vec3& at) const;
  /// Whether others, who extrapolate the last message, are too far off.
  [[nodiscard]] bool misplaced(SimTime now, const Vec3& at) const;
  /// Tells what others know from now on.
  void sent(SimTime now, const Vec3& at, const Vec3& velocity_m_s);

 private:
  CongestionOptions options_;
  double density_ = 0;
  double busy_ratio_ = 0;
  double power_dbm_;
  bool ever_sent_ = false;
  SimTime sent_at_;
  Vec3 sent_place_;
  Vec3 sent_velocity_;
};

}  // namespace isochron::v2x
