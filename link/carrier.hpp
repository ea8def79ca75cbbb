#pragma once
// What carries packets between the members of a federation: TCP, DDS or ROS. A carrier may lose, double or delay
// packets, and members may come, go and come back in any order; Session makes ordered, lossless streams of that. A
// carrier that says of itself that it is lossless loses nothing on one way to a member; it says when there is another.
//
// Threads: owner thread; stop() from any thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "core/network.hpp"

namespace isochron::link {

class Carrier {
 public:
  struct Events {
    /// A packet came; the bytes are valid during the call. Says which living member sent it just now; nothing for
    /// anything else, a recorded packet too: the carrier then learns nothing of where that member is.
    std::function<std::optional<std::uint32_t>(std::span<const std::byte>)> packet;
    /// After all packets that came together, and at least every 10 ms.
    std::function<void()> round;
    /// The middleware says that this member is not to be seen any more; it may come back.
    std::function<void(std::uint32_t member)> out_of_sight;
    /// A lossless carrier has another way to this member from now on: what was sent before may not have come.
    std::function<void(std::uint32_t member)> rerouted;
  };
  virtual ~Carrier() = default;
  virtual void start(Events events) = 0;
  /// To one member. Never blocks for long; what cannot be sent now may be lost.
  virtual void send(std::uint32_t to, std::span<const std::byte> packet) = 0;
  /// During Events::packet: back to whoever brought that packet, who may not have proved yet that it is `to`.
  virtual void answer(std::uint32_t to, std::span<const std::byte> packet) { send(to, packet); }
  [[nodiscard]] virtual bool lossless() const { return false; }
  /// Of a lossless one: whether all that was given to send() is on its way, and there is one.
  [[nodiscard]] virtual bool flushed(std::uint32_t /*to*/) const { return true; }
  /// That member was lost; from now on it is to be found there, if members have addresses at all.
  virtual void moved(std::uint32_t /*member*/, const Address& /*to*/) {}
  /// Calls the events until stop().
  virtual void run() = 0;
  virtual void stop() = 0;
};

}  // namespace isochron::link
