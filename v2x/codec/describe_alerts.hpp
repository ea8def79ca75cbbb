#pragma once
// What alerts and corrections are made of (see fields.hpp).

#include "v2x/codec/alerts.hpp"
#include "v2x/codec/describe_bsm.hpp"

namespace isochron::v2x {

template <class Io>
bool describe(Io& io, As<Io, RoadSideAlert>& m) {
  return io.sequence(
      m.additions, must("msgCnt", m.msg_count, revision), may("timeStamp", m.minute_of_year, minute_of_year),
      must("typeEvent", m.type_event, itis_code), may("description", m.description, ListOf<Integer>{1, 8, itis_code}),
      may("priority", m.priority, byte), may("heading", m.heading, FlagBits{16}),
      may("extent", m.extent, Code{16, false}), may("position", m.position, Struct{}),
      may("furtherInfoID", m.further_info, Integer{0, 65535}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, EmergencyVehicleAlert>& m) {
  return io.sequence(
      m.additions, may("timeStamp", m.minute_of_year, minute_of_year), may("id", m.id, Id32{}),
      must("rsaMsg", m.alert, Struct{}), may("responseType", m.response, Enum{}), may("details", m.details, Struct{}),
      may("mass", m.mass_code, byte), may("basicType", m.basic_type, vehicle_type),
      may("vehicleType", m.vehicle_group, Code{35, true}), may("responseEquip", m.response_equipment, Code{72, true}),
      may("responderType", m.responder_group, Code{14, true}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, RtcmCorrections>& m) {
  return io.sequence(m.additions, must("msgCnt", m.msg_count, revision), must("rev", m.revision, Enum{}),
                     may("timeStamp", m.minute_of_year, minute_of_year), may("anchorPoint", m.anchor, Struct{}),
                     may("rtcmHeader", m.header, Struct{}), must("msgs", m.messages, ListOf<Octets>{1, 5, {1, 1023}}),
                     may("regional", m.regional, regional_list));
}

}  // namespace isochron::v2x
