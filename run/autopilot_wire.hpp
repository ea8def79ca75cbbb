#pragma once
// How a link's bytes travel to its autopilot and back: over a socket of this machine, or over one inside the simulated
// network, where the autopilot is a stack (docs/stacks.md).
//
// Promises: one autopilot is heard at a time. A second one on the port is told apart and not heard, until the first has
//           been silent for `replaced_after`: then it is the first one, started again.
// Threads:  owner.
// Fails:    open() says why; later what fails is as if nothing came.

#include <memory>
#include <optional>
#include <string>

#include "bridge/autopilot/dialect.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace isochron::programs {
class System;
}

namespace isochron {

class AutopilotWire {
 public:
  struct Event {
    enum class Kind : std::uint8_t { bytes, came, went, stranger };
    Kind kind = Kind::bytes;
    autopilot::Bytes bytes;  // bytes
    std::string who;         // came, stranger
  };
  virtual ~AutopilotWire() = default;
  /// What came next; nothing: nothing more yet. `now`: of the world.
  virtual std::optional<Event> receive(SimTime now) = 0;
  virtual void send(const autopilot::Packet& packet, SimTime now) = 0;
  /// Since the last time it was asked: whether something was sent to where nobody listens.
  virtual bool refused() { return false; }
  /// Until something came, or until then.
  virtual void wait(WallTime until) = 0;
  /// "UDP port 9002".
  [[nodiscard]] virtual const std::string& where() const = 0;
};

inline constexpr std::int64_t replaced_after_ns = 1'000'000'000;

/// Datagrams or a stream on loopback. Fails: the port is taken.
Result<std::unique_ptr<AutopilotWire>, std::string> open_socket_wire(bool streams, std::uint16_t port);
/// On the robot's simulated host.
Result<std::unique_ptr<AutopilotWire>, std::string> open_simulated_wire(programs::System& system,
                                                                        const std::string& robot, bool streams,
                                                                        std::uint16_t port);

}  // namespace isochron
