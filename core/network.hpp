#pragma once
// The network, its timers and its thread as one argument. A part that talks to others is written as reactions: bytes
// came, a timer fired, a peer went. A Reactor calls them one after the other on one thread. link/ has the real one
// (epoll, sockets); testing/ one with a seeded clock, delay, loss, duplication, reordering and partition. The same part
// runs on both, unchanged.
//
// Requires: streams, listeners and ports are destroyed before their Reactor.
// Threads: everything of one Reactor, callbacks included, on the thread that runs it; only post() and stop() from any.
// Cost:    callbacks must not block: they hold up everybody on this reactor.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/time.hpp"

namespace isochron {

/// An IPv4 or IPv6 address and a port: a plain value, because every datagram carries one and must not allocate. IPv4 is
/// kept as IPv6 writes it (::ffff:a.b.c.d), so that equal peers are equal. Names are looked up by link/resolve.hpp.
struct Address {
  std::array<std::uint8_t, 16> ip{};
  std::uint16_t port = 0;

  [[nodiscard]] static constexpr Address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d,
                                            std::uint16_t port) {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, port};
  }
  [[nodiscard]] static constexpr Address loopback(std::uint16_t port) { return v4(127, 0, 0, 1, port); }
  [[nodiscard]] static constexpr Address loopback_v6(std::uint16_t port) {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, port};
  }
  [[nodiscard]] constexpr Address with_port(std::uint16_t other) const { return {ip, other}; }
  [[nodiscard]] bool is_v4() const;
  [[nodiscard]] bool is_loopback() const;
  [[nodiscard]] bool is_any() const;  // 0.0.0.0 or ::, "every address of this machine" when listening
  friend constexpr auto operator<=>(const Address&, const Address&) = default;
};
struct AddressHash {
  [[nodiscard]] std::size_t operator()(const Address& address) const noexcept;
};
/// "127.0.0.1:7410", "[::1]:7410".
std::string to_string(const Address& address);
/// Numbers only; `localhost` is 127.0.0.1. Fails: a sentence that says what would be right.
Result<Address, std::string> parse_address(std::string_view text);

enum class NetFault { refused, unreachable, in_use, denied, closed, bad_address, too_long, other };
struct NetError {
  NetFault fault = NetFault::other;
  std::string what;  // names the address
};

/// An ordered stream of bytes to one peer, as TCP gives it. Destroying it closes it, also inside its own callback: what
/// the network took is still delivered, what is pending() is lost. Nothing is read before set_events().
class Stream {
 public:
  struct Events {
    std::function<void(std::span<const std::byte>)> on_bytes;  // any number of bytes: half a frame, ten frames
    std::function<void()> on_writable;                         // pending() fell to zero again
    std::function<void(const NetError&)> on_closed;            // the last call; also for a failed connect
  };
  virtual ~Stream() = default;
  virtual void set_events(Events events) = 0;
  /// Queues all of it and sends what the network takes now.
  virtual void send(std::span<const std::byte> bytes) = 0;
  /// Bytes queued and not yet taken by the network: back-pressure.
  [[nodiscard]] virtual std::size_t pending() const = 0;
  [[nodiscard]] virtual Address peer() const = 0;
  /// No more on_bytes until resumed; the peer feels it.
  virtual void pause_reading(bool pause) = 0;

  /// From now on the network notes when bytes arrive, where it can.
  virtual void stamp_arrivals() {}
  /// Inside on_bytes: when the last of them arrived, which may be a while ago if this thread was busy; nothing where
  /// it is not noted.
  [[nodiscard]] virtual std::optional<WallTime> arrived() const { return std::nullopt; }
};

struct Datagram {
  Address address;  // where to, or where from
  std::span<const std::byte> bytes;
};

/// Datagrams, as UDP gives them: lost, doubled, out of order.
class DatagramPort {
 public:
  virtual ~DatagramPort() = default;
  /// Called with all that came since the last time; the bytes are valid during the call.
  virtual void set_receiver(std::function<void(std::span<const Datagram>)> receiver) = 0;
  /// Sends them in few system calls; what the network does not take now is dropped and counted.
  virtual void send(std::span<const Datagram> datagrams) = 0;
  [[nodiscard]] virtual std::uint64_t dropped() const = 0;
  [[nodiscard]] virtual Address local() const = 0;
};

class Listener {
 public:
  virtual ~Listener() = default;
  [[nodiscard]] virtual Address local() const = 0;
};

class Reactor {
 public:
  using TimerId = std::uint64_t;
  virtual ~Reactor() = default;

  [[nodiscard]] virtual WallTime now() = 0;
  /// Calls `what` once, not before t; those due at one time in any order. Cancelling a timer that fired is harmless.
  virtual TimerId call_at(WallTime t, std::function<void()> what) = 0;
  virtual void cancel(TimerId timer) = 0;
  /// Calls `what` soon, on the reactor's thread, in the order of posting. Any thread may post.
  virtual void post(std::function<void()> what) = 0;

  virtual Result<std::unique_ptr<Listener>, NetError> listen(
      const Address& at, std::function<void(std::unique_ptr<Stream>)> on_accept) = 0;
  /// A failure to connect shows up as on_closed.
  virtual std::unique_ptr<Stream> connect(const Address& to) = 0;
  virtual Result<std::unique_ptr<DatagramPort>, NetError> open_datagrams(const Address& at) = 0;

  /// Runs callbacks until stop(); a stop() before it counts too.
  virtual void run() = 0;
  /// One round of it, for those who have a loop of their own: runs what is due and what came, and where there is
  /// nothing waits for it until then. False: nothing came.
  virtual bool poll(WallTime until) = 0;
  virtual void stop() = 0;
};

}  // namespace isochron
