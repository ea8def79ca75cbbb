#pragma once
// What requests for priority and the answers to them are made of (see fields.hpp).

#include "v2x/codec/describe_part2.hpp"
#include "v2x/codec/priority.hpp"

namespace isochron::v2x {

inline constexpr ListOf<Struct> up_to_32{1, 32, {}};

template <class Io>
bool describe(Io& io, As<Io, AccessPoint>& m) {
  static constexpr std::array names{"lane", "approach", "connection"};
  return io.choice(names, m.kind, m.unknown, [&](AccessKind kind) {
    return io.value(kind == AccessKind::approach ? Integer{0, 15} : byte, m.number);
  });
}

template <class Io>
bool describe(Io& io, As<Io, VehicleId>& m) {
  static constexpr std::array names{"entityID", "stationID"};
  return io.choice(names, m.kind, closed, [&](VehicleIdKind kind) {
    return kind == VehicleIdKind::entity ? io.value(Id32{}, m.number) : io.value(Integer{0, 4294967295}, m.number);
  });
}

template <class Io>
bool describe(Io& io, As<Io, RequestorType>& m) {
  return io.sequence(m.additions, must("role", m.role, vehicle_role), may("subrole", m.subrole, Code{16, false}),
                     may("request", m.importance, Code{16, false}), may("iso3883", m.iso3883, Integer{0, 100}),
                     may("hpmsType", m.hpms_type, vehicle_type), may("regional", m.regional, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, RequestorPosition>& m) {
  return io.sequence(m.additions, must("position", m.position, Struct{}), may("heading", m.heading_rad, scale::heading),
                     may("speed", m.speed, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, Requestor>& m) {
  return io.sequence(
      m.additions, must("id", m.id, Struct{}), may("type", m.type, Struct{}), may("position", m.position, Struct{}),
      may("name", m.name, name_text), may("routeName", m.route, name_text),
      may("transitStatus", m.transit_status, FlagBits{8}), may("transitOccupancy", m.occupancy, Enum{}),
      may("transitSchedule", m.behind_schedule_s, scale::schedule), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, SignalRequest>& m) {
  return io.sequence(m.additions, must("id", m.intersection, Struct{}), must("requestID", m.request_id, byte),
                     must("requestType", m.type, Enum{}), must("inBoundLane", m.in, Struct{}),
                     may("outBoundLane", m.out, Struct{}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, SignalRequestPackage>& m) {
  return io.sequence(m.additions, must("request", m.request, Struct{}), may("minute", m.minute_of_year, minute_of_year),
                     may("second", m.second_s, scale::second), may("duration", m.duration_s, scale::second),
                     may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, Srm>& m) {
  return io.sequence(m.additions, may("timeStamp", m.minute_of_year, minute_of_year),
                     must("second", m.second_s, scale::second), may("sequenceNumber", m.sequence, revision),
                     may("requests", m.requests, up_to_32), must("requestor", m.requestor, Struct{}),
                     may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, RequesterInfo>& m) {
  return io.sequence(m.additions, must("id", m.id, Struct{}), must("request", m.request_id, byte),
                     must("sequenceNumber", m.sequence, revision), may("role", m.role, vehicle_role),
                     may("typeData", m.type, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, SignalStatusPackage>& m) {
  return io.sequence(m.additions, may("requester", m.requester, Struct{}), must("inboundOn", m.in, Struct{}),
                     may("outboundOn", m.out, Struct{}), may("minute", m.minute_of_year, minute_of_year),
                     may("second", m.second_s, scale::second), may("duration", m.duration_s, scale::second),
                     must("status", m.status, Enum{}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, SignalStatus>& m) {
  return io.sequence(m.additions, must("sequenceNumber", m.sequence, revision), must("id", m.intersection, Struct{}),
                     must("sigStatus", m.packages, up_to_32), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, Ssm>& m) {
  return io.sequence(m.additions, may("timeStamp", m.minute_of_year, minute_of_year),
                     must("second", m.second_s, scale::second), may("sequenceNumber", m.sequence, revision),
                     must("status", m.status, up_to_32), may("regional", m.regional, regional_list));
}

}  // namespace isochron::v2x
