#include "programs/board/connection.hpp"

#include <algorithm>
#include <cstring>

#include "core/foreign_text.hpp"
#include "core/time_text.hpp"

namespace isochron::programs {
namespace {

constexpr std::size_t largest_head = wire::overhead_max;
constexpr std::size_t copied_most = 32 * 1024;                   // larger payloads are sent from where they are
constexpr WallSpan ping_every = std::chrono::milliseconds(100);  // of a target that asks

}  // namespace

Connection::Connection(Reactor& reactor, std::unique_ptr<Stream> stream, const Setup& setup, Events events)
    : reactor_(reactor),
      stream_(std::move(stream)),
      peer_(stream_->peer()),
      setup_(setup),
      events_(std::move(events)),
      opened_(reactor.now()),
      rate_(setup.clock_tolerance),
      tokens_(setup.limits.requests_per_s),
      tokens_at_(opened_) {
  stream_->stamp_arrivals();
  stream_->set_events({[this](std::span<const std::byte> bytes) { receive(bytes); },
                       {},
                       [this](const NetError& error) { gone(error.what); }});
  wire::Greeting greeting;
  greeting.key_needed = setup_.key != nullptr;
  greeting.nonce = setup_.nonces();
  if (setup_.key != nullptr) {
    // The context names the target, which is not known yet: the challenger is made when it says hello.
    frame_.assign(greeting.nonce.begin(), greeting.nonce.end());
  }
  out_.resize(link::frame_header_bytes + link::seal_head_bytes + largest_head);
  send(wire::write(std::span(out_).subspan(link::frame_header_bytes), greeting));
}

/// Sends what stands behind the frame's header in out_, and the payload.
void Connection::send(std::size_t head, std::span<const std::byte> payload) {
  if (closed_) return;
  const std::size_t front = link::frame_header_bytes + (sealer_ ? link::seal_head_bytes : 0);
  const std::size_t message = (sealer_ ? link::seal_bytes : 0) + head + payload.size();
  const auto header = link::frame_header(message);
  if (!sealer_ && payload.size() > copied_most) {
    std::copy(header.begin(), header.end(), out_.begin());
    stream_->send(std::span(out_).first(front + head));
    return stream_->send(payload);
  }
  out_.resize(std::max(out_.size(), link::frame_header_bytes + message));
  if (!payload.empty()) std::memcpy(out_.data() + front + head, payload.data(), payload.size());
  if (sealer_) sealer_->seal(std::span(out_).subspan(link::frame_header_bytes, message));
  std::copy(header.begin(), header.end(), out_.begin());
  stream_->send(std::span(out_).first(link::frame_header_bytes + message));
}

void Connection::receive(std::span<const std::byte> bytes) {
  if (closed_) return;
  const auto taken = reader_.take(bytes, [this](std::span<const std::byte> frame) {
    if (!opener_) return take_frame(frame);
    const auto opened = opener_->open(frame);
    if (!opened.ok()) return drop(std::string("a message is ") + link::to_string(opened.error()));
    return take_frame(opened->payload);
  });
  if (closed_) return;
  if (!taken.ok()) return void(drop(taken.error()));
  stuck_since_ = reader_.partial() > 0 ? std::min(stuck_since_, reactor_.now()) : WallTime::never();
}

bool Connection::take_frame(std::span<const std::byte> frame) {
  switch (wire::kind_of(frame)) {
    case wire::Kind::hello:
      return take_hello(frame);
    case wire::Kind::pong:
      return take_pong(frame);
    case wire::Kind::request:
      return take_request(frame);
    default:
      return drop("this is not a target's protocol; is it an Isochron program?");
  }
}

bool Connection::take_hello(std::span<const std::byte> frame) {
  wire::Hello hello;
  if (phase_ != Phase::greeting || !wire::read(frame, hello)) return drop("a hello that cannot be read");
  if (hello.version_number != wire::version) {
    return drop("the target speaks version " + std::to_string(hello.version_number) + " of the protocol, this host " +
                std::to_string(wire::version) + "; build both from one Isochron");
  }
  const std::string name(hello.name);
  wire::Welcome welcome;
  std::optional<link::Challenger::Welcome> proven;
  if (setup_.key != nullptr) {
    link::Nonce nonce;
    std::copy_n(frame_.begin(), nonce.size(), nonce.begin());
    link::Challenger challenger(*setup_.key, wire::key_context + name, [&] { return nonce; });
    proven = challenger.check({hello.nonce, hello.proof});
    if (!proven) return drop("the target does not hold the key of this host; give it the same in ISOCHRON_KEY");
    welcome.proof = proven->proof;
  }
  welcome.session = hello.session;
  if (const std::string why = events_.on_hello(foreign_name(name), welcome); !why.empty()) return drop(why);
  send(wire::write(std::span(out_).subspan(link::frame_header_bytes), welcome));
  if (proven) {
    sealer_.emplace(proven->keys.to_client);
    opener_.emplace(proven->keys.to_server);
  }
  phase_ = Phase::pinging;
  ping();
  return true;
}

void Connection::ping() {
  const std::size_t front = link::frame_header_bytes + (sealer_ ? link::seal_head_bytes : 0);
  const std::size_t head = wire::write(std::span(out_).subspan(front), wire::Ping{++pings_sent_});
  pinged_ = reactor_.now();
  ping_out_ = true;
  send(head);
}

void Connection::measure() {
  if (!closed_ && !ping_out_) ping();
}

bool Connection::take_pong(std::span<const std::byte> frame) {
  wire::Pong pong;
  if (!wire::read(frame, pong) || !ping_out_ || pong.number != pings_sent_) {
    return drop("an answer to a ping that was not sent");
  }
  const WallTime now = stream_->arrived().value_or(reactor_.now());
  const WallSpan way = std::max(now - pinged_, WallSpan::zero());
  ping_.add(way);
  offset_.add(pinged_ + way / 2, pong.clock, way);
  rate_.add(pinged_, now, pong.clock);
  ping_out_ = false;
  if (phase_ != Phase::pinging) return true;
  if (pings_sent_ < setup_.limits.pings) {
    ping();
  } else {
    phase_ = Phase::attaching;
    if (request_.ask != 0) attached();
  }
  return true;
}

bool Connection::take_request(std::span<const std::byte> frame) {
  const WallTime arrived = stream_->arrived().value_or(reactor_.now());
  if (phase_ == Phase::greeting || phase_ == Phase::asking) return drop("a request out of turn");
  if (phase_ != Phase::idle && request_.ask != 0) return drop("two requests at once");
  frame_.assign(frame.begin(), frame.end());
  if (!wire::read(frame_, request_)) return drop("a request that cannot be read");
  if (!within_rate()) {
    return drop("more than " + std::to_string(setup_.limits.requests_per_s) + " requests a second");
  }
  return begin_request(arrived);
}

bool Connection::begin_request(WallTime arrived) {
  const auto ask = static_cast<protocol::Ask>(request_.ask);
  if (ask == protocol::Ask::none) {
    events_.on_leave();
    gone("said good-bye");
    return false;
  }
  if (phase_ == Phase::idle) {
    phase_ = Phase::asking;
    if (!may_be_late(arrived)) offset_.add(arrived - ping_.mean() / 2, request_.sent, ping_.allowance());
    if (arrived - pinged_ >= ping_every) measure();
    events_.on_request(arrived);
    return !closed_;
  }
  if (ask != protocol::Ask::attach) return drop("its first request is not to attach");
  if (request_.number != protocol::version) {
    return drop("speaks version " + std::to_string(request_.number) + " of the program protocol, this host " +
                std::to_string(protocol::version));
  }
  if (phase_ == Phase::attaching) attached();
  return !closed_;
}

/// Was longer on the way than pings are, unless its clock is wrong: it shows nothing of either.
bool Connection::may_be_late(WallTime arrived) const {
  const std::int64_t told = request_.sent / 2 - request_.received / 2;  // halves: it may be anything
  const WallSpan usual = ping_.recent_most() * 3 / 2 + ClockRate::tick;
  return told >= 0 && told < (arrived - answered_ - usual).ns() / 2;
}

void Connection::attached() {
  phase_ = Phase::asking;
  events_.on_attach();
}

bool Connection::within_rate() {
  const WallTime now = reactor_.now();
  const double limit = setup_.limits.requests_per_s;
  tokens_ = std::min(limit, tokens_ + (now - tokens_at_).seconds() * limit);
  tokens_at_ = now;
  tokens_ -= 1;
  return tokens_ >= 0;
}

void Connection::answer(SimTime at, const Reply& reply) {
  if (closed_) return;
  ENSURE(phase_ == Phase::asking, "an answer to a target that did not ask");
  phase_ = Phase::idle;
  request_ = {};
  send_answer(at, reply);
}

void Connection::send_answer(SimTime at, const Reply& reply) {
  if (closed_) return;
  answered_ = reactor_.now();
  wire::Answer answer;
  answer.verdict = static_cast<std::uint8_t>(reply.verdict);
  answer.index = reply.index;
  answer.time = at.ns();
  answer.number = reply.number;
  answer.stamp = reply.stamp.ns();
  answer.name = reply.name;
  answer.type = reply.type;
  const std::size_t front = link::frame_header_bytes + (sealer_ ? link::seal_head_bytes : 0);
  send(wire::write_head(std::span(out_).subspan(front), answer), reply.payload());
}

void Connection::refuse(const std::string& why) {
  if (closed_) return;
  const std::size_t front = link::frame_header_bytes + (sealer_ ? link::seal_head_bytes : 0);
  out_.resize(std::max(out_.size(), front + wire::text_max + link::seal_bytes + 1));
  send(wire::write_refused(std::span(out_).subspan(front), why));
  gone(why);
}

/// As refuse(), from inside a callback of the reader, which must not go on.
bool Connection::drop(const std::string& why) {
  refuse(why);
  return false;
}

void Connection::gone(const std::string& why) {
  if (closed_) return;
  closed_ = true;
  events_.on_closed(why);
}

void Connection::check_patience(WallTime now) {
  if (closed_) return;
  const WallSpan patience = setup_.limits.handshake;
  const std::string limit = format_ns_short(patience.ns());
  const bool knocking = phase_ == Phase::greeting || phase_ == Phase::pinging || phase_ == Phase::attaching;
  if (knocking && now - opened_ > patience) return refuse("did not say who it is within " + limit);
  if (stuck_since_ != WallTime::never() && now - stuck_since_ > patience) {
    return refuse("sent half a message and no more for " + limit);
  }
  unread_since_ = stream_->pending() > 0 ? std::min(unread_since_, now) : WallTime::never();
  if (unread_since_ != WallTime::never() && now - unread_since_ > patience) {
    return gone("does not read its answers");
  }
}

}  // namespace isochron::programs
