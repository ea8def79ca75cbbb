#include "link/federation.hpp"

#include <algorithm>
#include <cstring>

#include "core/log.hpp"
#include "core/time_text.hpp"

namespace isochron::link {
namespace {

constexpr WallSpan tick_every = std::chrono::milliseconds(10);

/// FNV-1a: the same number on every machine and in every build.
std::uint64_t number_of(const Roster& roster) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const char c : roster.federation) add(static_cast<std::uint8_t>(c));
  for (unsigned i = 0; i < 8; ++i) add(static_cast<std::uint8_t>(roster.runs >> (8 * i)));
  for (const std::string& name : roster.names) {
    for (const char c : name) add(static_cast<std::uint8_t>(c));
    add(0);
  }
  return hash;
}

std::uint64_t draw_session() {
  const Nonce nonce = system_nonce();
  std::uint64_t number = 0;
  std::memcpy(&number, nonce.data(), sizeof number);
  return number == 0 ? 1 : number;
}

}  // namespace

Federation::Federation(Carrier& carrier, Clock& clock, Roster roster, Options options)
    : carrier_(carrier),
      clock_(clock),
      roster_(std::move(roster)),
      options_(std::move(options)),
      number_(number_of(roster_)),
      sessions_(roster_.names.size()) {
  std::uint64_t session = draw_session();
  if (options_.life) session = Session::number_of_life(session, *options_.life);
  for (const std::uint32_t peer : roster_.peers) {
    Packet address;
    address.federation = number_;
    address.from = roster_.self;
    address.to = peer;
    const auto transmit = [this, peer](const Packet& packet) {
      write_packet(out_, packet, options_.key);
      taking_ ? carrier_.answer(peer, out_) : carrier_.send(peer, out_);
    };
    sessions_[peer] =
        std::make_unique<Session>(address, session, options_.timing, transmit,
                                  carrier.lossless() ? Session::Carriage::lossless : Session::Carriage::may_lose,
                                  options_.life ? Session::Lives::several : Session::Lives::one);
  }
}

void Federation::start(Events events) {
  events_ = std::move(events);
  carrier_.start({[this](std::span<const std::byte> bytes) { return take(bytes); },
                  [this] {
                    tick();
                    if (events_.round) events_.round();
                  },
                  [this](std::uint32_t member) {
                    if (member < sessions_.size() && sessions_[member]) sessions_[member]->out_of_sight();
                  },
                  [this](std::uint32_t member) { rerouted(member); }});
}

void Federation::send(std::uint32_t to, std::span<const std::byte> bytes) { sessions_[to]->send(bytes, clock_.now()); }

void Federation::set_news(const std::string& news) {
  for (auto& session : sessions_) {
    if (session) session->set_news(news);
  }
}

void Federation::bye(const std::string& reason) {
  for (auto& session : sessions_) {
    if (session) session->bye(reason, clock_.now());
  }
}

void Federation::meet_stranger(const std::string& what) {
  ++strangers_;
  if (told_.size() < 16 && told_[what]++ == 0 && events_.stranger) events_.stranger(what);
}

std::optional<std::uint32_t> Federation::take(std::span<const std::byte> bytes) {
  const auto packet = read_packet(bytes, options_.key);
  if (!packet) {
    meet_stranger(packet.error());
    return std::nullopt;
  }
  if (packet->federation != number_) {
    meet_stranger("a packet of another federation, or of one that runs another scenario");
    return std::nullopt;
  }
  if (packet->to != roster_.self || packet->from >= sessions_.size() || !sessions_[packet->from]) {
    meet_stranger("a packet from or for somebody else");
    return std::nullopt;
  }
  Session& session = *sessions_[packet->from];
  const Before was = before(packet->from);
  taking_ = true;
  const Session::Taken taken = session.take(*packet, clock_.now());
  taking_ = false;
  after(packet->from, was);
  if (taken.restarted != 0 && events_.restarted) events_.restarted(packet->from, taken.restarted);
  if (!taken.bytes.empty() && events_.bytes) events_.bytes(packet->from, taken.bytes);
  if (!taken.genuine) return std::nullopt;
  return packet->from;
}

void Federation::rerouted(std::uint32_t member) {
  if (member >= sessions_.size() || !sessions_[member]) return;
  const std::uint32_t stream = sessions_[member]->restart();
  if (stream != 0 && events_.restart) events_.restart(member, stream);
}

void Federation::expect_again(std::uint32_t who, std::uint32_t life, const Address& at) {
  if (who >= sessions_.size() || !sessions_[who] || life < sessions_[who]->life()) return;
  const Before was = before(who);
  sessions_[who]->expect_life(life);
  carrier_.moved(who, at);
  after(who, was);
}

void Federation::after(std::uint32_t who, const Before& before) {
  const Session::State now = sessions_[who]->state();
  const bool another = sessions_[who]->life() != before.life;
  if (another && events_.begins_again) events_.begins_again(who);
  if (now == before.state && !another) return;
  const std::string& name = roster_.names[who];
  if (now == Session::State::joined) inform("network", name + " is there");
  if (now == Session::State::left || now == Session::State::refused) inform("network", name + " has left");
  if (now == Session::State::joined && sessions_[who]->holed()) rerouted(who);
  if (now == Session::State::joined && events_.joined) events_.joined(who);
  if ((now == Session::State::left || now == Session::State::refused) && events_.left) events_.left(who);
}

void Federation::tick() {
  const WallTime now = clock_.now();
  if (now - ticked_ < tick_every) return;
  ticked_ = now;
  for (const std::uint32_t peer : roster_.peers) {
    const Before was = before(peer);
    sessions_[peer]->tick(now);
    after(peer, was);
  }
}

bool Federation::all_joined() const {
  return std::ranges::none_of(
      roster_.peers, [this](std::uint32_t peer) { return sessions_[peer]->state() == Session::State::knocking; });
}

bool Federation::drained() const {
  return std::ranges::all_of(roster_.peers, [this](std::uint32_t peer) {
    const bool there = sessions_[peer]->state() == Session::State::joined;
    return sessions_[peer]->drained() && (!there || carrier_.flushed(peer));
  });
}

bool Federation::all_left() const {
  return std::ranges::all_of(roster_.peers, [this](std::uint32_t peer) {
    const Session::State state = sessions_[peer]->state();
    return state == Session::State::left || state == Session::State::refused;
  });
}

std::uint64_t Federation::resent() const {
  std::uint64_t all = 0;
  for (const std::uint32_t peer : roster_.peers) all += sessions_[peer]->resent();
  return all;
}

std::vector<std::string> Federation::troubles() {
  const WallTime now = clock_.now();
  std::vector<std::string> all;
  for (const std::uint32_t peer : roster_.peers) {
    const Session& session = *sessions_[peer];
    const std::string& name = roster_.names[peer];
    if (session.state() == Session::State::knocking) all.push_back(name + " has not come yet");
    if (session.state() == Session::State::refused) all.push_back(name + " refused us: " + session.why());
    if (session.state() == Session::State::left && !session.left_cleanly()) {
      all.push_back(name + " is gone: " + session.why());
    }
    if (session.silent(now)) {
      all.push_back("nothing heard of " + name + " for " + format_ns_short((now - session.heard_at()).ns()));
    } else if (session.state() == Session::State::joined && !session.news().empty()) {
      all.push_back(name + " says: " + session.news());
    }
  }
  return all;
}

}  // namespace isochron::link
