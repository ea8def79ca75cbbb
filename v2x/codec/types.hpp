#pragma once
// What all messages are made of. Values are in SI units (metres, seconds, radians, m/s); geographic coordinates are in
// degrees, as everybody writes them. A field for which SAE J2735 defines an "unavailable" code is a std::optional, and
// std::nullopt is that code. A field that may be left out *and* may be unavailable is an optional of an optional,
// because a message that says "I do not know" is not the message that says nothing. A list that may be left out is
// empty when it is.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "v2x/codec/bits.hpp"
#include "v2x/codec/list.hpp"

namespace isochron::v2x {

/// A quantity that the sender may not know.
using Known = std::optional<double>;

/// Named bits in J2735's order: bit 0 is the first sent. `size` differs from the standard's only in messages of a
/// later edition that have more.
struct Flags {
  std::uint64_t bits = 0;
  std::uint8_t size = 0;

  constexpr Flags() = default;
  constexpr explicit Flags(unsigned count, std::uint64_t value = 0)
      : bits(value), size(static_cast<std::uint8_t>(count)) {}
  [[nodiscard]] constexpr bool test(unsigned i) const { return i < size && (bits >> (size - 1u - i) & 1) != 0; }
  constexpr Flags& set(unsigned i, bool on = true) {
    const std::uint64_t mask = std::uint64_t{1} << (size - 1u - i);
    bits = on ? bits | mask : bits & ~mask;
    return *this;
  }
  friend bool operator==(const Flags&, const Flags&) = default;
};

/// What a later edition added behind a structure's known fields, kept as it came: nullopt = that addition is absent.
using Additions = List<std::optional<Bytes>>;

/// What a region added: known to that region only, kept as it came.
struct Regional {
  int region = 0;  // 0..255
  Bytes value;
  friend bool operator==(const Regional&, const Regional&) = default;
};
using RegionalList = List<Regional>;  // at most 4

struct Position {
  Known latitude_deg;
  Known longitude_deg;
  std::optional<Known> elevation_m;
  RegionalList regional;
  Additions additions;
  friend bool operator==(const Position&, const Position&) = default;
};

/// One standard deviation as an ellipse; orientation is that of the major axis, clockwise from north.
struct PositionalAccuracy {
  Known semi_major_m;
  Known semi_minor_m;
  Known orientation_rad;
  friend bool operator==(const PositionalAccuracy&, const PositionalAccuracy&) = default;
};

enum class TransmissionState : std::uint8_t {
  neutral,
  park,
  forward,
  reverse,
  reserved1,
  reserved2,
  reserved3,
  unavailable
};

/// An intersection or a road segment: `id` is unique in its region.
struct ReferenceId {
  std::optional<int> region;
  int id = 0;
  friend bool operator==(const ReferenceId&, const ReferenceId&) = default;
};

enum class SpeedLimitType : std::uint8_t {
  unknown,
  school_zone_max,
  school_zone_children_present_max,
  construction_zone_max,
  vehicle_min,
  vehicle_max,
  vehicle_night_max,
  truck_min,
  truck_max,
  truck_night_max,
  with_trailer_min,
  with_trailer_max,
  with_trailer_night_max
};
struct SpeedLimit {
  SpeedLimitType type = SpeedLimitType::unknown;
  Known speed_m_s;
  friend bool operator==(const SpeedLimit&, const SpeedLimit&) = default;
};

/// An offset in the plane east and north of the previous point, of one fixed size.
struct OffsetXY {
  double x_m = 0;
  double y_m = 0;
  friend bool operator==(const OffsetXY&, const OffsetXY&) = default;
};

}  // namespace isochron::v2x
