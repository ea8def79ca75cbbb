#include "link/session.hpp"

#include <algorithm>

#include "core/foreign_text.hpp"

namespace isochron::link {
namespace {

constexpr std::uint32_t most_owed = 64;  // data packets that go without an answer
constexpr std::size_t most_text = 400;
constexpr unsigned life_bits = 16;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), std::min(text.size(), most_text)));
}

std::string text_of(std::span<const std::byte> body) {
  return foreign_text({reinterpret_cast<const char*>(body.data()), body.size()}, most_text);
}

}  // namespace

Session::Session(const Packet& address, std::uint64_t session, const SessionTiming& timing, Transmit transmit,
                 Carriage carriage, Lives lives)
    : address_(address),
      session_(session),
      timing_(timing),
      transmit_(std::move(transmit)),
      carriage_(carriage),
      lives_(lives) {
  ENSURE(session != 0, "session 0 means none");
}

void Session::transmit(PacketKind kind, std::span<const std::byte> body, std::uint64_t heard, WallTime now) {
  Packet packet = address_;
  packet.kind = kind;
  packet.session = session_;
  packet.heard = heard;
  packet.ack = expected_ - 1;
  packet.turn = ++turn_;
  packet.body = body;
  sent_at_ = now;
  if (heard == peer_) {
    owed_ = 0;
    owes_ack_at_ = WallTime::never();
  }
  transmit_(packet);
}

void Session::transmit_data(std::uint64_t number, std::span<const std::byte> bytes, WallTime now) {
  Packet packet = address_;
  packet.kind = PacketKind::data;
  packet.session = session_;
  packet.heard = peer_;
  packet.number = number;
  packet.ack = expected_ - 1;
  packet.turn = ++turn_;
  packet.stream = carriage_ == Carriage::lossless ? stream_ : 0;
  packet.body = bytes;
  sent_at_ = now;
  owed_ = 0;
  owes_ack_at_ = WallTime::never();
  transmit_(packet);
}

void Session::knock(WallTime now) { transmit(PacketKind::knock, bytes_of(own_news_), peer_, now); }

void Session::send(std::span<const std::byte> bytes, WallTime now) {
  if (state_ == State::left || state_ == State::refused) return;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), largest_body));
    bytes = bytes.subspan(part.size());
    if (carriage_ == Carriage::lossless) {
      holed_ = holed_ || state_ != State::joined;
      if (!holed_) transmit_data(next_number_++, part, now);
      continue;
    }
    std::vector<std::byte> copy;
    if (!spare_.empty()) {
      copy = std::move(spare_.back());
      spare_.pop_back();
    }
    copy.assign(part.begin(), part.end());
    if (kept_.empty()) oldest_sent_ = now;
    kept_.push_back({next_number_++, std::move(copy)});
    if (state_ == State::joined) transmit_data(kept_.back().number, kept_.back().bytes, now);
  }
}

void Session::acknowledge(std::uint64_t up_to, WallTime now) {
  bool any = false;
  for (; !kept_.empty() && kept_.front().number <= up_to; any = true) {
    if (spare_.size() < 16) spare_.push_back(std::move(kept_.front().bytes));
    kept_.pop_front();
  }
  if (any) oldest_sent_ = now;  // the rest was sent later than what was acknowledged
}

void Session::leave(std::string why, bool cleanly) {
  state_ = State::left;
  why_ = std::move(why);
  cleanly_ = cleanly;
  kept_.clear();
}

/// Somebody else speaks in the peer's name, or a packet of an older run was sent again. Only who knows our number
/// lives.
void Session::meet_other_claimant(const Packet& packet, WallTime now) {
  if (!silent(now)) {
    static const std::string taken = "another process has this name and is already taking part";
    transmit(PacketKind::refuse, bytes_of(taken), packet.session, now);
  } else if (packet.heard == session_) {
    leave("it was started anew; what it knew is gone", false);
  } else {
    transmit(PacketKind::knock, bytes_of(own_news_), packet.session, now);
  }
}

std::uint64_t Session::number_of_life(std::uint64_t random, std::uint32_t life) {
  return (random >> life_bits) | (std::uint64_t{life} << (64 - life_bits)) | 1U;
}

void Session::expect_life(std::uint32_t life) {
  if (life > life_) begin_life(life);
}

void Session::begin_life(std::uint32_t life) {
  life_ = life;
  state_ = State::knocking;
  peer_ = 0;
  turns_ = {};
  next_number_ = expected_ = 1;
  stream_heard_ = 0;
  kept_.clear();
  holed_ = carriage_ == Carriage::lossless;  // so that a stream begins when it is there
  out_of_sight_ = cleanly_ = false;
  why_.clear();
  news_.clear();
}

