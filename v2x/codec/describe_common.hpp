#pragma once
// What the structures shared by several messages are made of (see fields.hpp).

#include "v2x/codec/enum_names.hpp"
#include "v2x/codec/scales.hpp"

namespace isochron::v2x {

inline constexpr Integer byte{0, 255};
inline constexpr Integer minute_of_year{0, minute_of_year_invalid};
inline constexpr Integer revision{0, 127};
inline constexpr Text name_text{1, 63};
inline constexpr ListOf<Struct> regional_list{1, 4, {}};

template <class Io>
bool describe(Io& io, As<Io, Regional>& m) {
  return io.sequence(closed, must("regionId", m.region, byte), must("regExtValue", m.value, Open{}));
}

template <class Io>
bool describe(Io& io, As<Io, Position>& m) {
  return io.sequence(m.additions, must("lat", m.latitude_deg, scale::latitude),
                     must("long", m.longitude_deg, scale::longitude), may("elevation", m.elevation_m, scale::elevation),
                     may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, PositionalAccuracy>& m) {
  return io.sequence(closed, must("semiMajor", m.semi_major_m, scale::semi_axis),
                     must("semiMinor", m.semi_minor_m, scale::semi_axis),
                     must("orientation", m.orientation_rad, scale::orientation));
}

template <class Io>
bool describe(Io& io, As<Io, ReferenceId>& m) {
  constexpr Integer id{0, 65535};
  return io.sequence(closed, may("region", m.region, id), must("id", m.id, id));
}

template <class Io>
bool describe(Io& io, As<Io, SpeedLimit>& m) {
  return io.sequence(closed, must("type", m.type, Enum{}), must("speed", m.speed_m_s, scale::speed));
}

template <class Io>
bool describe(Io& io, As<Io, OffsetXY>& m) {
  return io.sequence(closed, must("x", m.x_m, scale::node(12)), must("y", m.y_m, scale::node(12)));
}

}  // namespace isochron::v2x
