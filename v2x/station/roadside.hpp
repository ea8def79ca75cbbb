#pragma once
// A traffic light that talks: where the lanes of its intersection lie (MAP, once a second) and what its signals show,
// until when, and what they will show after that (SPaT, ten times a second). Both are real messages: what a receiver
// knows is what came through the codec.
//
// Promises: SPaT every 100 ms and MAP every second, each at a phase of its own, for any length of window.
// Requires: speak() with windows that follow each other.
// Threads:  owner thread.

#include <string>
#include <vector>

#include "v2x/codec/codec.hpp"
#include "v2x/station/geo_frame.hpp"
#include "v2x/station/outgoing.hpp"

namespace isochron::v2x {

/// A lane of the description; nodes lead away from the middle: the first one of an ingress lane is its stop line.
struct LaneShape {
  std::string name;
  std::vector<Vec3> nodes;  // two or more
  int signal_group = 0;     // 0 = leads away from the intersection
  struct Way {
    int lane = 0;          // its index
    int signal_group = 0;  // of those who go there
  };
  std::vector<Way> leads_to;
};

struct IntersectionShape {
  std::string name;
  int id = 1;
  Vec3 reference;
  double lane_width_m = 3.5;
  double speed_limit_m_s = 13.9;
  std::vector<LaneShape> lanes;
};

/// What one signal group shows, from one moment until another. In order of time.
struct SignalSpan {
  SignalState state = SignalState::unavailable;
  SimTime until;     // at the earliest,
  SimTime latest{};  // and at the latest: later where cars may make it last
};
struct SignalPlan {
  int signal_group = 1;
  std::vector<SignalSpan> spans;  // the first holds now; at most 16
};

class RoadsideStation {
 public:
  /// Throws InputError when the intersection does not fit into a MAP.
  RoadsideStation(IntersectionShape shape, const GeoFrame& frame, SimSpan phase = {});

  /// Whether a SPaT is due in [now, now + window): what the signals will do is asked for only then.
  [[nodiscard]] bool due(SimTime now, SimSpan window) const { return next_spat_ < now + window; }
  /// Whether some way through the intersection goes by that group.
  [[nodiscard]] bool tells_of(int signal_group) const;
  /// Everything that is to be sent in [now, now + window).
  std::vector<Outgoing> speak(SimTime now, SimSpan window, const std::vector<SignalPlan>& plans);

 private:
  [[nodiscard]] Bytes spat(SimTime at, const std::vector<SignalPlan>& plans) const;

  IntersectionShape shape_;
  Bytes map_;
  SimTime next_spat_, next_map_;
};

/// The MAP of a description. Throws InputError.
Bytes encode_map(const IntersectionShape& shape, const GeoFrame& frame);

}  // namespace isochron::v2x
