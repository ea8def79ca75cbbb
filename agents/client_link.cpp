#include "agents/client_link.hpp"

#include <algorithm>
#include <cstring>

#include "agents/gatekeeper.hpp"
#include "agents/handler.hpp"
#include "core/foreign_text.hpp"
#include "core/limits.hpp"

namespace isochron::agents {
namespace {

/// A nanosecond to an hour.
bool is_heartbeat(std::int64_t ns) { return ns > 0 && ns <= 3'600'000'000'000; }

}  // namespace

ClientLink::ClientLink(Reactor& reactor, const link::Key& key, SharedCache& shared, const ClientSettings& settings)
    : reactor_(reactor), key_(key), shared_(shared), settings_(settings) {
  hush_protobuf();
}

ClientLink::~ClientLink() {
  reactor_.cancel(beat_timer_);
  reactor_.cancel(retry_timer_);
}

void ClientLink::connect() {
  reader_ = link::FrameReader(64 << 20);
  responder_.emplace(key_, handshake_context, settings_.nonces);
  keys_.reset();
  welcome_.reset();
  number_ = 0;
  stream_ = reactor_.connect(settings_.server);
  stream_->set_events({[this](std::span<const std::byte> bytes) { hear_stream(bytes); },
                       {},
                       [this](const NetError& error) { stream_closed(error.what); }});
  await_answer();
}

/// A server that says nothing more is given up after a while, and tried again.
void ClientLink::await_answer() {
  reactor_.cancel(retry_timer_);
  retry_timer_ =
      reactor_.call_at(reactor_.now() + 10 * settings_.retry, [this] { stream_closed("the server does not answer"); });
}

void ClientLink::retry_later(const std::string& why) {
  {
    const std::lock_guard lock(shared_.mutex);
    shared_.trouble = why;
    shared_.joined = false;
  }
  reactor_.cancel(retry_timer_);
  retry_timer_ = reactor_.call_at(reactor_.now() + settings_.retry, [this] { connect(); });
}

void ClientLink::stream_closed(const std::string& why) {
  stream_.reset();
  if (session_ || left_) return;  // it had served
  retry_later(why);
}

void ClientLink::hear_stream(std::span<const std::byte> bytes) {
  bool sane = true;
  await_answer();
  const auto taken = reader_.take(bytes, [&](std::span<const std::byte> frame) {
    wire::Handshake what;
    sane = what.ParseFromArray(frame.data(), static_cast<int>(frame.size())) && hear(what);
    return sane && stream_ != nullptr;
  });
  if ((!sane || !taken.ok()) && stream_ != nullptr) stream_closed("the peer at that address is not an agents server");
}

bool ClientLink::hear(const wire::Handshake& what) {
  if (keys_) return what.what_case() == wire::Handshake::kSealed && hear_welcome(what);
  switch (what.what_case()) {
    case wire::Handshake::kChallenge:
      return answer(what.challenge());
    case wire::Handshake::kDecline:
      hear_decline(what.decline());
      return true;
    case wire::Handshake::kAccept:
      return hear_accept(what.accept());
    default:
      return false;
  }
}

void ClientLink::hear_decline(const wire::Decline& decline) {
  const std::string why = foreign_text(decline.reason(), 400);
  ++counts_.declined;
  stream_.reset();
  if (!decline.final()) return retry_later(why);
  reactor_.cancel(retry_timer_);
  {
    const std::lock_guard lock(shared_.mutex);
    shared_.failure = why;
  }
  tell();
}

bool ClientLink::hear_accept(const wire::Accept& accept) {
  link::Proof proof;
  if (accept.proof().size() != proof.size()) return false;
  std::memcpy(proof.data(), accept.proof().data(), proof.size());
  keys_ = responder_->accept(proof);
  if (keys_) welcome_.emplace(keys_->of_welcome);
  return keys_.has_value();
}

/// From here on everything is proved to come from the server.
bool ClientLink::hear_welcome(const wire::Handshake& what) {
  const auto inner = unsealed(what, *welcome_);
  if (!inner) return false;
  if (inner->has_connection()) {
    number_ = inner->connection().number();
    return true;
  }
  const wire::WorldInfo& world = inner->world();
  if (number_ == 0 || !limits::is_time(world.sim_time_ns()) || !is_heartbeat(world.heartbeat_ns())) return false;
  enter(world);
  return true;
}

bool ClientLink::answer(const wire::Challenge& challenge) {
  link::Nonce nonce;
  if (challenge.nonce().size() != nonce.size()) return false;
  std::memcpy(nonce.data(), challenge.nonce().data(), nonce.size());
  const link::Answer proof = responder_->answer(nonce);
  wire::Handshake reply;
  wire::ConnectRequest& request = *reply.mutable_request();
  request.set_protocol(protocol_version);
  request.set_name(settings_.name);
  request.set_nonce(proof.nonce.data(), proof.nonce.size());
  request.set_proof(proof.proof.data(), proof.proof.size());
  request.set_updates(settings_.updates);
  const std::lock_guard lock(shared_.mutex);
  if (shared_.cache.epoch() != 0) {
    request.mutable_resume()->set_epoch(shared_.cache.epoch());
    request.mutable_resume()->set_progress_ns(shared_.cache.progress().ns());
    request.mutable_resume()->set_clients(shared_.cache.clients());
  }
  stream_->send(framed(reply));
  return true;
}

void ClientLink::enter(const wire::WorldInfo& world) {
  const Address server = settings_.server.with_port(static_cast<std::uint16_t>(world.udp_port()));
  session_.emplace(Session{number_, link::Sealer(keys_->to_server), link::Opener(keys_->to_client), server});
  stream_.reset();
  reactor_.cancel(retry_timer_);
  if (!port_) {
    const Address any =
        server.is_v4() ? (server.is_loopback() ? Address::loopback(0) : Address::v4(0, 0, 0, 0, 0)) : Address{};
    auto opened = reactor_.open_datagrams(any);
    if (!opened) {
      session_.reset();
      return retry_later(opened.error().what);
    }
    port_ = std::move(*opened);
    port_->set_receiver([this](std::span<const Datagram> datagrams) { receive(datagrams); });
  }
  datagram_bytes_ = std::clamp<std::size_t>(world.datagram_bytes(), largest_datagram, largest_local_datagram);
  refresh_ = WallSpan::from_ns(static_cast<std::int64_t>(std::max(1U, world.refresh_ms())) * 1'000'000);
  ++counts_.joins;
  heard_ = sent_ = reactor_.now();
  {
    const std::lock_guard lock(shared_.mutex);
    shared_.cache.joined(number_, world);
    shared_.joined = true;
    shared_.trouble.clear();
  }
  send({reactor_.now(), refresh_, waiting_, true});
  reactor_.cancel(beat_timer_);
  beat_timer_ = reactor_.call_at(reactor_.now() + settings_.resend, [this] { beat(); });
  tell();
}

void ClientLink::receive(std::span<const Datagram> datagrams) {
  if (!session_) return;
  bool news = false;
  {
    const std::lock_guard lock(shared_.mutex);
    for (const Datagram& datagram : datagrams) news = take(datagram.bytes) || news;
  }
  if (news) tell();
}

bool ClientLink::take(std::span<const std::byte> bytes) {
  const auto opened = connection_of(bytes) == session_->connection
                          ? session_->opener.open(bytes.subspan(connection_bytes))
                          : Result<link::Opened, link::SealFault>(fail(link::SealFault::forged));
  if (!opened || !down_.ParseFromArray(opened->payload.data(), static_cast<int>(opened->payload.size()))) {
    ++counts_.dropped;
    return false;
  }
  ++counts_.received;
  heard_ = reactor_.now();
  if (down_.gone()) {
    shared_.failure = "the server ended the connection: this client ran ahead of the world again and again";
    left_ = true;
  }
  shared_.cache.take(down_);
  return true;
}

void ClientLink::tell() {
  shared_.changed.notify_all();
  if (on_news_) on_news_();
}

void ClientLink::flush() {
  if (!session_ || left_) return;
  resends_ = 0;
  send({reactor_.now(), refresh_, false, false});  // the answer comes by itself when it is there
}

void ClientLink::set_waiting(bool waiting) {
  waiting_ = waiting;
  resends_ = 0;
}

void ClientLink::beat() {
  const WallTime now = reactor_.now();
  if (left_) return;
  if (now - heard_ > settings_.lost_after) {
    session_.reset();
    {
      const std::lock_guard lock(shared_.mutex);
      shared_.cache.lost();
      shared_.joined = false;
      shared_.trouble = "the server is silent";
    }
    return connect();
  }
  bool news = false;
  {
    const std::lock_guard lock(shared_.mutex);
    news = shared_.cache.has_news();
  }
  if (waiting_ && now - sent_ >= std::min(1 + resends_, 5) * settings_.resend) {
    ++resends_;
    ++counts_.resent;
    send({now, refresh_, true, true});
  } else if (news || now - sent_ >= settings_.keep_alive) {
    send({now, refresh_, waiting_, false});
  }
  beat_timer_ = reactor_.call_at(now + settings_.resend, [this] { beat(); });
}

void ClientLink::send(const StateCache::Packing& how) {
  {
    const std::lock_guard lock(shared_.mutex);
    shared_.cache.begin_packing(how);
    const std::size_t room = datagram_bytes_ - connection_bytes - link::seal_bytes;
    while (shared_.cache.pack(up_, room)) send_one(up_);
  }
  sent_ = how.now;
  ship();
}

void ClientLink::send_one(const wire::Up& up) {
  const std::size_t size = up.ByteSizeLong(), start = bytes_.size();
  const std::size_t whole = connection_bytes + link::seal_bytes + size;
  ENSURE(whole <= datagram_bytes_, "what is packed fits a datagram");
  bytes_.resize(start + whole);
  std::byte* head = bytes_.data() + start;
  std::memcpy(head, &session_->connection, connection_bytes);
  up.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(head + connection_bytes + link::seal_head_bytes));
  session_->sealer.seal({head + connection_bytes, whole - connection_bytes});
  sizes_.push_back(whole);
}

void ClientLink::ship() {
  batch_.clear();
  std::size_t at = 0;
  for (const std::size_t size : sizes_) {
    batch_.push_back({session_->server, std::span(bytes_).subspan(at, size)});
    at += size;
  }
  counts_.sent += batch_.size();
  port_->send(batch_);
  bytes_.clear();
  sizes_.clear();
}

void ClientLink::leave() {
  if (session_ && !left_) {
    up_.Clear();
    up_.set_leaving(true);
    for (int i = 0; i < 3; ++i) send_one(up_);  // one of them will get there
    ship();
  }
  left_ = true;
  session_.reset();
  stream_.reset();
  reactor_.cancel(retry_timer_);
}

}  // namespace isochron::agents