/// Whether the packet is of the peer's present life. A later one has to show first that it is alive.
bool Session::of_this_life(const Packet& packet, WallTime now) {
  if (lives_ == Lives::one) return true;
  const auto life = static_cast<std::uint32_t>(packet.session >> (64 - life_bits));
  if (life > life_ && packet.heard == session_) begin_life(life);
  if (life > life_) transmit(PacketKind::knock, bytes_of(own_news_), packet.session, now);
  return life == life_;
}

void Session::join(const Packet& packet, WallTime now) {
  state_ = State::joined;
  peer_ = packet.session;
  turns_ = {};
  oldest_sent_ = now;
  knock(now);
  for (const Kept& kept : kept_) transmit_data(kept.number, kept.bytes, now);
}

/// Of the adopted peer, which knows us; and it did not come before.
bool Session::is_fresh(const Packet& packet) {
  return packet.session == peer_ && packet.heard == session_ &&
         turns_.take(packet.turn) == ReplayWindow::Verdict::fresh;
}

/// Whether the packet is of the peer that we talk to, now that it is adopted if it can be.
bool Session::adopt(const Packet& packet, WallTime now) {
  const bool knows_us = packet.heard == session_;
  if (state_ == State::joined && packet.session != peer_) {
    meet_other_claimant(packet, now);
    return false;
  }
  if (!knows_us) {
    if (state_ == State::knocking) {
      peer_ = packet.session;
      knock(now);  // so that it knows us with the next packet; what it was told before may have been lost
    }
    return false;
  }
  if (state_ == State::knocking) join(packet, now);
  return is_fresh(packet);
}

void Session::take_refusal(const Packet& packet) {
  const bool ours = packet.heard == session_ && (state_ == State::knocking || packet.session == peer_);
  if (!ours) return;
  state_ = State::refused;
  why_ = text_of(packet.body);
}

Session::Taken Session::take(const Packet& packet, WallTime now) {
  if (state_ == State::refused || packet.session == 0 || !of_this_life(packet, now)) return {};
  if (state_ == State::left) return {cleanly_ && is_fresh(packet), {}};  // it waits for our bye
  if (packet.kind == PacketKind::refuse) return take_refusal(packet), Taken{};
  if (!adopt(packet, now)) return {};
  heard_at_ = now;
  out_of_sight_ = false;
  acknowledge(packet.ack, now);
  if (packet.kind == PacketKind::data) {
    return carriage_ == Carriage::lossless ? take_streamed(packet) : take_data(packet, now);
  }
  if (packet.kind == PacketKind::bye) {
    leave(text_of(packet.body), true);
  } else {
    news_ = text_of(packet.body);
  }
  return {true, {}};
}

Session::Taken Session::take_data(const Packet& packet, WallTime now) {
  if (owed_++ == 0) owes_ack_at_ = now + timing_.ack_within;
  if (packet.number != expected_) return {true, {}};  // seen already, or something before it was lost and comes again
  ++expected_;
  if (owed_ >= most_owed) knock(now);
  return {true, packet.body};
}

/// A stream is taken from its beginning on, and only while nothing is missing.
Session::Taken Session::take_streamed(const Packet& packet) {
  Taken taken{true, {}};
  if (packet.stream > stream_heard_ && packet.number == 1) {
    if (packet.stream > 1) taken.restarted = packet.stream;
    stream_heard_ = packet.stream;
    expected_ = 1;
  }
  if (packet.stream != stream_heard_ || packet.number != expected_) return taken;  // of a stream that was broken off
  ++expected_;
  taken.bytes = packet.body;
  return taken;
}

std::uint32_t Session::restart() {
  if (carriage_ != Carriage::lossless || state_ != State::joined) return 0;
  next_number_ = 1;
  holed_ = false;
  return ++stream_;
}

bool Session::silent(WallTime now) const {
  return state_ == State::joined && (out_of_sight_ || now - heard_at_ > timing_.silent);
}

void Session::tick(WallTime now) {
  if (state_ == State::left || state_ == State::refused) return;
  if (state_ == State::joined && now - heard_at_ > timing_.lost) {
    leave("it fell silent", false);
    return;
  }
  if (state_ == State::joined && !kept_.empty() && now - oldest_sent_ > timing_.resend) {
    for (const Kept& kept : kept_) transmit_data(kept.number, kept.bytes, now);
    resent_ += kept_.size();
    oldest_sent_ = now;
  }
  if (now >= owes_ack_at_ || now - sent_at_ > timing_.knock) knock(now);
}

void Session::bye(const std::string& reason, WallTime now) {
  // Also to one that said bye first: it stays until it has heard ours.
  if (state_ == State::joined || cleanly_) transmit(PacketKind::bye, bytes_of(reason), peer_, now);
}

}  // namespace isochron::link
