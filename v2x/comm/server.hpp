#pragma once
// The communication server, for clients in processes of their own: one for each emulation. Who comes proves that it
// holds the key (link/auth.hpp, as agents do), says which client of the scenario it is, and then asks with every
// heartbeat: an AirUp, answered by an AirNews. Every message after the proof is sealed.
//
//     server                                client
//       | -- nonce ------------------------->  |
//       | <- nonce, proof, name -------------  |
//       | -- proof  ------------------------>  |    or "no: why", and the stream ends
//       | <- AirUp, sealed ------------------  |
//       | -- AirNews, sealed --------------->  |    … until the stream ends: the client has left
//
// Over TCP, because a message that the radio delivered must not be lost by the network below it.
//
// Requires: destroyed before its reactor, on the reactor's thread or while it does not run.
// Threads:  the reactor's.
// Fails:    the constructor throws InputError when the address cannot be used. A client that speaks nonsense is shown
//           out; the others go on.

#include <map>
#include <memory>
#include <set>

#include "core/network.hpp"
#include "link/auth.hpp"
#include "link/frame.hpp"
#include "v2x/comm/shared_air.hpp"

namespace isochron::v2x {

inline constexpr const char* comm_context = "isochron comm 2";

class CommServer {
 public:
  CommServer(Reactor& reactor, const link::Key& key, const Address& at, SharedAir& air,
             std::vector<std::string> clients);
  ~CommServer();
  CommServer(const CommServer&) = delete;
  CommServer& operator=(const CommServer&) = delete;

  [[nodiscard]] Address address() const { return listener_->local(); }
  [[nodiscard]] std::uint64_t strangers() const { return strangers_; }  // did not hold the key, or spoke nonsense
  [[nodiscard]] std::uint64_t joined() const { return joined_; }
  [[nodiscard]] std::size_t inside() const;
  /// Every client of the scenario was here, and all have left.
  [[nodiscard]] bool over() const { return came_.size() == clients_.size() && inside() == 0; }

 private:
  struct Visitor;
  void receive(std::unique_ptr<Stream> stream);
  void make_room();
  void hear(std::uint64_t id, std::span<const std::byte> bytes);
  bool take(Visitor& visitor, std::span<const std::byte> frame);
  bool prove(Visitor& visitor, std::span<const std::byte> frame);
  bool exchange(Visitor& visitor, std::span<const std::byte> frame);
  bool refuse(Visitor& visitor, const std::string& why);
  void show_out(std::uint64_t id);

  Reactor& reactor_;
  link::Key key_;
  SharedAir& air_;
  std::vector<std::string> clients_;
  std::unique_ptr<Listener> listener_;
  std::map<std::uint64_t, std::unique_ptr<Visitor>> visitors_;  // the oldest first
  std::set<std::string> came_;
  std::uint64_t last_id_ = 0, strangers_ = 0, joined_ = 0;
};

}  // namespace isochron::v2x
