#pragma once
// Betaflight's SITL: the state goes out as 18 doubles, four motor speeds come back, and sticks go out beside them.
//
//      state  UDP 9003   f64 time, gyro[3], accel[3], quaternion[4], velocity[3], position[3], pressure      144 bytes
//      motors UDP 9002   f32 speed[4]; or, on 9001, u16 count, 2 bytes of padding, f32 pulse[16] in µs
//      sticks UDP 9004   f64 time, u16 channel[16] in µs                                                       40 bytes
//
// Velocity is east, north, up and position longitude, latitude, altitude, as its virtual GPS reads them.
//
// Threads: any. Fails: read_motors() says what is wrong with a packet.

#include <array>
#include <cstdint>
#include <string>

#include "bridge/autopilot/bytes.hpp"
#include "bridge/autopilot/vehicle.hpp"
#include "core/result.hpp"

namespace isochron::autopilot {

inline constexpr std::size_t fdm_size = 144;

/// Either kind of motor packet, known by its size.
[[nodiscard]] Result<Controls, std::string> read_motors(std::span<const std::byte> packet);
void write_motors(const std::array<double, 4>& speeds, Bytes& to);
void write_fdm(const VehicleState& state, Bytes& to);

struct Sticks {
  std::array<std::uint16_t, 16> channels{};  // µs
};
void write_sticks(SimTime at, const Sticks& sticks, Bytes& to);

}  // namespace isochron::autopilot
