#pragma once
// What roadside stations and emergency vehicles warn of: the RoadSide Alert and the Emergency Vehicle Alert, which has
// one inside. And corrections for satellite receivers, which come from the roadside too.

#include <cstdint>
#include <optional>

#include "v2x/codec/bsm.hpp"

namespace isochron::v2x {

struct RoadSideAlert {
  int msg_count = 0;  // 0..127
  std::optional<int> minute_of_year;
  int type_event = 0;     // an ITIS code
  List<int> description;  // at most 8 ITIS codes
  std::optional<int> priority;
  std::optional<Flags> heading;  // 16 slices of 22.5 degrees
  std::optional<int> extent;     // 0..15
  std::optional<FullPosition> position;
  std::optional<int> further_info;  // 0..65535
  RegionalList regional;
  Additions additions;
  friend bool operator==(const RoadSideAlert&, const RoadSideAlert&) = default;
};

struct EmergencyVehicleAlert {
  std::optional<int> minute_of_year;
  std::optional<std::uint32_t> id;
  RoadSideAlert alert;
  std::optional<ResponseType> response;
  std::optional<EmergencyDetails> details;
  std::optional<int> mass_code;  // 0..255
  std::optional<int> basic_type;
  std::optional<int> vehicle_group;
  std::optional<int> response_equipment;
  std::optional<int> responder_group;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const EmergencyVehicleAlert&, const EmergencyVehicleAlert&) = default;
};

enum class RtcmRevision : std::uint8_t { unknown, rev2, rev3, reserved };
struct RtcmCorrections {
  int msg_count = 0;
  RtcmRevision revision{};
  std::optional<int> minute_of_year;
  std::optional<FullPosition> anchor;
  std::optional<RtcmHeader> header;
  List<Bytes> messages;  // 1..5 of 1..1023 octets
  RegionalList regional;
  Additions additions;
  friend bool operator==(const RtcmCorrections&, const RtcmCorrections&) = default;
};

}  // namespace isochron::v2x
