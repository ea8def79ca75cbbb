#pragma once
// ArduPilot's JSON interface (SITL, --model JSON): a packet of servo pulses comes in, one line of JSON goes out, and
// the autopilot's clock goes by the line's timestamp.
//
//      in    u16 magic, u16 frames per second, u32 frame, u16 pulse[16 or 32] in µs      magic 18458 or 29569
//      out   \n{"timestamp":…,"imu":{"gyro":[…],"accel_body":[…]},"position":[…],…}\n
//
// Threads: any. Fails: read_servos() says what is wrong with a packet.

#include <cstdint>
#include <string>

#include "bridge/autopilot/bytes.hpp"
#include "bridge/autopilot/vehicle.hpp"
#include "core/result.hpp"

namespace isochron::autopilot {

struct ServoPacket {
  std::uint16_t frame_rate = 0;
  std::uint32_t frame = 0;
  std::size_t channels = 16;
  std::array<std::uint16_t, channels_most> pulses{};
};

[[nodiscard]] Result<ServoPacket, std::string> read_servos(std::span<const std::byte> packet);
void write_servos(const ServoPacket& packet, Bytes& to);

/// 1000 to 2000 µs are 0 to 1; no pulse is 0. Beyond the ends it is clamped.
[[nodiscard]] Controls controls_of(const ServoPacket& packet);

struct JsonOptions {
  bool no_time_sync = false;  // the autopilot keeps its own clock
};
/// One line, with a newline before and after it.
void write_line(const VehicleState& state, const JsonOptions& options, std::string& to);

/// What a packet's frame number means after those before it.
class FrameCount {
 public:
  enum class Kind : std::uint8_t { first, next, repeated, restarted, skipped };
  Kind take(std::uint32_t frame);
  void forget() { known_ = false; }

 private:
  bool known_ = false;
  std::uint32_t last_ = 0;
};

}  // namespace isochron::autopilot
