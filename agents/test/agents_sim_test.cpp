// Whole worlds on the simulated machine, for many seeds: lossy links, kills, restarts, liars.

#include <algorithm>
#include <map>

#include "agents/test/simulated_world.hpp"
#include "testing/seeds.hpp"

namespace isochron::agents {
namespace {

struct Machine {
  explicit Machine(std::uint64_t seed) : scheduler(seed), network(scheduler) {}
  Scheduler scheduler;
  SimulatedNetwork network;
};

/// Progress of those whom the server counts as being in the world, as they are, not as the server knows them.
SimSpan true_drift(const Server& server, const std::vector<std::unique_ptr<SimulatedClient>>& clients) {
  SimTime least = SimTime::never(), most = SimTime::before_all();
  for (const auto& client : clients) {
    if (!client) continue;
    for (const auto& known : server.world().clients()) {
      if (known->name != client->name() || known->standing != Standing::live) continue;
      if (known->connection != client->cache().connection()) continue;
      least = std::min(least, client->time());
      most = std::max(most, client->time());
    }
  }
  return least == SimTime::never() ? SimSpan::zero() : most - least;
}

TEST(AgentsInASimulatedNetwork, SeeEachOtherAndStayWithinThreeHeartbeats) {
  Machine machine(1);
  SimulatedServer server(machine.network, 1, {});
  std::vector<std::unique_ptr<SimulatedClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<SimulatedClient>(machine.network, "c" + std::to_string(i), 1 + i, 1,
                                                        SimulatedClient::Settings{}));
  }
  for (int i = 0; i < 300; ++i) {
    machine.scheduler.run_for(10ms);
    EXPECT_LE(true_drift(server.server(), clients), SimSpan(15ms));
  }
  for (const auto& client : clients) {
    EXPECT_GT(client->time(), SimTime::zero() + SimSpan(5s)) << "0.6 ms a step of 5 ms, for 3 s";
    EXPECT_EQ(client->cache().size(), 6U);
    client->check_picture();
  }
  const auto sample = clients[0]->cache().at("c1/1", clients[0]->time());
  ASSERT_TRUE(sample && sample->body);
  EXPECT_NEAR(sample->body->position[0], clients[0]->time().seconds() + 5, 1e-6);
  clients.clear();
}

enum class Vice { none, floods, stalls, lies };

