#pragma once
// The Personal Safety Message: where somebody who is in no car is, and what that one does. Pedestrians, cyclists, road
// workers.

#include <cstdint>
#include <optional>

#include "v2x/codec/bsm.hpp"

namespace isochron::v2x {

enum class PersonType : std::uint8_t { unavailable, pedestrian, cyclist, public_safety_worker, animal };
enum class PropulsionKind : std::uint8_t { human, animal, motor };
/// What moves the person: which kind, and the place in the standard's list of that kind.
struct Propulsion {
  PropulsionKind kind{};
  int type = 0;   // human: on foot, skateboard, …; animal: mounted, carriage; motor: wheelchair, bicycle, …
  Bytes unknown;  // a later edition's kind
  friend bool operator==(const Propulsion&, const Propulsion&) = default;
};
enum class ClusterSize : std::uint8_t { unavailable, small, medium, large };

struct Psm {
  PersonType type{};
  Known sec_mark_s;   // since the start of the UTC minute
  int msg_count = 0;  // 0..127
  std::uint32_t id = 0;
  Position position;
  PositionalAccuracy accuracy;
  Known speed_m_s;
  Known heading_rad;  // clockwise from north
  std::optional<Acceleration> acceleration;
  std::optional<PathHistory> path_history;
  std::optional<PathPrediction> path_prediction;
  std::optional<Propulsion> propulsion;
  std::optional<Flags> device_use;  // 9 bits
  std::optional<bool> wants_to_cross;
  std::optional<bool> crosses;
  std::optional<ClusterSize> cluster_size;
  std::optional<double> cluster_radius_m;
  std::optional<int> responder;          // 0..7
  std::optional<Flags> activity;         // 6 bits
  std::optional<Flags> directs_traffic;  // 7 bits
  std::optional<Flags> assistance;       // 6 bits
  std::optional<Flags> size_and_moves;   // 5 bits
  std::optional<int> attachment;         // 0..6
  std::optional<double> attachment_radius_m;
  std::optional<int> animal;  // 0..3
  RegionalList regional;
  Additions additions;
  friend bool operator==(const Psm&, const Psm&) = default;
};

}  // namespace isochron::v2x
