// Server and clients on real sockets, with and without handler threads.

#include "agents/server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "agents/client.hpp"

namespace isochron::agents {
namespace {

using namespace std::chrono_literals;

const link::Key key = link::Key::parse("00112233445566778899aabbccddeeff", "test");

class RunningServer {
 public:
  explicit RunningServer(ServerSettings settings, std::uint32_t clients = 0) {
    server_ = std::make_unique<Server>(reactor_, key, Address::loopback(0), settings);
    if (clients > 0) server_->expect(clients, 60s);
    thread_ = std::thread([this] { reactor_.run(); });
  }
  ~RunningServer() {
    stop();
    server_.reset();
  }
  void stop() {
    if (!thread_.joinable()) return;
    reactor_.stop();
    thread_.join();
  }
  [[nodiscard]] Address address() const { return server_->address(); }
  /// Once stopped.
  [[nodiscard]] ServerReport report() const { return server_->report(); }

 private:
  link::EpollReactor reactor_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

ClientSettings named(const std::string& name, const Address& server) {
  ClientSettings settings;
  settings.server = server;
  settings.name = name;
  return settings;
}

/// Steps one agent for so many heartbeats; gives the most that another's state was behind.
SimSpan drive(const std::string& name, const Address& server, int beats, std::atomic<std::uint64_t>& seen,
              const link::Faults& faults = {}) {
  Client client(key, named(name, server), faults);
  EXPECT_EQ(client.join(60s), "");
  const auto car = client.add(name + "_car", {}, body_type_url());
  SimSpan oldest{};
  SimTime t = client.start();
  for (int i = 0; i < beats; ++i) {
    client.publish(car, t, BodyState{.position = {t.seconds(), 0, 0}, .linear = {1, 0, 0}});
    const Turn turn = client.pass(t);
    if (turn.kind == Turn::over) {
      ADD_FAILURE() << turn.why;
      break;
    }
    if (turn.kind == Turn::begin_at) {
      t = turn.time;
      continue;
    }
    client.look([&](const StateCache& cache) {
      cache.for_each([&](const Outsider& other) {
        const Sample sample = cache.at(other, t);
        EXPECT_NEAR(sample.body->position[0], t.seconds(), 1e-6);
        oldest = std::max(oldest, sample.age);
        seen.fetch_add(1);
      });
    });
    t += client.heartbeat();
  }
  return oldest;
}

void two_clients_stay_together(unsigned handlers, const link::Faults& faults) {
  ServerSettings settings;
  settings.handlers = handlers;
  settings.world.silence = 60s;  // whatever the machine does
  settings.world.stall = 60s;
  RunningServer server(settings, 2);
  std::atomic<std::uint64_t> seen{0};
  SimSpan oldest{};
  std::thread other([&] { drive("b", server.address(), 300, seen); });
  oldest = drive("a", server.address(), 300, seen, faults);
  other.join();
  server.stop();
  EXPECT_GT(seen.load(), 100U);
  // Over a bad link more than two heartbeats are rare, but not impossible: the simulated world counts them.
  if (!faults.any()) {
    EXPECT_LE(oldest, SimSpan(10ms)) << "two heartbeats";
  }
  EXPECT_EQ(server.report().map.fenced, 0U);
  EXPECT_EQ(server.report().counts.of(Drop::forged), 0U);
}

TEST(AgentsOnRealSockets, StayTogether) { two_clients_stay_together(0, {}); }
TEST(AgentsOnRealSockets, StayTogetherWithHandlersOnThreadsOfTheirOwn) { two_clients_stay_together(2, {}); }
TEST(AgentsOnRealSockets, StayTogetherOverABadLink) {
  two_clients_stay_together(0, {.loss = 0.05, .delay = 1ms, .jitter = 500us, .reorder = true});
}

TEST(AgentsOnRealSockets, AWrongKeyIsDeclinedForGood) {
  RunningServer server({});
  Client stranger(link::Key::parse("ffffffffffffffffffffffffffffffff", "test"), named("a", server.address()));
  EXPECT_EQ(stranger.join(60s), "the key is not the right one");
}

TEST(AgentsOnRealSockets, ASecondClientOfTheSameNameHasToWait) {
  RunningServer server({});
  Client first(key, named("a", server.address()));
  EXPECT_EQ(first.join(60s), "");
  Client second(key, named("a", server.address()));
  EXPECT_EQ(second.join(300ms), "a client named a is here");
}

}  // namespace
}  // namespace isochron::agents
