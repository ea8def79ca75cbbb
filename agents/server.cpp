#include "agents/server.hpp"

#include <cstring>

#include "agents/handler_pool.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/limits.hpp"

namespace isochron::agents {
namespace {

constexpr WallSpan scan_every = std::chrono::milliseconds(100);

std::uint64_t drawn(const link::NonceSource& nonces) {
  const link::Nonce nonce = nonces();
  std::uint64_t number = 0;
  std::memcpy(&number, nonce.data(), sizeof number);
  return number | 1;  // never zero
}

template <class T>
T usable(Result<T, NetError> result) {
  if (!result) throw InputError({"", 0, 0}, "cannot serve at " + result.error().what, "choose another address or port");
  return std::move(result).value();
}

}  // namespace

Server::Server(Reactor& reactor, const link::Key& key, const Address& at, const ServerSettings& settings)
    : reactor_(reactor),
      settings_(settings),
      map_(settings.world),
      downlink_(map_, settings.downlink),
      handler_(settings.limits),
      door_(reactor, key, settings.door,
            [this](const wire::ConnectRequest& request, const link::SessionKeys& keys, const Address& peer) {
              return admit(request, keys, peer);
            }),
      epoch_(drawn(settings.door.nonces)),
      scanned_(reactor.now()) {
  listener_ = usable(reactor_.listen(at, [this](std::unique_ptr<Stream> stream) { door_.receive(std::move(stream)); }));
  port_ = usable(reactor_.open_datagrams(at.with_port(listener_->local().port)));
  if (settings_.handlers > 0) {
    pool_ = std::make_unique<HandlerPool>(settings_.handlers, settings_.limits, [this] {
      reactor_.post([this] {
        const WallTime now = reactor_.now();
        pool_->drain([&](HandlerPool::Result& r) { apply(r.connection, r.newest, r.from, r.up, now); });
        speak(now);
      });
    });
  }
  port_->set_receiver([this](std::span<const Datagram> datagrams) { receive(datagrams); });
  beat();
}

Server::~Server() {
  reactor_.cancel(timer_);
  pool_.reset();
}

Admitted Server::admit(const wire::ConnectRequest& request, const link::SessionKeys& keys, const Address& peer) {
  const WallTime now = reactor_.now();
  Admitted admitted;
  if (first_bad_byte(request.name()) != std::string::npos) {
    admitted.declined = "a client's name is text, without control characters";
    admitted.final = true;
    return admitted;
  }
  if (auto why = map_.refusal(request.name(), now)) {
    admitted.declined = std::move(*why);
    return admitted;
  }
  admitted.connection = drawn(settings_.door.nonces);
  Profile& client = map_.add(admitted.connection, request.name(), request.updates(), now);
  client.sealer.emplace(keys.to_client);
  client.datagram_bytes = peer.is_loopback() ? largest_local_datagram : largest_datagram;
  const bool can_be = limits::is_time(request.resume().progress_ns());
  if (request.has_resume() && request.resume().epoch() != epoch_ && can_be) {
    map_.expect(request.resume().clients(), SimTime::from_ns(request.resume().progress_ns()), now,
                settings_.world.gather);
  }
  forget_ended();
  if (pool_) {
    pool_->add(admitted.connection, keys.to_server, client.datagram_bytes);
  } else {
    handler_.add(admitted.connection, keys.to_server, client.datagram_bytes);
  }
  wire::WorldInfo& world = admitted.world;
  world.set_sim_time_ns(map_.minimum().ns());
  world.set_heartbeat_ns(settings_.world.heartbeat.ns());
  world.set_epoch(epoch_);
  world.set_udp_port(port_->local().port);
  world.set_vicinity(settings_.world.vicinity);
  world.set_refresh_ms(static_cast<std::uint32_t>(settings_.world.silence.ns() / 6'000'000));
  world.set_datagram_bytes(static_cast<std::uint32_t>(client.datagram_bytes));
  map_.snapshot(client, world);
  return admitted;
}

void Server::receive(std::span<const Datagram> datagrams) {
  const WallTime now = reactor_.now();
  if (pool_) return pool_->hand_out(datagrams, now);
  for (const Datagram& datagram : datagrams) {
    const auto passed = handler_.take(datagram.bytes, now, up_);
    if (passed) apply(passed->connection, passed->newest, datagram.address, up_, now);
  }
  speak(now);
}

void Server::apply(Connection connection, bool newest, const Address& from, wire::RawUp& up, WallTime now) {
  Profile* client = map_.find(connection);
  if (client == nullptr) return;
  if (newest) client->endpoint = from;  // wherever it is now: it holds the key, and this is its latest word
  if (map_.take(*client, up, now) == WorldMap::Heard::fenced) {
    downlink_.say_gone(*client);
    map_.remove(connection, "it was fenced off");
  }
}

void Server::forget_ended() {
  for (const Connection connection : map_.take_ended()) {
    pool_ ? pool_->remove(connection) : handler_.remove(connection);
  }
}

void Server::speak(WallTime now) {
  forget_ended();
  downlink_.gather(now);
  const auto batch = downlink_.batch();
  if (!batch.empty()) port_->send(batch);
  downlink_.clear();
}

/// A few milliseconds after whatever happened last: what was quiet is said, who was silent is noticed.
void Server::beat() {
  const WallTime now = reactor_.now();
  if (now - scanned_ >= scan_every) {
    map_.scan(now);
    scanned_ = now;
  }
  map_.settle(now);
  speak(now);
  const WallSpan pause = map_.clients().empty() ? scan_every : settings_.downlink.quiet;
  timer_ = reactor_.call_at(now + pause, [this] { beat(); });
}

ServerReport Server::report() const {
  ServerReport report;
  report.minimum = map_.minimum();
  report.clients = map_.clients().size();
  report.in_world = map_.in_world();
  report.agents = map_.shown();
  report.strangers = door_.strangers();
  report.sent = downlink_.datagrams();
  report.counts = pool_ ? pool_->counts() : handler_.counts();
  report.map = map_.counts();
  return report;
}

}  // namespace isochron::agents
