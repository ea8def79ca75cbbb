#pragma once
// What passes between a simulated vehicle and an autopilot, in whatever words: what it senses, and what it is to do.

#include <array>
#include <cstdint>
#include <optional>

#include "bridge/autopilot/frames.hpp"
#include "core/time.hpp"

namespace isochron::autopilot {

inline constexpr std::size_t channels_most = 32;
inline constexpr std::size_t ranges_most = 6;

/// NED and FRD, SI units unless said otherwise.
struct VehicleState {
  struct Fix {
    bool valid = false;
    bool fresh = false;  // taken since the last state
    double latitude = 0, longitude = 0, altitude = 0;
    double horizontal = 1, vertical = 1;  // accuracy, m
    Vec3 velocity{};
  };
  struct Air {
    bool fresh = false;
    double pressure = 101325;  // Pa
    double altitude = 0;       // by its pressure, m
    double temperature = 15;   // °C
  };
  struct Vane {
    double direction = 0;  // from the nose, clockwise, rad
    double speed = 0;
  };
  struct Flow {
    bool fresh = false;
    std::uint32_t over_us = 0;
    Vec3 gyro{};                    // integrated, rad
    std::array<double, 2> moved{};  // integrated, rad about the sensor's axes
    double distance = -1;           // to the ground; negative: not known
    std::uint8_t quality = 255;
  };

  SimTime at;
  Vec3 gyro{}, accel{};  // accel: specific force, (0, 0, −g) at rest
  Vec3 position{}, velocity{}, acceleration{};
  Quat attitude{1, 0, 0, 0};
  double latitude = 0, longitude = 0, altitude = 0;  // truly, degrees and m
  Fix fix;
  Air air;
  bool magnetic_fresh = false;
  Vec3 magnetic{};  // gauss
  std::optional<double> airspeed;
  std::optional<Vane> vane;
  std::array<std::optional<double>, ranges_most> ranges{};  // m
  std::optional<Flow> flow;
};

/// Each from 0 to 1, or −1 to 1 where a motor can turn backwards.
struct Controls {
  std::array<double, channels_most> channels{};
  std::size_t count = 0;
  bool armed = true;
};

/// The first channel that is no finite number; none: all are.
[[nodiscard]] inline std::optional<std::size_t> not_finite(const Controls& controls) {
  for (std::size_t i = 0; i < controls.count; ++i) {
    if (!std::isfinite(controls.channels[i])) return i;
  }
  return std::nullopt;
}

}  // namespace isochron::autopilot