/// Steps that three clients take in five seconds beside one that misbehaves, once it had three seconds to do so.
std::uint64_t steps_beside(Vice vice) {
  Machine machine(1);
  ServerSettings settings;
  settings.world.stall = 1s;
  SimulatedServer server(machine.network, 1, settings);
  std::vector<std::unique_ptr<SimulatedClient>> clients;
  for (int i = 0; i < 4; ++i) {
    SimulatedClient::Settings how;
    how.step_min = how.step_max = 600us;
    if (i == 3 && vice == Vice::stalls) how.until = SimTime::zero() + SimSpan(500ms);
    if (i == 3 && vice == Vice::lies) how.step_min = how.step_max = 100us;
    clients.push_back(std::make_unique<SimulatedClient>(machine.network, "c" + std::to_string(i), 1 + i, 1, how));
  }
  machine.scheduler.run_for(100ms);
  if (vice == Vice::floods) clients[3]->flood(40);
  if (vice == Vice::lies) clients[3]->set_liar(true);
  machine.scheduler.run_for(3s);
  const auto steps = [&] { return clients[0]->steps() + clients[1]->steps() + clients[2]->steps(); };
  const std::uint64_t before = steps();
  machine.scheduler.run_for(5s);
  const ServerReport report = server.server().report();
  if (vice == Vice::floods) {
    EXPECT_GT(report.counts.of(Drop::flood), 50'000U);
  }
  if (vice == Vice::stalls) {
    EXPECT_EQ(report.map.stalled, 2U) << "it came back once, and stalled again";
  }
  if (vice == Vice::lies) {
    EXPECT_GE(report.map.fenced, 3U);
  }
  const std::uint64_t taken = steps() - before;
  clients.clear();
  return taken;
}

TEST(AgentsInASimulatedNetwork, OthersGoOnWhileOneFloodsStallsOrLies) {
  const auto alone = static_cast<double>(steps_beside(Vice::none));
  EXPECT_GT(static_cast<double>(steps_beside(Vice::floods)), 0.95 * alone);
  EXPECT_GT(static_cast<double>(steps_beside(Vice::stalls)), 0.95 * alone);
  EXPECT_GT(static_cast<double>(steps_beside(Vice::lies)), 0.95 * alone);
}

struct Chaos {
  std::uint64_t worst_hundredth = 0, samples = 0, skips = 0, kills = 0, restarts = 0, returned = 0;
};

/// Four clients on a bad network for some seconds, with kills of clients and of the server at random moments.
void live_through(std::uint64_t seed, Chaos& chaos) {
  Machine machine(seed);
  RandomStream random = machine.scheduler.random("chaos");
  LinkQuality quality = LinkQuality::drawn(random);
  quality.loss = std::min(quality.loss, 0.15);
  quality.corrupt = random.chance(0.3) ? 0.02 : 0;
  quality.delay_max = std::min(quality.delay_max, WallSpan(20ms));
  quality.bytes_per_s = 0;
  machine.network.set_quality(quality);
  auto server = std::make_unique<SimulatedServer>(machine.network, seed, ServerSettings{});
  std::vector<std::unique_ptr<SimulatedClient>> clients(4);
  int incarnations = 0;
  const auto start = [&](int i) {
    clients[static_cast<std::size_t>(i)] = std::make_unique<SimulatedClient>(
        machine.network, "c" + std::to_string(i), 1 + i, seed + 1000 * static_cast<std::uint64_t>(++incarnations),
        SimulatedClient::Settings{.y = 3.0 * i});
  };
  for (int i = 0; i < 3; ++i) start(i);  // the last one comes later
  std::vector<std::int64_t> drifts;
  for (int round = 0; round < 250; ++round) {
    machine.scheduler.run_for(10ms);
    drifts.push_back(true_drift(server->server(), clients).ns());
    for (const auto& client : clients) {
      if (client) client->check_picture();
    }
    if (::testing::Test::HasFailure()) break;
    if (round == 60) start(3);
    if (round > 80 && random.chance(0.02)) {  // kill -9 and, after a while, a new process of the same name
      const auto victim = random.below(4);
      ++chaos.kills;
      if (clients[victim]) {
        clients[victim]->reactor().kill();
        clients[victim].reset();
      } else {
        start(static_cast<int>(victim));
      }
    }
    if (round > 80 && random.chance(0.006)) {
      ++chaos.restarts;
      server->kill();
      server = std::make_unique<SimulatedServer>(machine.network, seed + 7777 + static_cast<std::uint64_t>(round),
                                                 ServerSettings{});
    }
  }
  // Once nothing is done to them any more, all get in and go on.
  for (int i = 0; i < 4; ++i) {
    if (!clients[static_cast<std::size_t>(i)]) start(i);
  }
  machine.scheduler.run_for(4s);
  std::vector<SimTime> before;
  for (const auto& client : clients) before.push_back(client->time());
  machine.scheduler.run_for(1s);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    EXPECT_GT(clients[i]->time(), before[i] + SimSpan(50ms)) << clients[i]->name() << " stands still";
    EXPECT_EQ(clients[i]->cache().size(), 6U) << clients[i]->name() << " does not see all others";
    EXPECT_LE(true_drift(server->server(), clients), SimSpan(15ms));
    clients[i]->check_picture();
    chaos.skips += static_cast<std::uint64_t>(clients[i]->skips());
  }
  std::sort(drifts.begin(), drifts.end());
  EXPECT_LE(drifts[drifts.size() * 99 / 100], 15'000'000) << "Δ, 99th percentile";
  chaos.returned += server->server().report().map.returned;
  chaos.samples += drifts.size();
  clients.clear();
}

TEST(AgentsInASimulatedNetwork, GoOnOrComeBackWhateverIsKilled) {
  Chaos chaos;
  EXPECT_EVERY_SEED(60, [&](std::uint64_t seed) { live_through(seed, chaos); });
  EXPECT_GT(chaos.kills, 0U);
  EXPECT_GT(chaos.restarts, 0U);
}

}  // namespace
}  // namespace isochron::agents
