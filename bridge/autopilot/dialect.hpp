#pragma once
// One autopilot's way of talking with a simulator: what it is told in a frame, and what its bytes mean. A frame is one
// exchange: the state goes out, controls come back. It does no I/O and reads no clock; who carries the bytes and who
// waits for whom is the link's (run/autopilot_link.hpp).
//
//              ArduPilot           PX4                        Betaflight
//   carrier    datagrams           a stream                   datagrams
//   begins     the autopilot       the simulator              the simulator
//   answers    every state         every state, once it flies every state
//
// Threads: owner. Fails: what cannot be read is a sentence in Heard::wrong.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bridge/autopilot/betaflight.hpp"
#include "bridge/autopilot/mavlink.hpp"
#include "bridge/autopilot/vehicle.hpp"

namespace isochron::autopilot {

/// `beyond`: on which port after the link's own its receiver listens; 0: to whoever spoke.
struct Packet {
  std::uint16_t beyond = 0;
  Bytes bytes;
};

struct Heard {
  std::optional<Controls> controls;  // the newest
  std::optional<SimTime> of;         // the state that they are for, where it says so
  std::uint32_t answers = 0;         // how many there were
  bool asks_again = false;           // for the state that it was told last
  bool restarted = false;
  std::uint32_t skipped = 0;          // frames that it did not send
  std::optional<std::uint32_t> rate;  // frames per second that it wishes
  std::vector<Packet> replies;
  std::vector<std::string> wrong;
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  [[nodiscard]] virtual const char* name() const = 0;
  [[nodiscard]] virtual bool streams() const { return false; }
  /// It is told nothing before it has spoken.
  [[nodiscard]] virtual bool speaks_first() const { return false; }
  /// Whether a state is answered by controls; PX4 does it from when it has outputs on.
  [[nodiscard]] virtual bool answers_all() const { return true; }
  virtual void tell(const VehicleState& state, std::vector<Packet>& to) = 0;
  [[nodiscard]] virtual Heard hear(std::span<const std::byte> bytes) = 0;
  /// Another connection, or another autopilot.
  virtual void begin_again() = 0;
};

struct ArdupilotSetup {
  bool no_time_sync = false;
};
struct Px4Setup {
  bool truth = true;
  std::optional<mavlink::SigningKey> key;
};
struct BetaflightSetup {
  std::optional<Sticks> sticks;
};
[[nodiscard]] std::unique_ptr<Dialect> make_dialect(const ArdupilotSetup& setup);
[[nodiscard]] std::unique_ptr<Dialect> make_dialect(const Px4Setup& setup);
[[nodiscard]] std::unique_ptr<Dialect> make_dialect(const BetaflightSetup& setup);

}  // namespace isochron::autopilot
