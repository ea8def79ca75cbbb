#pragma once
// Who asks the signals for priority, and what they answer: the Signal Request Message and the Signal Status Message.

#include <cstdint>
#include <optional>
#include <string>

#include "v2x/codec/part2.hpp"

namespace isochron::v2x {

enum class AccessKind : std::uint8_t { lane, approach, connection };
/// Where one enters or leaves an intersection.
struct AccessPoint {
  AccessKind kind{};
  int number = 0;  // of the lane, the approach (0..15) or the connection
  Bytes unknown;   // a later edition's kind
  friend bool operator==(const AccessPoint&, const AccessPoint&) = default;
};

enum class VehicleIdKind : std::uint8_t { entity, station };
struct VehicleId {
  VehicleIdKind kind{};
  std::uint32_t number = 0;  // entity: the temporary name of its BSMs
  friend bool operator==(const VehicleId&, const VehicleId&) = default;
};

struct RequestorType {
  int role = 0;                   // 0..22: 6 emergency, 12 police, 13 fire, 14 ambulance, 16 transit
  std::optional<int> subrole;     // 0..15
  std::optional<int> importance;  // 0..15
  std::optional<int> iso3883;     // 0..100
  std::optional<int> hpms_type;   // 0..15
  std::optional<Regional> regional;
  Additions additions;
  friend bool operator==(const RequestorType&, const RequestorType&) = default;
};

struct RequestorPosition {
  Position position;
  std::optional<Known> heading_rad;
  std::optional<TransmissionAndSpeed> speed;
  Additions additions;
  friend bool operator==(const RequestorPosition&, const RequestorPosition&) = default;
};

enum class Occupancy : std::uint8_t { unknown, empty, very_low, low, medium, high, nearly_full, full };
struct Requestor {
  VehicleId id;
  std::optional<RequestorType> type;
  std::optional<RequestorPosition> position;
  std::string name;
  std::string route;
  std::optional<Flags> transit_status;  // 8 bits
  std::optional<Occupancy> occupancy;
  std::optional<Known> behind_schedule_s;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const Requestor&, const Requestor&) = default;
};

enum class PriorityRequest : std::uint8_t { reserved, request, update, cancellation };
struct SignalRequest {
  ReferenceId intersection;
  int request_id = 0;  // 0..255
  PriorityRequest type{};
  AccessPoint in;
  std::optional<AccessPoint> out;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const SignalRequest&, const SignalRequest&) = default;
};

/// A request and when its vehicle will be there.
struct SignalRequestPackage {
  SignalRequest request;
  std::optional<int> minute_of_year;
  std::optional<Known> second_s;    // in the minute
  std::optional<Known> duration_s;  // for how long it needs the intersection
  RegionalList regional;
  Additions additions;
  friend bool operator==(const SignalRequestPackage&, const SignalRequestPackage&) = default;
};

struct Srm {
  std::optional<int> minute_of_year;
  Known second_s;
  std::optional<int> sequence;          // 0..127
  List<SignalRequestPackage> requests;  // at most 32
  Requestor requestor;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const Srm&, const Srm&) = default;
};

/// Whose request an answer is for.
struct RequesterInfo {
  VehicleId id;
  int request_id = 0;
  int sequence = 0;
  std::optional<int> role;
  std::optional<RequestorType> type;
  Additions additions;
  friend bool operator==(const RequesterInfo&, const RequesterInfo&) = default;
};

enum class PriorityStatus : std::uint8_t {
  unknown,
  requested,
  processing,
  watch_other_traffic,
  granted,
  rejected,
  max_presence,
  reservice_locked
};
struct SignalStatusPackage {
  std::optional<RequesterInfo> requester;
  AccessPoint in;
  std::optional<AccessPoint> out;
  std::optional<int> minute_of_year;
  std::optional<Known> second_s;
  std::optional<Known> duration_s;
  PriorityStatus status{};
  RegionalList regional;
  Additions additions;
  friend bool operator==(const SignalStatusPackage&, const SignalStatusPackage&) = default;
};

struct SignalStatus {
  int sequence = 0;
  ReferenceId intersection;
  List<SignalStatusPackage> packages;  // 1..32
  RegionalList regional;
  Additions additions;
  friend bool operator==(const SignalStatus&, const SignalStatus&) = default;
};

struct Ssm {
  std::optional<int> minute_of_year;
  Known second_s;
  std::optional<int> sequence;
  List<SignalStatus> status;  // 1..32
  RegionalList regional;
  Additions additions;
  friend bool operator==(const Ssm&, const Ssm&) = default;
};

}  // namespace isochron::v2x
