#pragma once
// A whole world on the simulated machine: a server, clients that each step some agents, and whatever goes wrong. Used
// by tests that run it for many seeds.

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agents/client_link.hpp"
#include "agents/server.hpp"
#include "testing/reactor.hpp"

namespace isochron::agents {

using namespace std::chrono_literals;

inline const Address server_host = Address::v4(10, 0, 0, 1, 0);
inline const link::Key the_key = link::Key::parse("000102030405060708090a0b0c0d0e0f", "test");

/// Nonces from a seed, so that one seed gives one history.
inline link::NonceSource seeded_nonces(std::uint64_t seed, const std::string& name) {
  return [random = std::make_shared<RandomStream>(seed, name)] {
    link::Nonce nonce;
    for (auto& byte : nonce) byte = static_cast<std::byte>(random->bits());
    return nonce;
  };
}

/// A process with a server in it.
class SimulatedServer {
 public:
  SimulatedServer(SimulatedNetwork& network, std::uint64_t seed, ServerSettings settings)
      : reactor_(network, server_host) {
    settings.door.nonces = seeded_nonces(seed, "server");
    settings.world.silence = settings.world.gather = 1s;
    server_ = std::make_unique<Server>(reactor_, the_key, server_host.with_port(7420), settings);
  }
  ~SimulatedServer() { server_.reset(); }
  void kill() { reactor_.kill(); }
  [[nodiscard]] Server& server() { return *server_; }
  [[nodiscard]] SimulatedReactor& reactor() { return reactor_; }

 private:
  SimulatedReactor reactor_;
  std::unique_ptr<Server> server_;
};

/// A process that simulates some agents: they walk east; each step takes some wall time.
class SimulatedClient {
 public:
  struct Settings {
    int agents = 2;
    WallSpan step_min = 200us, step_max = 1ms;
    double y = 0, spacing = 5, speed = 1;
    SimTime until = SimTime::never();
  };
  SimulatedClient(SimulatedNetwork& network, const std::string& name, int host, std::uint64_t seed, Settings settings)
      : name_(name),
        settings_(settings),
        reactor_(network, Address::v4(10, 0, 1, static_cast<std::uint8_t>(host), 0)),
        random_(seed, name),
        shared_(5ms),
        link_(reactor_, the_key, shared_,
              {.server = server_host.with_port(7420),
               .name = name,
               .lost_after = 300ms,
               .retry = 50ms,
               .nonces = seeded_nonces(seed, name)}) {
    for (int i = 0; i < settings_.agents; ++i) {
      shared_.cache.add(name + "/" + std::to_string(i), {}, to_any(BodyState{}).type_url());
    }
    publish();
    link_.set_waiting(true);
    link_.on_news([this] { poll(); });
    link_.start();
  }
  [[nodiscard]] StateCache& cache() { return shared_.cache; }
  [[nodiscard]] SharedCache& shared() { return shared_; }
  [[nodiscard]] ClientLink& link() { return link_; }
  [[nodiscard]] SimulatedReactor& reactor() { return reactor_; }
  [[nodiscard]] SimTime time() const { return time_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int skips() const { return skips_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// A liar does not wait.
  void set_liar(bool liar) { liar_ = liar; }
  /// Says what it has to say again and again, so many times each millisecond.
  void flood(int times) {
    for (int i = 0; i < times; ++i) link_.flush();
    reactor_.call_at(reactor_.now() + WallSpan(1ms), [this, times] { flood(times); });
  }
  void leave() {
    left_ = true;
    link_.leave();
  }

  /// What everybody must be able to say of its own picture: no name twice, none of its own.
  void check_picture() {
    std::set<std::string> names;
    shared_.cache.for_each([&](const Outsider& agent) {
      EXPECT_TRUE(names.insert(agent.name).second) << agent.name << " is there twice";
      EXPECT_NE(agent.name.substr(0, agent.name.find('/')), name_) << "sees itself";
    });
  }

 private:
  void publish() {
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(settings_.agents); ++i) {
      BodyState body;
      body.position = {time_.seconds() * settings_.speed + i * settings_.spacing, settings_.y, 0};
      body.linear = {settings_.speed, 0, 0};
      shared_.cache.publish(i, time_, body);
    }
    shared_.cache.reached(time_);
  }
  /// As a simulation thread would: asks whether it may go on, and goes on.
  void poll() {
    if (left_) return;
    StateCache& cache = shared_.cache;
    if (const auto begin = cache.begin_at(); begin && !busy_) {
      time_ = *begin;
      ++skips_;
      publish();
      link_.flush();
    } else if (!busy_ && time_ < settings_.until && (cache.may_pass(time_) || (liar_ && cache.inside()))) {
      busy_ = true;
      link_.set_waiting(false);
      const auto range = static_cast<std::uint64_t>((settings_.step_max - settings_.step_min).ns()) + 1;
      const WallSpan cost = settings_.step_min + WallSpan::from_ns(static_cast<std::int64_t>(random_.below(range)));
      reactor_.call_at(reactor_.now() + cost, [this] { finish_step(); });
    }
  }
  void finish_step() {
    busy_ = false;
    ++steps_;
    time_ += shared_.cache.heartbeat();
    publish();
    link_.set_waiting(!shared_.cache.may_pass(time_));
    link_.flush();
    poll();
  }

  std::string name_;
  Settings settings_;
  SimulatedReactor reactor_;
  RandomStream random_;
  SharedCache shared_;
  ClientLink link_;
  SimTime time_ = SimTime::zero();
  bool busy_ = false, left_ = false, liar_ = false;
  int skips_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace isochron::agents
