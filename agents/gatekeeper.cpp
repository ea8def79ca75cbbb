#include "agents/gatekeeper.hpp"

#include <google/protobuf/stubs/logging.h>

#include <cstring>

#include "core/foreign_text.hpp"
#include "core/log.hpp"

namespace isochron::agents {
namespace {

constexpr std::size_t largest_request = 4096;

template <std::size_t n>
bool copy_exactly(const std::string& from, std::array<std::byte, n>& to) {
  if (from.size() != n) return false;
  std::memcpy(to.data(), from.data(), n);
  return true;
}

}  // namespace

struct Gatekeeper::Visitor {
  std::unique_ptr<Stream> stream;
  link::FrameReader reader{largest_request};
  link::Challenger challenger;
  Reactor::TimerId timer = 0;
  bool answered = false;
};

void hush_protobuf() { [[maybe_unused]] static auto* const before = google::protobuf::SetLogHandler(nullptr); }

std::vector<std::byte> framed(const wire::Handshake& what) {
  const auto header = link::frame_header(what.ByteSizeLong());
  std::vector<std::byte> frame(header.size() + what.ByteSizeLong());
  std::memcpy(frame.data(), header.data(), header.size());
  what.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(frame.data() + header.size()));
  return frame;
}

wire::Handshake sealed(const wire::Handshake& what, link::Sealer& sealer) {
  std::vector<std::byte> message(link::seal_bytes + what.ByteSizeLong());
  what.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(message.data() + link::seal_head_bytes));
  sealer.seal(message);
  wire::Handshake outer;
  outer.set_sealed(message.data(), message.size());
  return outer;
}

std::optional<wire::Handshake> unsealed(const wire::Handshake& what, link::Opener& opener) {
  const auto opened = opener.open(std::as_bytes(std::span(what.sealed())));
  wire::Handshake inner;
  if (!opened || !inner.ParseFromArray(opened->payload.data(), static_cast<int>(opened->payload.size()))) {
    return std::nullopt;
  }
  return inner;
}

Gatekeeper::Gatekeeper(Reactor& reactor, const link::Key& key, const GatekeeperSettings& settings, Admit admit)
    : reactor_(reactor), key_(key), settings_(settings), admit_(std::move(admit)) {
  hush_protobuf();
}

Gatekeeper::~Gatekeeper() {
  for (const auto& [id, visitor] : visitors_) reactor_.cancel(visitor->timer);
}

void Gatekeeper::receive(std::unique_ptr<Stream> stream) {
  if (visitors_.size() >= settings_.visitors) show_out(visitors_.begin()->first);
  const std::uint64_t id = ++last_id_;
  auto visitor =
      std::make_unique<Visitor>(Visitor{std::move(stream), link::FrameReader{largest_request},
                                        link::Challenger(key_, handshake_context, settings_.nonces), 0, false});
  Visitor& v = *visitor;
  visitors_.emplace(id, std::move(visitor));
  v.timer = reactor_.call_at(reactor_.now() + settings_.patience, [this, id] { show_out(id); });
  v.stream->set_events({[this, id](std::span<const std::byte> bytes) { hear(id, bytes); },
                        {},
                        [this, id](const NetError&) { show_out(id); }});
  wire::Handshake hello;
  hello.mutable_challenge()->set_protocol(protocol_version);
  hello.mutable_challenge()->set_nonce(v.challenger.challenge().data(), sizeof(link::Nonce));
  say(v, hello);
}

void Gatekeeper::say(Visitor& visitor, const wire::Handshake& what) { visitor.stream->send(framed(what)); }

void Gatekeeper::show_out(std::uint64_t id) {
  const auto found = visitors_.find(id);
  if (found == visitors_.end()) return;
  reactor_.cancel(found->second->timer);
  visitors_.erase(found);
}

void Gatekeeper::hear(std::uint64_t id, std::span<const std::byte> bytes) {
  Visitor& visitor = *visitors_.at(id);
  bool sane = true;
  const auto taken = visitor.reader.take(bytes, [&](std::span<const std::byte> frame) {
    wire::Handshake what;
    sane = what.ParseFromArray(frame.data(), static_cast<int>(frame.size())) && what.has_request() && !visitor.answered;
    if (sane) answer(visitor, what.request());
    return sane;
  });
  if (sane && taken.ok()) return;
  ++strangers_;
  show_out(id);
}

void Gatekeeper::answer(Visitor& visitor, const wire::ConnectRequest& request) {
  visitor.answered = true;
  wire::Handshake reply;
  link::Answer proof;
  const bool whole = copy_exactly(request.nonce(), proof.nonce) && copy_exactly(request.proof(), proof.proof);
  const auto welcome = whole ? visitor.challenger.check(proof) : std::nullopt;
  if (!welcome) {
    ++strangers_;
    reply.mutable_decline()->set_reason("the key is not the right one");
    reply.mutable_decline()->set_final(true);
    return say(visitor, reply);
  }
  if (request.protocol() != protocol_version) {
    reply.mutable_decline()->set_reason("this server speaks version " + std::to_string(protocol_version));
    reply.mutable_decline()->set_final(true);
    return say(visitor, reply);
  }
  Admitted admitted = admit_(request, welcome->keys, visitor.stream->peer());
  const std::string who = foreign_text(request.name(), 200) + " from " + to_string(visitor.stream->peer());
  inform("agents", who + (admitted.declined.empty() ? " joins" : " is declined: " + admitted.declined));
  if (!admitted.declined.empty()) {
    reply.mutable_decline()->set_reason(admitted.declined);
    reply.mutable_decline()->set_final(admitted.final);
    return say(visitor, reply);
  }
  reply.mutable_accept()->set_proof(welcome->proof.data(), welcome->proof.size());
  say(visitor, reply);
  link::Sealer sealer(welcome->keys.of_welcome);
  reply.mutable_connection()->set_number(admitted.connection);
  say(visitor, sealed(reply, sealer));
  reply.mutable_world()->Swap(&admitted.world);
  say(visitor, sealed(reply, sealer));
}

}  // namespace isochron::agents
