#pragma once
// What the three containers of Part II are made of (see fields.hpp).

#include "v2x/codec/describe_common.hpp"

namespace isochron::v2x {

inline constexpr Integer rights{0, 31};
inline constexpr Integer itis_code{0, 65535};
inline constexpr Integer itis_vehicle_status{523, 541};
inline constexpr Code itis_location{96, true};
inline constexpr Code vehicle_role{23, true};
inline constexpr Code vehicle_type{16, true};

template <class Io>
bool describe(Io& io, As<Io, DateTime>& m) {
  return io.sequence(closed, may("year", m.year, Integer{0, 4095}), may("month", m.month, Integer{0, 12}),
                     may("day", m.day, Integer{0, 31}), may("hour", m.hour, Integer{0, 31}),
                     may("minute", m.minute, Integer{0, 60}), may("second", m.second_s, scale::second),
                     may("offset", m.offset_min, Integer{-840, 840}));
}

template <class Io>
bool describe(Io& io, As<Io, TransmissionAndSpeed>& m) {
  return io.sequence(closed, must("transmisson", m.transmission, Enum{}), must("speed", m.speed_m_s, scale::speed));
}

template <class Io>
bool describe(Io& io, As<Io, PositionConfidence>& m) {
  return io.sequence(closed, must("pos", m.position, Code{16, false}), must("elevation", m.elevation, Code{16, false}));
}

template <class Io>
bool describe(Io& io, As<Io, MotionConfidence>& m) {
  return io.sequence(closed, must("heading", m.heading, Code{8, false}), must("speed", m.speed, Code{8, false}),
                     must("throttle", m.throttle, Code{4, false}));
}

template <class Io>
bool describe(Io& io, As<Io, FullPosition>& m) {
  return io.sequence(
      m.additions, may("utcTime", m.utc, Struct{}), must("long", m.longitude_deg, scale::longitude),
      must("lat", m.latitude_deg, scale::latitude), may("elevation", m.elevation_m, scale::elevation),
      may("heading", m.heading_rad, scale::heading), may("speed", m.speed, Struct{}),
      may("posAccuracy", m.accuracy, Struct{}), may("timeConfidence", m.time_confidence, Code{40, false}),
      may("posConfidence", m.position_confidence, Struct{}), may("speedConfidence", m.speed_confidence, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, PathPoint>& m) {
  return io.sequence(m.additions, must("latOffset", m.latitude_offset_deg, scale::offset_ll),
                     must("lonOffset", m.longitude_offset_deg, scale::offset_ll),
                     must("elevationOffset", m.elevation_offset_m, scale::offset_b12),
                     must("timeOffset", m.time_offset_s, scale::time_offset), may("speed", m.speed_m_s, scale::speed),
                     may("posAccuracy", m.accuracy, Struct{}), may("heading", m.heading_rad, scale::coarse_heading));
}

template <class Io>
bool describe(Io& io, As<Io, PathHistory>& m) {
  return io.sequence(m.additions, may("initialPosition", m.initial_position, Struct{}),
                     may("currGNSSstatus", m.gnss_status, FlagBits{8}),
                     must("crumbData", m.crumbs, ListOf<Struct>{1, 23, {}}));
}

template <class Io>
bool describe(Io& io, As<Io, PathPrediction>& m) {
  return io.sequence(m.additions, must("radiusOfCurve", m.radius_m, scale::radius),
                     must("confidence", m.confidence, scale::confidence));
}

template <class Io>
bool describe(Io& io, As<Io, VehicleSafetyExtensions>& m) {
  return io.sequence(m.additions, may("events", m.events, FlagBits{13, true}),
                     may("pathHistory", m.path_history, Struct{}), may("pathPrediction", m.path_prediction, Struct{}),
                     may("lights", m.lights, FlagBits{9, true}));
}

template <class Io>
bool describe(Io& io, As<Io, PrivilegedEvents>& m) {
  return io.sequence(m.additions, must("sspRights", m.rights, rights), must("event", m.events, FlagBits{16}));
}

template <class Io>
bool describe(Io& io, As<Io, EmergencyDetails>& m) {
  return io.sequence(m.additions, must("sspRights", m.rights, rights), must("sirenUse", m.siren, Enum{}),
                     must("lightsUse", m.lightbar, Enum{}), must("multi", m.multi, Enum{}),
                     may("events", m.events, Struct{}), may("responseType", m.response, Enum{}));
}

template <class Io>
bool describe(Io& io, As<Io, EventDescription>& m) {
  return io.sequence(m.additions, must("typeEvent", m.type_event, itis_code),
                     may("description", m.description, ListOf<Integer>{1, 8, itis_code}),
                     may("priority", m.priority, byte), may("heading", m.heading, FlagBits{16}),
                     may("extent", m.extent, Code{16, false}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, Pivot>& m) {
  return io.sequence(m.additions, must("pivotOffset", m.offset_m, scale::pivot_offset),
                     must("pivotAngle", m.angle_rad, scale::heading), must("pivots", m.pivots, Bool{}));
}

template <class Io>
bool describe(Io& io, As<Io, BumperHeights>& m) {
  return io.sequence(closed, must("front", m.front_m, scale::bumper), must("rear", m.rear_m, scale::bumper));
}

template <class Io>
bool describe(Io& io, As<Io, TrailerPoint>& m) {
  return io.sequence(m.additions, must("pivotAngle", m.pivot_angle_rad, scale::heading),
                     must("timeOffset", m.time_offset_s, scale::time_offset),
                     must("positionOffset", m.position, Struct{}),
                     may("elevationOffset", m.elevation_offset_m, scale::trailer_elevation),
                     may("heading", m.heading_rad, scale::coarse_heading));
}

template <class Io>
bool describe(Io& io, As<Io, TrailerUnit>& m) {
  return io.sequence(m.additions, must("isDolly", m.is_dolly, Bool{}), must("width", m.width_m, scale::width),
                     must("length", m.length_m, scale::length), may("height", m.height_m, scale::height),
                     may("mass", m.mass_code, byte), may("bumperHeights", m.bumpers, Struct{}),
                     may("centerOfGravity", m.centre_of_gravity_m, scale::height),
                     must("frontPivot", m.front_pivot, Struct{}), may("rearPivot", m.rear_pivot, Struct{}),
                     may("rearWheelOffset", m.rear_wheel_offset_m, scale::wheel_offset),
                     must("positionOffset", m.position, Struct{}),
                     may("elevationOffset", m.elevation_offset_m, scale::trailer_elevation),
                     may("crumbData", m.crumbs, ListOf<Struct>{1, 23, {}}));
}

template <class Io>
bool describe(Io& io, As<Io, TrailerData>& m) {
  return io.sequence(m.additions, must("sspRights", m.rights, rights), must("connection", m.connection, Struct{}),
                     must("units", m.units, ListOf<Struct>{1, 8, {}}));
}

template <class Io>
bool describe(Io& io, As<Io, SpecialVehicleExtensions>& m) {
  return io.sequence(m.additions, may("vehicleAlerts", m.alerts, Struct{}), may("description", m.description, Struct{}),
                     may("trailers", m.trailers, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, VehicleClassification>& m) {
  return io.sequence(m.additions, may("keyType", m.key_type, byte), may("role", m.role, vehicle_role),
                     may("iso3883", m.iso3883, Integer{0, 100}), may("hpmsType", m.hpms_type, vehicle_type),
                     may("vehicleType", m.vehicle_group, Code{35, true}),
                     may("responseEquip", m.response_equipment, Code{72, true}),
                     may("responderType", m.responder_group, Code{14, true}),
                     may("fuelType", m.fuel_type, Integer{0, 15}), may("regional", m.regional, regional_list));
}

template <class Io>
bool describe(Io& io, As<Io, VehicleData>& m) {
  return io.sequence(m.additions, may("height", m.height_m, scale::height), may("bumpers", m.bumpers, Struct{}),
                     may("mass", m.mass_code, byte), may("trailerWeight", m.trailer_weight_kg, scale::trailer_weight));
}

template <class Io>
bool describe(Io& io, As<Io, WeatherReport>& m) {
  return io.sequence(m.additions, must("isRaining", m.raining, Enum{}),
                     may("rainRate", m.rain_rate_kg_m2_s, scale::rain_rate),
                     may("precipSituation", m.situation, Code{15, false}),
                     may("solarRadiation", m.solar_radiation_j_m2, Integer{0, 65535}),
                     may("friction", m.friction_percent, scale::mobile_friction),
                     may("roadFriction", m.road_friction, scale::friction));
}

template <class Io>
bool describe(Io& io, As<Io, WiperSet>& m) {
  constexpr Code status{7, true};
  constexpr Integer rate{0, 127};
  return io.sequence(closed, must("statusFront", m.front_status, status), must("rateFront", m.front_rate, rate),
                     may("statusRear", m.rear_status, status), may("rateRear", m.rear_rate, rate));
}

template <class Io>
bool describe(Io& io, As<Io, WeatherProbe>& m) {
  return io.sequence(m.additions, may("airTemp", m.air_temperature_degc, scale::air_temperature),
                     may("airPressure", m.air_pressure_pa, scale::air_pressure), may("rainRates", m.wipers, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, Obstacle>& m) {
  return io.sequence(m.additions, must("obDist", m.distance_m, scale::obstacle_distance),
                     must("obDirect", m.direction_rad, scale::heading),
                     may("description", m.description, itis_vehicle_status),
                     may("locationDetails", m.location, itis_location), must("dateTime", m.date_time, Struct{}),
                     may("vertEvent", m.vertical_event, FlagBits{5}));
}

template <class Io>
bool describe(Io& io, As<Io, DisabledVehicle>& m) {
  return io.sequence(m.additions, must("statusDetails", m.status, itis_vehicle_status),
                     may("locationDetails", m.location, itis_location));
}

template <class Io>
bool describe(Io& io, As<Io, SpeedProfile>& m) {
  return io.sequence(m.additions, must("speedReports", m.reports, ListOf<Integer>{1, 20, {0, 31}}));
}

template <class Io>
bool describe(Io& io, As<Io, AntennaOffset>& m) {
  return io.sequence(closed, must("antOffsetX", m.x_m, scale::antenna_x), must("antOffsetY", m.y_m, scale::antenna_y),
                     must("antOffsetZ", m.z_m, scale::antenna_z));
}

template <class Io>
bool describe(Io& io, As<Io, RtcmHeader>& m) {
  return io.sequence(closed, must("status", m.status, FlagBits{8}), must("offsetSet", m.antenna, Struct{}));
}

template <class Io>
bool describe(Io& io, As<Io, RtcmPackage>& m) {
  return io.sequence(m.additions, may("rtcmHeader", m.header, Struct{}),
                     must("msgs", m.messages, ListOf<Octets>{1, 5, {1, 1023}}));
}

template <class Io>
bool describe(Io& io, As<Io, SupplementalVehicleExtensions>& m) {
  return io.sequence(m.additions, may("classification", m.classification, byte),
                     may("classDetails", m.class_details, Struct{}), may("vehicleData", m.vehicle, Struct{}),
                     may("weatherReport", m.weather_report, Struct{}), may("weatherProbe", m.weather_probe, Struct{}),
                     may("obstacle", m.obstacle, Struct{}), may("status", m.status, Struct{}),
                     may("speedProfile", m.speed_profile, Struct{}), may("theRTCM", m.rtcm, Struct{}),
                     may("regional", m.regional, regional_list));
}

}  // namespace isochron::v2x
