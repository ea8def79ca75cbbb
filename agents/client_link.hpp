#pragma once
// A client's end of the wire: joins over TCP, then moves datagrams between a server and a state cache. While the
// simulation waits it says its latest state again and again, because what it waits for may wait for that; while the
// simulation is busy it says that the client is alive. When the server is silent it joins again, and says how far the
// world had come, so that those who find back wait for each other.
//
// Threads: the reactor's; the cache is locked while it is used, so that a simulation may live on another thread.
// Fails:   a server that cannot be reached is tried again for good; one that declines for good (a wrong key) ends it:
//          SharedCache::failure says why.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents/state_cache.hpp"
#include "core/network.hpp"
#include "link/auth.hpp"
#include "link/frame.hpp"

namespace isochron::agents {

/// A cache between a simulation and its link.
struct SharedCache {
  explicit SharedCache(SimSpan heartbeat) : cache(heartbeat) {}
  std::mutex mutex;
  std::condition_variable changed;
  StateCache cache;          // under mutex
  bool joined = false;       // under mutex
  std::string failure = {};  // under mutex; "" = none
  std::string trouble = {};  // under mutex: why it is not joined now
};

struct ClientSettings {
  Address server{};
  std::string name;
  wire::Updates updates = wire::AUTOMATIC;
  WallSpan resend = std::chrono::milliseconds(4);  // while waiting; up to five times that
  WallSpan keep_alive = std::chrono::milliseconds(100);
  WallSpan lost_after = std::chrono::seconds(1);
  WallSpan retry = std::chrono::milliseconds(200);
  link::NonceSource nonces = link::system_nonce;
};

struct LinkCounts {
  std::uint64_t sent = 0, received = 0, dropped = 0, resent = 0, joins = 0, declined = 0;
};

class ClientLink {
 public:
  ClientLink(Reactor& reactor, const link::Key& key, SharedCache& shared, const ClientSettings& settings);
  ~ClientLink();
  ClientLink(const ClientLink&) = delete;
  ClientLink& operator=(const ClientLink&) = delete;

  /// Sends what is new.
  void flush();
  /// The simulation stands still for others, or does not any more.
  void set_waiting(bool waiting);
  /// Says good-bye a few times; nothing is sent afterwards.
  void leave();
  [[nodiscard]] const LinkCounts& counts() const { return counts_; }
  void start() { connect(); }
  /// Called whenever something came, while this is set; nothing is locked.
  void on_news(std::function<void()> call) { on_news_ = std::move(call); }

 private:
  struct Session {
    Connection connection;
    link::Sealer sealer;
    link::Opener opener;
    Address server;
  };
  void connect();
  void await_answer();
  void hear_stream(std::span<const std::byte> bytes);
  bool hear(const wire::Handshake& what);
  void hear_decline(const wire::Decline& decline);
  bool hear_accept(const wire::Accept& accept);
  bool hear_welcome(const wire::Handshake& what);
  bool answer(const wire::Challenge& challenge);
  void enter(const wire::WorldInfo& world);
  void stream_closed(const std::string& why);
  void retry_later(const std::string& why);
  void receive(std::span<const Datagram> datagrams);
  bool take(std::span<const std::byte> bytes);
  void beat();
  void send(const StateCache::Packing& how);
  void send_one(const wire::Up& up);
  void ship();
  void tell();

  Reactor& reactor_;
  link::Key key_;
  SharedCache& shared_;
  ClientSettings settings_;
  std::function<void()> on_news_;
  std::unique_ptr<Stream> stream_;
  link::FrameReader reader_{64 << 20};
  std::optional<link::Responder> responder_;
  std::optional<link::SessionKeys> keys_;
  std::optional<link::Opener> welcome_;  // opens what comes after Accept
  Connection number_ = 0;
  std::unique_ptr<DatagramPort> port_;
  std::optional<Session> session_;
  std::size_t datagram_bytes_ = largest_datagram;
  WallSpan refresh_ = std::chrono::milliseconds(500);
  WallTime heard_ = WallTime::zero(), sent_ = WallTime::zero();
  Reactor::TimerId beat_timer_ = 0, retry_timer_ = 0;
  bool waiting_ = false, left_ = false;
  int resends_ = 0;
  wire::Up up_;
  wire::Down down_;
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> sizes_;
  std::vector<Datagram> batch_;
  LinkCounts counts_;
};

}  // namespace isochron::agents
