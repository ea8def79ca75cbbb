#pragma once
// The door: who comes over TCP proves that it holds the key, and is given a connection number, the keys of its session
// and a picture of the world; then TCP is over. A visitor who dawdles or sends too much is shown out; when there are
// too many at once, the one who came first.
//
//     server                                client
//       | -- Challenge ----------------------> |
//       | <- ConnectRequest, proof ----------- |
//       | -- Decline, close                    |    or
//       | -- Accept, proof ------------------> |
//       | -- ConnectionNumber, sealed -------> |
//       | -- WorldInfo, snapshot, sealed ----> |    closes; from now on datagrams
//
// Threads: the reactor's. Cost: one handshake ~10 µs.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agents/ids.hpp"
#include "agents/wire.pb.h"
#include "core/network.hpp"
#include "link/auth.hpp"
#include "link/frame.hpp"

namespace isochron::agents {

/// What both sides must agree on to understand each other.
inline constexpr const char* handshake_context = "isochron agents 2";

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
  std::map<std::uint64_t, std::unique_ptr<Visitor>> visitors_;  // the oldest first
  std::uint64_t last_id_ = 0;
  std::uint64_t strangers_ = 0;
};

/// Protobuf prints what it cannot read to stderr: a stranger could fill a disk with that. Said once, for the process.
void hush_protobuf();

/// A handshake message as a frame.
[[nodiscard]] std::vector<std::byte> framed(const wire::Handshake& what);
/// A handshake message inside a sealed one, and out of it; nothing if it is not authentic.
[[nodiscard]] wire::Handshake sealed(const wire::Handshake& what, link::Sealer& sealer);
[[nodiscard]] std::optional<wire::Handshake> unsealed(const wire::Handshake& what, link::Opener& opener);

}  // namespace isochron::agents
