// Ten percent of all datagrams lost, on the simulated machine: does it go on, and how far apart do clients get?

#include <algorithm>
#include <cstdio>

#include "agents/bench/parts.hpp"
#include "agents/client_link.hpp"
#include "agents/server.hpp"
#include "testing/reactor.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;
using namespace agents;

const Address server_host = Address::v4(10, 0, 0, 1, 0);

link::NonceSource drawn_by(std::uint64_t seed) {
  return [random = std::make_shared<RandomStream>(seed, "nonces")] {
    link::Nonce nonce;
    for (auto& byte : nonce) byte = static_cast<std::byte>(random->bits());
    return nonce;
  };
}

/// Steps one agent, half a millisecond of wall time for each heartbeat.
class Stepper {
 public:
  Stepper(SimulatedNetwork& network, const link::Key& key, int number)
      : reactor_(network, Address::v4(10, 0, 1, static_cast<std::uint8_t>(number + 1), 0)),
        shared_(5ms),
        link_(reactor_, key, shared_,
              {.server = server_host.with_port(7420),
               .name = "c" + std::to_string(number),
               .nonces = drawn_by(static_cast<std::uint64_t>(number))}) {
    shared_.cache.add("agent" + std::to_string(number), {}, to_any(BodyState{}).type_url());
    publish();
    link_.set_waiting(true);
    link_.on_news([this] { look(); });
    link_.start();
  }
  [[nodiscard]] SimTime time() const { return time_; }

 private:
  void publish() {
    shared_.cache.publish(0, time_, BodyState{});
    shared_.cache.reached(time_);
  }
  void look() {
    if (busy_) return;
    if (const auto begin = shared_.cache.begin_at()) {
      time_ = *begin;
      publish();
      link_.flush();
    } else if (shared_.cache.may_pass(time_)) {
      busy_ = true;
      link_.set_waiting(false);
      reactor_.call_at(reactor_.now() + WallSpan(500us), [this] { step(); });
    }
  }
  void step() {
    busy_ = false;
    time_ += shared_.cache.heartbeat();
    publish();
    link_.set_waiting(!shared_.cache.may_pass(time_));
    link_.flush();
    look();
  }
  SimulatedReactor reactor_;
  SharedCache shared_;
  ClientLink link_;
  SimTime time_ = SimTime::zero();
  bool busy_ = false;
};

}  // namespace

void bench_bad_network(Report& report) {
  constexpr std::int64_t heartbeats = 100'000;
  Scheduler scheduler(1);
  SimulatedNetwork network(scheduler);
  LinkQuality quality;
  quality.loss = 0.1;
  network.set_quality(quality);
  const link::Key key = link::Key::parse("00112233445566778899aabbccddeeff", "bench");
  SimulatedReactor reactor(network, server_host);
  ServerSettings settings;
  settings.door.nonces = drawn_by(99);
  Server server(reactor, key, server_host.with_port(7420), settings);
  server.expect(4, 5s);
  std::vector<std::unique_ptr<Stepper>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<Stepper>(network, key, i));
  std::vector<std::int64_t> drifts;
  SimTime least = SimTime::zero();
  for (SimTime before = SimTime::before_all(); least < SimTime::zero() + heartbeats * SimSpan(5ms);) {
    scheduler.run_for(5ms);
    SimTime most = SimTime::zero();
    least = SimTime::never();
    for (const auto& client : clients) {
      least = std::min(least, client->time());
      most = std::max(most, client->time());
    }
    drifts.push_back((most - least).ns());
    if (drifts.size() % 4000 == 0 && std::exchange(before, least) == least) break;  // 20 s without progress: a deadlock
  }
  std::sort(drifts.begin(), drifts.end());
  const double done = static_cast<double>(least.ns()) / 5e6;
  report.at_least("heartbeats_without_deadlock_at_10_percent_loss", done, "", static_cast<double>(heartbeats));
  report.at_most("drift_p99_at_10_percent_loss_in_heartbeats",
                 static_cast<double>(drifts[drifts.size() * 99 / 100]) / 5e6, "", 3);
  report.at_most("drift_max_at_10_percent_loss_in_heartbeats", static_cast<double>(drifts.back()) / 5e6, "", 3);
  clients.clear();
}

}  // namespace isochron::bench
