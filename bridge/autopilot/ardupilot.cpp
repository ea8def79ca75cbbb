#include "bridge/autopilot/ardupilot.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace isochron::autopilot {
namespace {

constexpr std::uint16_t magic_16 = 18458;
constexpr std::uint16_t magic_32 = 29569;
constexpr std::size_t header = 8;

void add(std::string& to, double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 12).ptr;
  to.append(text, end);
}

template <std::size_t n>
void add(std::string& to, const char* name, const std::array<double, n>& values) {
  to += name;
  to += '[';
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) to += ',';
    add(to, values[i]);
  }
  to += ']';
}

}  // namespace

Result<ServoPacket, std::string> read_servos(std::span<const std::byte> packet) {
  const auto magic = get<std::uint16_t>(packet, 0);
  if (packet.size() < header) return fail("it has " + std::to_string(packet.size()) + " bytes and needs 8 at least");
  if (magic != magic_16 && magic != magic_32) {
    return fail("its magic is " + std::to_string(magic) + ", not 18458 (16 channels) or 29569 (32)");
  }
  ServoPacket found;
  found.channels = magic == magic_16 ? 16 : 32;
  const std::size_t size = header + 2 * found.channels;
  if (packet.size() != size) {
    return fail("it has " + std::to_string(packet.size()) + " bytes; with " + std::to_string(found.channels) +
                " channels it has " + std::to_string(size));
  }
  found.frame_rate = get<std::uint16_t>(packet, 2);
  found.frame = get<std::uint32_t>(packet, 4);
  for (std::size_t i = 0; i < found.channels; ++i) {
    found.pulses[i] = get<std::uint16_t>(packet, header + 2 * i);
  }
  return found;
}

void write_servos(const ServoPacket& packet, Bytes& to) {
  put(to, packet.channels > 16 ? magic_32 : magic_16);
  put(to, packet.frame_rate);
  put(to, packet.frame);
  for (std::size_t i = 0; i < (packet.channels > 16 ? 32u : 16u); ++i) put(to, packet.pulses[i]);
}

Controls controls_of(const ServoPacket& packet) {
  Controls controls;
  controls.count = packet.channels;
  for (std::size_t i = 0; i < packet.channels; ++i) {
    controls.channels[i] = std::clamp((packet.pulses[i] - 1000) / 1000.0, 0.0, 1.0);
  }
  return controls;
}

// The key order is that of ArduPilot's own examples: its parser looks for `imu` and then for the keys after it.
void write_line(const VehicleState& state, const JsonOptions& options, std::string& to) {
  to += "\n{\"timestamp\":";
  add(to, state.at.since_zero().seconds());
  add(to, ",\"imu\":{\"gyro\":", state.gyro);
  add(to, ",\"accel_body\":", state.accel);
  add(to, "},\"position\":", state.position);
  add(to, ",\"attitude\":", euler_of(state.attitude));
  add(to, ",\"quaternion\":", state.attitude);
  add(to, ",\"velocity\":", state.velocity);
  for (std::size_t i = 0; i < state.ranges.size(); ++i) {
    if (!state.ranges[i] || !std::isfinite(*state.ranges[i])) continue;
    to += ",\"rng_" + std::to_string(i + 1) + "\":";
    add(to, *state.ranges[i]);
  }
  if (state.vane) {
    to += ",\"windvane\":{\"direction\":";
    add(to, state.vane->direction);
    to += ",\"speed\":";
    add(to, state.vane->speed);
    to += '}';
  }
  if (state.airspeed) {
    to += ",\"airspeed\":";
    add(to, *state.airspeed);
  }
  if (options.no_time_sync) to += ",\"no_time_sync\":true";
  to += "}\n";
}

FrameCount::Kind FrameCount::take(std::uint32_t frame) {
  const std::uint32_t before = std::exchange(last_, frame);
  if (!std::exchange(known_, true)) return Kind::first;
  const std::uint32_t by = frame - before;  // it wraps
  if (by == 0) return Kind::repeated;
  if (by == 1) return Kind::next;
  return by < (1u << 31) ? Kind::skipped : Kind::restarted;
}

}  // namespace isochron::autopilot
