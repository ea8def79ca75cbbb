#pragma once
// A vehicle, or somebody on foot, that talks and listens. It says where it is (BSM, PSM) as often as congestion control allows, keeps what it
// hears of others and of intersections, and advises its driver: how fast to go for the green, and where to stop for one
// who comes from behind the corner.
//
// Promises: everything it knows of others came through the codec, and was not older than `freshness` when it came.
// Requires: speak() with windows that follow each other, observe() every 100 ms.
// Threads:  owner thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/random.hpp"
#include "v2x/radio/congestion.hpp"
#include "v2x/station/collision_warning.hpp"
#include "v2x/station/green_advice.hpp"
#include "v2x/station/outgoing.hpp"

namespace isochron::v2x {

/// Where a satellite receiver says that the vehicle is.
struct PositionFix {
  SimTime time;
  bool found = false;  // whether it sees enough of them
  Vec3 position{};
  double east_m = 0, north_m = 0;  // standard deviations
};

/// How the vehicle moves now.
struct VehicleMotion {
  SimTime time;
  Vec3 position;
  Vec3 velocity_m_s;
  double heading_rad = 0;  // from east, counter-clockwise
  double yaw_rate_rad_s = 0;
  std::optional<PositionFix> fix{};  // what it says of its place; nothing: it has no receiver, and says where it is
};

/// What it says of itself: a BSM as a vehicle, a PSM as somebody on foot, or nothing.
enum class Says : std::uint8_t { bsm, psm, nothing };

struct VehicleSettings {
  Says says = Says::bsm;
  std::uint32_t id = 1;
  double width_m = 1.8, length_m = 4.5;
  std::uint64_t seed = 1;
  std::string name;  // of its random stream
  CongestionOptions congestion;
  GreenAdviceSettings green;
  WarningSettings warning;
  SimSpan freshness = std::chrono::milliseconds(700);  // older messages are refused: delayed, or replayed
  SimSpan memory = std::chrono::milliseconds(1500);    // who was not heard for so long is forgotten
  SimSpan fix_lasts = std::chrono::seconds(1);         // after that its own place is "unavailable"
  double hard_braking_m_s2 = 4.5;  // who would need more than this for the red is not expected to stop
};

struct Advice {
  std::optional<double> speed_m_s;      // for the green
  double green_in_s = 0;                // when that green begins; 0 = it is
  std::optional<double> stop_within_m;  // warning: brake, so as to stand within so many metres
  double threat_in_s = 0;
  std::uint32_t threat = 0;  // who
};

struct HeardCounts {
  std::uint64_t bsm = 0, map = 0, spat = 0;  // bsm: and PSM
  std::uint64_t unreadable = 0, stale = 0;
};

class VehicleStation {
 public:
  VehicleStation(const VehicleSettings& settings, const GeoFrame& frame);

  /// The message to send in [now, now + window), if one is due; where the vehicle will be then goes into it.
  std::optional<Outgoing> speak(const VehicleMotion& motion, SimSpan window);
  void hear(SimTime received, std::span<const std::uint8_t> octets);
  /// What the radio saw of the channel in the last 100 ms.
  void observe(const VehicleMotion& motion, double busy_ratio);

  /// `path`: the road ahead, with speeds filled in.
  [[nodiscard]] Advice advise(const VehicleMotion& motion, const OwnPath& path) const;

  struct Neighbour {
    SimTime heard;  // when its message says it was there
    Expected then;
    double yaw_rate_rad_s = 0;
  };
  [[nodiscard]] const std::map<std::uint32_t, Neighbour>& neighbours() const { return neighbours_; }
  [[nodiscard]] const HeardCounts& heard() const { return counts_; }
  [[nodiscard]] const CongestionControl& congestion() const { return congestion_; }

 private:
  [[nodiscard]] Bytes bsm(const VehicleMotion& motion, SimTime at);
  [[nodiscard]] Bytes psm(const VehicleMotion& motion, SimTime at);
  [[nodiscard]] BsmCore core(const VehicleMotion& motion, SimTime at);
  void fill_place(BsmCore& core, const VehicleMotion& motion, SimTime at) const;
  void take(const BsmCore& core, SimTime received);
  [[nodiscard]] bool expected_to_stop(const Expected& other, SimTime now) const;

  VehicleSettings settings_;
  GeoFrame frame_;
  CongestionControl congestion_;
  RandomStream draws_;
  RoadView road_;
  std::map<std::uint32_t, Neighbour> neighbours_;
  HeardCounts counts_;
  SimTime next_;
  int count_ = 0;
  std::optional<VehicleMotion> last_;  // the motion at the last speak()
  double acceleration_m_s2_ = 0;
};

/// Where it will be after so long, straight on.
[[nodiscard]] Expected carried_on(const Expected& then, double seconds);

}  // namespace isochron::v2x
