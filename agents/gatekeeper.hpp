#pragma once
// The door: who comes over TCP proves that it holds the key, and is given a connection number, the keys of its session
// and a picture of the world; then TCP is over. A visitor who dawdles, sends too much or is one too many is shown out.
//
//     server                                client
//       | -- Challenge ----------------------> |
//       | <- ConnectRequest, proof ----------- |
//       | -- Decline, close                    |    or
//       | -- Accept, proof ------------------> |
//       | -- ConnectionNumber ---------------> |
//       | -- WorldInfo, snapshot ------------> |    closes; from now on datagrams
//
// Threads: the reactor's. Cost: one handshake ~10 µs.

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "agents/ids.hpp"
#include "agents/wire.pb.h"
#include "core/network.hpp"
#include "link/auth.hpp"
#include "link/frame.hpp"

namespace isochron::agents {

/// What both sides must agree on to understand each other.
inline constexpr const char* handshake_context = "isochron agents 1";

struct GatekeeperSettings {
  std::size_t visitors = 64;  // at a time
  WallSpan patience = std::chrono::seconds(5);
  link::NonceSource nonces = link::system_nonce;
};

/// What the world answers to one that proved who it is.
struct Admitted {
  std::string declined;  // "" = welcome
  bool final = false;
  Connection connection = 0;
  wire::WorldInfo world;
};

class Gatekeeper {
 public:
  using Admit = std::function<Admitted(const wire::ConnectRequest&, const link::SessionKeys&, const Address& peer)>;
  Gatekeeper(Reactor& reactor, const link::Key& key, const GatekeeperSettings& settings, Admit admit);
  ~Gatekeeper();
  Gatekeeper(const Gatekeeper&) = delete;
  Gatekeeper& operator=(const Gatekeeper&) = delete;

  void receive(std::unique_ptr<Stream> stream);
  [[nodiscard]] std::uint64_t strangers() const { return strangers_; }  // did not hold the key, or spoke nonsense

 private:
  struct Visitor;
  void hear(std::uint64_t id, std::span<const std::byte> bytes);
  void answer(Visitor& visitor, const wire::ConnectRequest& request);
  static void say(Visitor& visitor, const wire::Handshake& what);
  void show_out(std::uint64_t id);

  Reactor& reactor_;
  link::Key key_;
  GatekeeperSettings settings_;
  Admit admit_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Visitor>> visitors_;
  std::uint64_t last_id_ = 0;
  std::uint64_t strangers_ = 0;
};

/// A handshake message as a frame.
[[nodiscard]] std::vector<std::byte> framed(const wire::Handshake& what);

}  // namespace isochron::agents
