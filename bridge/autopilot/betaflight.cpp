#include "bridge/autopilot/betaflight.hpp"

#include <algorithm>

namespace isochron::autopilot {
namespace {
constexpr std::size_t motors = 4, raw_motors = 16;
constexpr std::size_t motors_size = motors * sizeof(float), raw_size = 4 + raw_motors * sizeof(float);
}  // namespace

Result<Controls, std::string> read_motors(std::span<const std::byte> packet) {
  Controls controls;
  if (packet.size() == motors_size) {
    controls.count = motors;
    for (std::size_t i = 0; i < motors; ++i) {
      controls.channels[i] = static_cast<double>(get<float>(packet, i * sizeof(float)));
    }
    return controls;
  }
  if (packet.size() != raw_size) {
    return fail("it has " + std::to_string(packet.size()) + " bytes; motors have 16, raw motors 68");
  }
  const auto count = get<std::uint16_t>(packet, 0);
  if (count > raw_motors) return fail("it has " + std::to_string(count) + " motors, 16 at most");
  controls.count = count;
  for (std::size_t i = 0; i < count; ++i) {
    controls.channels[i] = (static_cast<double>(get<float>(packet, 4 + i * sizeof(float))) - 1000) / 1000;
  }
  return controls;
}

void write_motors(const std::array<double, 4>& speeds, Bytes& to) {
  for (const double speed : speeds) put(to, static_cast<float>(speed));
}

void write_fdm(const VehicleState& state, Bytes& to) {
  put(to, state.at.since_zero().seconds());
  for (const double v : state.gyro) put(to, v);
  for (const double v : state.accel) put(to, v);
  for (const double v : state.attitude) put(to, v);
  for (const double v : ned_of_enu(state.velocity)) put(to, v);
  put(to, state.longitude);
  put(to, state.latitude);
  put(to, state.altitude);
  put(to, state.air.pressure);
}

void write_sticks(SimTime at, const Sticks& sticks, Bytes& to) {
  put(to, at.since_zero().seconds());
  for (const std::uint16_t channel : sticks.channels) put(to, channel);
}

}  // namespace isochron::autopilot
