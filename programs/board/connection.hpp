#pragma once
// One TCP connection of a target, from its greeting to its end: handshake, seal, frames, limits. What it lets through
// is a whole, authentic, well-formed request; everything else ends the connection with a sentence, and only this one.
//
// Promises: on_request is called for one request at a time; the next one only after answer().
// Requires: not destroyed inside its own callbacks. Best some time after on_closed, so that a peer that still sends can
//           read why it was refused.
// Threads:  the reactor's.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/network.hpp"
#include "link/auth.hpp"
#include "link/frame.hpp"
#include "programs/board/clock_rate.hpp"
#include "programs/board/latency.hpp"
#include "programs/desk.hpp"
#include "protocol/target_wire.hpp"

namespace isochron::programs {

/// What one connection may cost.
struct Limits {
  WallSpan handshake = std::chrono::seconds(5);  // until it has said who it is; also for half a frame, or an answer
  std::uint32_t requests_per_s = 50'000;
  std::uint32_t connections = 512;  // at once
  std::uint32_t pings = 8;          // before a link is let go
};

class Connection {
 public:
  struct Events {
    /// May it join? "" = yes; the welcome says as what. Otherwise why not.
    std::function<std::string(const std::string& name, wire::Welcome& welcome)> on_hello;
    /// The link was measured and asks to begin; it waits for answer().
    std::function<void()> on_attach;
    /// The views of the request hold until answer().
    std::function<void(WallTime arrived)> on_request;
    /// It says good-bye: nothing more comes.
    std::function<void()> on_leave;
    /// It is gone; the last call.
    std::function<void(const std::string& why)> on_closed;
  };
  struct Setup {
    const link::Key* key = nullptr;  // null: none is needed
    double clock_tolerance = 1e-3;
    Limits limits;
    link::NonceSource nonces = link::system_nonce;
  };
  Connection(Reactor& reactor, std::unique_ptr<Stream> stream, const Setup& setup, Events events);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The request that waits for an answer.
  [[nodiscard]] const wire::Request& request() const { return request_; }
  void answer(SimTime at, const Reply& reply);
  /// What it will find when it asks next, also if nobody is there any more then: it is told before it asks.
  void answer_in_advance(SimTime at, const Reply& reply) { send_answer(at, reply); }
  /// Measures the link and the target's clock again; who asks answers at once.
  void measure();
  /// Tells it why and closes; on_closed follows.
  void refuse(const std::string& why);
  /// Closes without a word, as a cable that is pulled; on_closed follows.
  void cut(const std::string& why) { gone(why); }
  /// Now and then: ends what has taken too long.
  void check_patience(WallTime now);

  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] Address peer() const { return peer_; }
  [[nodiscard]] const LatencyMeter& pings() const { return ping_; }
  [[nodiscard]] const ClockOffset& offset() const { return offset_; }
  [[nodiscard]] const ClockRate& rate() const { return rate_; }
  /// Bytes that it has not taken yet.
  [[nodiscard]] std::size_t pending() const { return closed_ ? 0 : stream_->pending(); }

 private:
  enum class Phase { greeting, pinging, attaching, idle, asking };
  void receive(std::span<const std::byte> bytes);
  bool take_frame(std::span<const std::byte> frame);
  bool take_hello(std::span<const std::byte> frame);
  bool take_pong(std::span<const std::byte> frame);
  bool take_request(std::span<const std::byte> frame);
  bool begin_request(WallTime arrived);
  bool within_rate();
  void ping();
  void attached();
  [[nodiscard]] bool may_be_late(WallTime arrived) const;
  void send_answer(SimTime at, const Reply& reply);
  void send(std::size_t head, std::span<const std::byte> payload = {});
  bool drop(const std::string& why);
  void gone(const std::string& why);

  Reactor& reactor_;
  std::unique_ptr<Stream> stream_;
  Address peer_;
  Setup setup_;
  Events events_;
  link::FrameReader reader_{protocol::payload_max + wire::overhead_max};
  std::optional<link::Challenger> challenger_;
  std::optional<link::Sealer> sealer_;
  std::optional<link::Opener> opener_;
  Phase phase_ = Phase::greeting;
  bool closed_ = false;
  WallTime opened_, stuck_since_ = WallTime::never(), unread_since_ = WallTime::never();
  std::vector<std::byte> out_;    // the frame being written: length, seal, message
  std::vector<std::byte> frame_;  // what the request's views look into
  wire::Request request_;
  LatencyMeter ping_;
  ClockOffset offset_;
  ClockRate rate_;
  std::uint32_t pings_sent_ = 0;
  bool ping_out_ = false;  // one that was not answered yet
  WallTime pinged_, answered_;
  double tokens_;
  WallTime tokens_at_;
};

}  // namespace isochron::programs
