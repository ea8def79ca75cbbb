#pragma once
// What a Basic Safety Message is made of (see fields.hpp); its Part II is in describe_part2.hpp.

#include "v2x/codec/describe_common.hpp"
#include "v2x/codec/describe_part2.hpp"

namespace isochron::v2x {

template <class Io>
bool describe(Io& io, As<Io, BrakeSystem>& m) {
  return io.sequence(closed, must("wheelBrakes", m.wheel_brakes, FlagBits{5}), must("traction", m.traction, Enum{}),
                     must("abs", m.abs, Enum{}), must("scs", m.stability, Enum{}), must("brakeBoost", m.boost, Enum{}),
                     must("auxBrakes", m.auxiliary, Enum{}));
}

template <class Io>
bool describe(Io& io, As<Io, Acceleration>& m) {
  return io.sequence(closed, must("long", m.longitudinal_m_s2, scale::acceleration),
                     must("lat", m.lateral_m_s2, scale::acceleration), must("vert", m.vertical_m_s2, scale::vertical),
                     must("yaw", m.yaw_rate_rad_s, scale::yaw_rate));
}

template <class Io>
bool describe(Io& io, As<Io, VehicleSize>& m) {
  return io.sequence(closed, must("width", m.width_m, scale::width), must("length", m.length_m, scale::length));
}

template <class Io>
bool describe(Io& io, As<Io, BsmCore>& m) {
  return io.sequence(closed, must("msgCnt", m.msg_count, revision), must("id", m.id, Id32{}),
                     must("secMark", m.sec_mark_s, scale::second), must("lat", m.latitude_deg, scale::latitude),
                     must("long", m.longitude_deg, scale::longitude), must("elev", m.elevation_m, scale::elevation),
                     must("accuracy", m.accuracy, Struct{}), must("transmission", m.transmission, Enum{}),
                     must("speed", m.speed_m_s, scale::speed), must("heading", m.heading_rad, scale::heading),
                     must("angle", m.steering_angle_rad, scale::steering), must("accelSet", m.acceleration, Struct{}),
                     must("brakes", m.brakes, Struct{}), must("size", m.size, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, Bsm>& m) {
  return io.sequence(m.additions, must("coreData", m.core, Struct{}), may("partII", m.part2, ListOf<Part>{1, 8, {}}),
                     may("regional", m.regional, regional_list));
}

}  // namespace isochron::v2x
