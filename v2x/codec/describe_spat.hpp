#pragma once
// What a SPaT message is made of (see fields.hpp).

#include "v2x/codec/describe_common.hpp"

namespace isochron::v2x {

template <class Io>
bool describe(Io& io, As<Io, TimeChange>& m) {
  return io.sequence(closed, may("startTime", m.start_s, scale::time_mark),
                     must("minEndTime", m.min_end_s, scale::time_mark),
                     may("maxEndTime", m.max_end_s, scale::time_mark), may("likelyTime", m.likely_s, scale::time_mark),
                     may("confidence", m.confidence, Integer{0, 15}), may("nextTime", m.next_s, scale::time_mark));
}

template <class Io>
bool describe(Io& io, As<Io, AdvisorySpeed>& m) {
  return io.sequence(m.additions, must("type", m.type, Enum{}), may("speed", m.speed_m_s, scale::advice),
                     may("confidence", m.confidence, Code{8, false}), may("distance", m.distance_m, scale::zone_length),
                     may("class", m.user_class, byte), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, MovementEvent>& m) {
  return io.sequence(m.additions, must("eventState", m.state, Enum{}), may("timing", m.timing, Struct{}),
                     may("speeds", m.speeds, ListOf<Struct>{1, 16, {}}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, ManeuverAssist>& m) {
  return io.sequence(m.additions, must("connectionID", m.connection_id, byte),
                     may("queueLength", m.queue_length_m, scale::zone_length),
                     may("availableStorageLength", m.available_storage_m, scale::zone_length),
                     may("waitOnStop", m.wait_on_stop, Bool{}),
                     may("pedBicycleDetect", m.pedestrian_or_bicycle_detected, Bool{}),
                     may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, MovementState>& m) {
  return io.sequence(m.additions, may("movementName", m.name, name_text), must("signalGroup", m.signal_group, byte),
                     must("state-time-speed", m.events, ListOf<Struct>{1, 16, {}}),
                     may("maneuverAssistList", m.assists, ListOf<Struct>{1, 16, {}}),
                     may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, IntersectionState>& m) {
  return io.sequence(
      m.additions, may("name", m.name, name_text), must("id", m.id, Struct{}), must("revision", m.revision, revision),
      must("status", m.status, FlagBits{16}), may("moy", m.minute_of_year, minute_of_year),
      may("timeStamp", m.second_s, scale::second), may("enabledLanes", m.enabled_lanes, ListOf<Integer>{1, 16, byte}),
      must("states", m.movements, ListOf<Struct>{1, 255, {}}),
      may("maneuverAssistList", m.assists, ListOf<Struct>{1, 16, {}}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, Spat>& m) {
  return io.sequence(m.additions, may("timeStamp", m.minute_of_year, minute_of_year), may("name", m.name, name_text),
                     must("intersections", m.intersections, ListOf<Struct>{1, 32, {}}),
                     may("regional", m.regional, regional_list));
}

}  // namespace isochron::v2x
