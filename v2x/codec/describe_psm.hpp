#pragma once
// What a Personal Safety Message is made of (see fields.hpp).

#include "v2x/codec/describe_bsm.hpp"
#include "v2x/codec/psm.hpp"

namespace isochron::v2x {

template <class Io>
bool describe(Io& io, As<Io, Propulsion>& m) {
  static constexpr std::array names{"human", "animal", "motor"};
  constexpr unsigned counts[] = {6, 4, 6};  // of each kind's own list
  return io.choice(names, m.kind, m.unknown, [&](PropulsionKind kind) {
    return io.value(Code{counts[static_cast<unsigned>(kind)], true}, m.type);
  });
}

template <class Io>
bool describe(Io& io, As<Io, Psm>& m) {
  return io.sequence(
      m.additions, must("basicType", m.type, Enum{}), must("secMark", m.sec_mark_s, scale::second),
      must("msgCnt", m.msg_count, revision), must("id", m.id, Id32{}), must("position", m.position, Struct{}),
      must("accuracy", m.accuracy, Struct{}), must("speed", m.speed_m_s, scale::speed),
      must("heading", m.heading_rad, scale::heading), may("accelSet", m.acceleration, Struct{}),
      may("pathHistory", m.path_history, Struct{}), may("pathPrediction", m.path_prediction, Struct{}),
      may("propulsion", m.propulsion, Struct{}), may("useState", m.device_use, FlagBits{9, true}),
      may("crossRequest", m.wants_to_cross, Bool{}), may("crossState", m.crosses, Bool{}),
      may("clusterSize", m.cluster_size, Enum{}), may("clusterRadius", m.cluster_radius_m, scale::cluster_radius),
      may("eventResponderType", m.responder, Code{8, true}), may("activityType", m.activity, FlagBits{6, true}),
      may("activitySubType", m.directs_traffic, FlagBits{7, true}), may("assistType", m.assistance, FlagBits{6, true}),
      may("sizing", m.size_and_moves, FlagBits{5, true}), may("attachment", m.attachment, Code{7, true}),
      may("attachmentRadius", m.attachment_radius_m, scale::attachment_radius),
      may("animalType", m.animal, Code{4, true}), may("regional", m.regional, regional_list));
}

}  // namespace isochron::v2x
