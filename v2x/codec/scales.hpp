#pragma once
// How J2735 turns quantities into whole numbers.

#include "v2x/codec/fields.hpp"

namespace isochron::v2x::scale {

inline constexpr double pi = 3.14159265358979323846;
inline constexpr double gravity_m_s2 = 9.80665;
constexpr double per_rad(double degrees) { return 180 / (degrees * pi); }

inline constexpr Scale latitude{-900000000, 900000001, 1e7, "deg", 900000001};
inline constexpr Scale longitude{-1799999999, 1800000001, 1e7, "deg", 1800000001};
inline constexpr Scale elevation{-4096, 61439, 10, "m", -4096};
inline constexpr Scale semi_axis{0, 255, 20, "m", 255};
inline constexpr Scale orientation{0, 65535, per_rad(360.0 / 65535), "rad", 65535};
inline constexpr Scale second{0, 65535, 1000, "s", 65535};
inline constexpr Scale speed{0, 8191, 50, "m_s", 8191};
inline constexpr Scale heading{0, 28800, per_rad(0.0125), "rad", 28800};
inline constexpr Scale coarse_heading{0, 240, per_rad(1.5), "rad", 240};
inline constexpr Scale steering{-126, 127, per_rad(1.5), "rad", 127};
inline constexpr Scale acceleration{-2000, 2001, 100, "m_s2", 2001};
inline constexpr Scale vertical{-127, 127, 1 / (0.02 * gravity_m_s2), "m_s2", -127};
inline constexpr Scale yaw_rate{-32767, 32767, per_rad(0.01), "rad_s"};
inline constexpr Scale width{0, 1023, 100, "m", 0};
inline constexpr Scale length{0, 4095, 100, "m", 0};

inline constexpr Scale offset_ll{-131072, 131071, 1e7, "deg", -131072};
inline constexpr Scale offset_b12{-2048, 2047, 10, "m", -2048};
inline constexpr Scale time_offset{1, 65535, 100, "s", 65535};
inline constexpr Scale radius{-32767, 32767, 10, "m", 32767};
inline constexpr Scale confidence{0, 200, 200, "ratio"};

inline constexpr Scale pivot_offset{-1024, 1023, 100, "m"};
inline constexpr Scale height{0, 127, 20, "m"};
inline constexpr Scale bumper{0, 127, 100, "m"};
inline constexpr Scale wheel_offset{-2048, 2047, 100, "m"};
inline constexpr Scale trailer_elevation{-64, 63, 10, "m"};
inline constexpr Scale trailer_weight{0, 64255, 0.5, "kg"};
inline constexpr Scale rain_rate{0, 65535, 10000, "kg_m2_s", 65535};
inline constexpr Scale mobile_friction{0, 101, 1, "percent", 101};
inline constexpr Scale friction{0, 50, 50, "ratio", 50};
inline constexpr Scale air_temperature{0, 191, 1, "degC", 191, -40};
inline constexpr Scale air_pressure{0, 255, 0.005, "Pa", 0, 57800};
inline constexpr Scale obstacle_distance{0, 32767, 1, "m"};
inline constexpr Scale antenna_x{-2048, 2047, 100, "m"};
inline constexpr Scale antenna_y{-256, 255, 100, "m"};
inline constexpr Scale antenna_z{-512, 511, 100, "m"};

inline constexpr Scale lane_width{0, 32767, 100, "m"};
inline constexpr Scale width_change{-512, 511, 100, "m"};
inline constexpr Scale elevation_change{-512, 511, 10, "m"};
inline constexpr Scale end_angle{-150, 150, per_rad(1), "rad"};
inline constexpr Scale crown_angle{-128, 127, per_rad(0.3), "rad"};
inline constexpr Scale lane_angle{-180, 180, per_rad(1.5), "rad"};
inline constexpr Scale computed_small{-2047, 2047, 100, "m"};
inline constexpr Scale computed_large{-32767, 32767, 100, "m"};
inline constexpr Scale stretch{-2048, 2047, 2000, "ratio"};
/// A node's offset in cm of the given number of bits.
constexpr Scale node(unsigned bits) {
  return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1, 100, "m"};
}

/// The same in 1e-7 degrees.
constexpr Scale node_ll(unsigned bits) {
  return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1, 1e7, "deg"};
}

inline constexpr Scale cluster_radius{0, 100, 1, "m"};
inline constexpr Scale attachment_radius{0, 200, 10, "m"};
inline constexpr Scale schedule{-122, 121, 0.1, "s", -122};

inline constexpr Scale time_mark{0, 36111, 10, "s", 36111};
inline constexpr Scale advice{0, 500, 10, "m_s", 500};
inline constexpr Scale zone_length{0, 10000, 1, "m"};

}  // namespace isochron::v2x::scale
