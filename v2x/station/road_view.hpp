#pragma once
// What a vehicle has been told about intersections: lanes from MAP, signals from SPaT. It answers the two questions
// that matter on the way: how far is the stop line of the lane that somebody is in, and when may one pass it?
//
// Promises: an answer rests on messages that were heard, and on a SPaT not older than `fresh`.
// Threads:  owner thread.

#include <map>
#include <optional>
#include <vector>

#include "core/time.hpp"
#include "v2x/codec/codec.hpp"
#include "v2x/station/geo_frame.hpp"

namespace isochron::v2x {

/// From now on, in seconds.
struct GreenWindow {
  double begin_s = 0, end_s = 0;
  friend bool operator==(const GreenWindow&, const GreenWindow&) = default;
};

/// Somebody in a lane towards a stop line.
struct Approach {
  double distance_m = 0;  // to the stop line; a little negative = on it
  double limit_m_s = 0;   // 0 = not told
  bool told = false;      // whether a fresh SPaT speaks of the lane's signal
  SignalState state = SignalState::unavailable;
  double state_ends_s = 0;            // from now
  std::vector<GreenWindow> greens{};  // as far as told
};

class RoadView {
 public:
  explicit RoadView(const GeoFrame& frame) : frame_(frame) {}

  void take(const MapData& map);
  void take(const Spat& spat, SimTime now);

  /// For somebody at p who heads there (from east, counter-clockwise); nothing if that is in no known lane.
  [[nodiscard]] std::optional<Approach> approach(const Vec3& p, double heading_rad, SimTime now) const;

 private:
  static constexpr SimSpan fresh = std::chrono::seconds(1);
  struct KnownLane {
    int intersection, signal_group;
    double width_m, limit_m_s;
    std::vector<Vec3> nodes;  // from the stop line away
  };
  struct Group {
    SimTime heard;
    List<MovementEvent> events;
  };
  void fill_signal(Approach& approach, const Group& group, SimTime now) const;

  GeoFrame frame_;
  std::vector<KnownLane> lanes_;
  std::map<int, int> revisions_;                 // of MAPs taken, by intersection
  std::map<std::pair<int, int>, Group> groups_;  // by intersection and signal group
};

[[nodiscard]] bool is_green(SignalState state);

}  // namespace isochron::v2x
