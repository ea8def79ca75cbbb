#include "v2x/comm/server.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/cdr.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "v2x/comm/wire.hpp"

namespace isochron::v2x {
namespace {

constexpr std::size_t most_visitors = 64;
constexpr WallSpan patience = std::chrono::seconds(5);  // until the proof

}  // namespace

struct CommServer::Visitor {
  Visitor(std::unique_ptr<Stream> s, const link::Key& key) : stream(std::move(s)), challenger(key, comm_context) {}
  std::unique_ptr<Stream> stream;
  link::FrameReader reader{largest_hello};
  link::Challenger challenger;
  std::optional<link::Sealer> sealer;
  std::optional<link::Opener> opener;
  std::string name;  // "" = has not proved who it is
  Reactor::TimerId timer = 0;
};

CommServer::CommServer(Reactor& reactor, const link::Key& key, const Address& at, SharedAir& air,
                       std::vector<std::string> clients)
    : reactor_(reactor), key_(key), air_(air), clients_(std::move(clients)) {
  auto listener = reactor_.listen(at, [this](std::unique_ptr<Stream> stream) { receive(std::move(stream)); });
  if (!listener) throw InputError({to_string(at), 0, 0}, listener.error().what);
  listener_ = std::move(listener).value();
}

CommServer::~CommServer() {
  for (const auto& [id, visitor] : visitors_) reactor_.cancel(visitor->timer);
}

std::size_t CommServer::inside() const {
  return static_cast<std::size_t>(std::count_if(visitors_.begin(), visitors_.end(),
                                                [](const auto& visitor) { return !visitor.second->name.empty(); }));
}

void CommServer::receive(std::unique_ptr<Stream> stream) {
  if (visitors_.size() >= most_visitors) make_room();
  if (visitors_.size() >= most_visitors) return;  // its stream closes
  const std::uint64_t id = ++last_id_;
  Visitor& visitor = *visitors_.emplace(id, std::make_unique<Visitor>(std::move(stream), key_)).first->second;
  visitor.timer = reactor_.call_at(reactor_.now() + patience, [this, id] {
    if (visitors_.at(id)->name.empty()) show_out(id);
  });
  visitor.stream->set_events({[this, id](std::span<const std::byte> bytes) { hear(id, bytes); },
                              {},
                              [this, id](const NetError&) { show_out(id); }});
  send_frame(*visitor.stream, visitor.challenger.challenge());
}

/// Whoever came first and has proved nothing gives way.
void CommServer::make_room() {
  const auto oldest = std::find_if(visitors_.begin(), visitors_.end(),
                                   [](const auto& visitor) { return visitor.second->name.empty(); });
  if (oldest != visitors_.end()) show_out(oldest->first);
}

void CommServer::show_out(std::uint64_t id) {
  const auto found = visitors_.find(id);
  if (found == visitors_.end()) return;
  reactor_.cancel(found->second->timer);
  const std::string name = found->second->name;
  visitors_.erase(found);
  if (!name.empty()) air_.leave(name);
}

void CommServer::hear(std::uint64_t id, std::span<const std::byte> bytes) {
  Visitor& visitor = *visitors_.at(id);
  bool sane = true;
  bool inside = !visitor.name.empty();
  const auto taken = visitor.reader.take(bytes, [&](std::span<const std::byte> frame) {
    sane = take(visitor, frame);
    return sane && inside == !visitor.name.empty();  // with the proof comes another reader
  });
  if (sane && taken.ok() && !inside && !visitor.name.empty()) visitor.reader = link::FrameReader(largest_exchange);
  if (sane && taken.ok()) return;
  ++strangers_;
  show_out(id);
}

bool CommServer::take(Visitor& visitor, std::span<const std::byte> frame) {
  return visitor.name.empty() ? prove(visitor, frame) : exchange(visitor, frame);
}

bool CommServer::refuse(Visitor& visitor, const std::string& why) {
  send_frame(*visitor.stream, text_bytes("no: " + why));
  return false;
}

bool CommServer::prove(Visitor& visitor, std::span<const std::byte> frame) {
  link::Answer answer;
  const std::size_t head = answer.nonce.size() + answer.proof.size();
  if (frame.size() <= head) return false;
  std::memcpy(answer.nonce.data(), frame.data(), answer.nonce.size());
  std::memcpy(answer.proof.data(), frame.data() + answer.nonce.size(), answer.proof.size());
  const auto welcome = visitor.challenger.check(answer);
  if (!welcome) return refuse(visitor, "the key is not the right one");
  const std::string name = foreign_name({reinterpret_cast<const char*>(frame.data() + head), frame.size() - head});
  if (std::find(clients_.begin(), clients_.end(), name) == clients_.end()) {
    return refuse(visitor, "this scenario has no client `" + name + "`");
  }
  const bool taken =
      std::any_of(visitors_.begin(), visitors_.end(), [&](const auto& other) { return other.second->name == name; });
  if (taken) return refuse(visitor, "there is a client `" + name + "` already");
  visitor.name = name;
  visitor.opener.emplace(welcome->keys.to_server);
  visitor.sealer.emplace(welcome->keys.to_client);
  air_.enter(name);
  ++joined_;
  came_.insert(name);
  send_frame(*visitor.stream, welcome->proof);
  return true;
}

bool CommServer::exchange(Visitor& visitor, std::span<const std::byte> frame) {
  const auto opened = visitor.opener->open(frame);
  if (!opened) return false;
  const auto up = cdr_read<AirUp>(opened->payload);
  if (!up || !air_.believes(visitor.name, *up)) return false;
  send_sealed(*visitor.stream, *visitor.sealer, air_.exchange(visitor.name, *up));
  return true;
}

}  // namespace isochron::v2x
