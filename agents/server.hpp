#pragma once
// The dynamics server: one world for the agents of many clients. It keeps no physics; it keeps everybody's newest
// state, tells each client what it should see, and holds the world together in time (world_map.hpp says by which
// rules).
//
//     TCP ── Gatekeeper ──┐
//     UDP ── Handler ─────┴──► WorldMap ──► Downlink ── UDP
//
// Runs on any Reactor, real or simulated. With `handlers` > 0 (the real reactor only) datagrams are checked and read by
// threads of their own; the reactor's thread stays the one that writes the world.
//
// Requires: destroyed before its reactor, on the reactor's thread or while it does not run.
// Threads:  the reactor's; report() too.
// Fails:    the constructor throws InputError when the address cannot be used. Whatever clients do, it goes on.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/downlink.hpp"
#include "agents/gatekeeper.hpp"
#include "agents/handler.hpp"
#include "agents/world_map.hpp"

namespace isochron::agents {

struct ServerSettings {
  WorldSettings world;
  DownlinkSettings downlink;
  HandlerLimits limits;
  GatekeeperSettings door;
  unsigned handlers = 0;  // threads; 0 = the reactor's own
};

/// How things are, for people and tests.
struct ServerReport {
  SimTime minimum;
  std::size_t clients = 0, in_world = 0, agents = 0;
  std::uint64_t strangers = 0;
  std::uint64_t sent = 0;
  Counts counts;
  MapCounts map;
};

class HandlerPool;

class Server {
 public:
  /// Listens on `at` for TCP, and takes datagrams on the same port; port 0 = any free one.
  Server(Reactor& reactor, const link::Key& key, const Address& at, const ServerSettings& settings);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] Address address() const { return listener_->local(); }
  [[nodiscard]] const WorldMap& world() const { return map_; }
  [[nodiscard]] ServerReport report() const;
  /// Time begins when so many clients are there, or after `limit`. Before anybody joined.
  void expect(std::uint32_t clients, WallSpan limit) {
    map_.expect(clients, settings_.world.start, reactor_.now(), limit);
  }

 private:
  /// What the door does once somebody has proved to hold the key.
  Admitted admit(const wire::ConnectRequest& request, const link::SessionKeys& keys, const Address& peer);
  void receive(std::span<const Datagram> datagrams);
  void apply(Connection connection, bool newest, const Address& from, wire::RawUp& up, WallTime now);
  void speak(WallTime now);
  void forget_ended();
  void beat();

  Reactor& reactor_;
  ServerSettings settings_;
  WorldMap map_;
  Downlink downlink_;
  Handler handler_;
  std::unique_ptr<HandlerPool> pool_;
  Gatekeeper door_;
  std::uint64_t epoch_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<DatagramPort> port_;
  Reactor::TimerId timer_ = 0;
  WallTime scanned_;
  wire::RawUp up_;
};

}  // namespace isochron::agents
