#pragma once
// One end of a wire in the simulated network: a datagram socket or a listener with its connections, on a robot's host.
//
// Threads: the coordinator's.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "programs/system/system.hpp"
#include "run/wire_format.hpp"

namespace isochron {

class WireEnd {
 public:
  /// What came, as whole messages; `wrong`: a stream that cannot be one, its connection is closed.
  struct Heard {
    std::function<void(std::span<const std::byte> message)> message;
    std::function<void(const std::string& what)> wrong;
  };
  virtual ~WireEnd() = default;
  virtual void receive(SimTime now, const WireFormat& format, const Heard& heard) = 0;
  /// False: nobody took it, or not all of those who are there.
  virtual bool send(std::span<const std::byte> message, SimTime now) = 0;
  /// "simulated UDP port 5005"
  [[nodiscard]] virtual std::string where() const = 0;
};

/// `to`: where datagrams go; nothing: to whoever wrote last. Fails: the port is taken.
Result<std::unique_ptr<WireEnd>, std::string> open_datagrams(programs::System& system, const std::string& robot,
                                                             std::uint16_t port, std::optional<programs::Endpoint> to);
Result<std::unique_ptr<WireEnd>, std::string> open_streams(programs::System& system, const std::string& robot,
                                                           std::uint16_t port);

}  // namespace isochron
