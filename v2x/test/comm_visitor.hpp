#pragma once
// A visitor of a communication server who says what a test tells it to, right or wrong.

#include <cstring>
#include <string>

#include "testing/desk_reactor.hpp"
#include "v2x/comm/server.hpp"
#include "v2x/comm/wire.hpp"

namespace isochron::v2x {

class CommVisitor {
 public:
  CommVisitor(DeskReactor& desk, const link::Key& key) : responder_(key, comm_context), wire_(desk.visit()) {}
  [[nodiscard]] bool inside() const { return wire_->open; }
  void say(std::span<const std::byte> bytes) { DeskReactor::say(*wire_, bytes); }
  void say_frame(std::span<const std::byte> payload) {
    std::vector<std::byte> bytes;
    link::append_frame(bytes, payload);
    say(bytes);
  }
  /// Proves that it holds the key, and says it is this client; false = it was not let in.
  bool join(std::span<const std::byte> name) {
    link::Nonce nonce;
    std::memcpy(nonce.data(), wire_->sent.data() + link::frame_header_bytes, nonce.size());
    const link::Answer answer = responder_.answer(nonce);
    std::vector<std::byte> hello(answer.nonce.begin(), answer.nonce.end());
    hello.insert(hello.end(), answer.proof.begin(), answer.proof.end());
    hello.insert(hello.end(), name.begin(), name.end());
    wire_->sent.clear();
    say_frame(hello);
    link::Proof proof;
    if (wire_->sent.size() != link::frame_header_bytes + proof.size()) return false;
    std::memcpy(proof.data(), wire_->sent.data() + link::frame_header_bytes, proof.size());
    const auto keys = responder_.accept(proof);
    if (keys) sealer_.emplace(keys->to_server);
    return keys.has_value();
  }
  bool join(const std::string& name) { return join(text_bytes(name)); }
  /// As a message of one who was let in. Requires join().
  void say_sealed(std::span<const std::byte> payload) {
    std::vector<std::byte> sealed(payload.size() + link::seal_bytes);
    if (!payload.empty()) std::memcpy(sealed.data() + link::seal_head_bytes, payload.data(), payload.size());
    sealer_->seal(sealed);
    say_frame(sealed);
  }
  void leave() { DeskReactor::leave(*wire_); }

 private:
  link::Responder responder_;
  std::optional<link::Sealer> sealer_;
  std::shared_ptr<DeskReactor::Wire> wire_;
};

}  // namespace isochron::v2x
