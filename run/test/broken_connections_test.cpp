// Nodes on simulated hosts, over federations over TCP connections that break again and again: nothing is acknowledged,
// nothing is kept for it, and the digest is that of one thread.

#include <gtest/gtest.h>

#include "flow/executor.hpp"
#include "flow/island.hpp"
#include "flow/test/test_nodes.hpp"
#include "link/federation.hpp"
#include "link/tcp_carrier.hpp"
#include "testing/reactor.hpp"
#include "testing/seeds.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
using flow::test::at;

struct ToPeer final : flow::Transport {
  ToPeer(link::Federation& over, std::uint32_t peer) : federation(over), to(peer) {}
  void send(std::span<const std::byte> bytes) override { federation.send(to, bytes); }
  link::Federation& federation;
  std::uint32_t to;
};

/// One node on its own host, driven as RemoteNode drives it.
class Host {
 public:
  Host(SimulatedNetwork& network, flow::Assembly& assembly, std::uint32_t self, SimTime until)
      : reactor_(network, addresses(assembly)[self]),
        clock_(network.scheduler()),
        carrier_(reactor_, addresses(assembly), self, flow::Island::neighbours(assembly.graph(), self)),
        federation_(carrier_, clock_, roster(assembly, self), {patient(), {}}),
        island_(assembly, self),
        until_(until) {
    for (const std::uint32_t peer : federation_.roster().peers) {
      ways_.push_back(std::make_unique<ToPeer>(federation_, peer));
      island_.join(peer, *ways_.back());
    }
    federation_.start({[this](std::uint32_t from, std::span<const std::byte> bytes) {
                         const auto taken = island_.arrived(from, bytes);
                         if (!taken) wrong = taken.error();
                       },
                       {},
                       [this](std::uint32_t who) { wrong = federation_.session(who).why(); },
                       {},
                       [this] { round(); },
                       [this](std::uint32_t who, std::uint32_t stream) {
                         ++restarts;
                         island_.restart(who, stream);
                       },
                       [this](std::uint32_t who, std::uint32_t stream) { island_.restarted(who, stream); }});
  }
  [[nodiscard]] bool finished() const { return begun_ && island_.finished(); }
  std::string wrong;
  int restarts = 0;

 private:
  static std::vector<Address> addresses(const flow::Assembly& assembly) {
    std::vector<Address> all;
    for (std::uint8_t i = 1; i <= assembly.graph().nodes.size(); ++i) all.push_back(Address::v4(10, 0, 0, i, 7000));
    return all;
  }
  /// Some of the networks are terrible: to be connected again may take longer than anybody would wait.
  static link::SessionTiming patient() {
    link::SessionTiming timing;
    timing.lost = 600s;
    return timing;
  }
  static link::Roster roster(const flow::Assembly& assembly, std::uint32_t self) {
    link::Roster roster{"test", 1, {}, self, flow::Island::neighbours(assembly.graph(), self)};
    for (const flow::NodeInfo& node : assembly.graph().nodes) roster.names.push_back(node.name);
    return roster;
  }
  void round() {
    if (!begun_ && federation_.all_joined()) {
      begun_ = true;
      island_.start(until_);
    }
    while (begun_ && island_.go(16) == flow::Moved::on) {
    }
  }

  SimulatedReactor reactor_;
  SimulatedClock clock_;
  link::TcpCarrier carrier_;
  link::Federation federation_;
  flow::Island island_;
  SimTime until_;
  std::vector<std::unique_ptr<ToPeer>> ways_;
  bool begun_ = false;
};

/// How often connections broke on the way to the digest of one thread.
int expect_one_digest(const std::function<flow::System()>& make, SimTime until, std::uint64_t seed, double reset) {
  flow::System alone = make(), system = make();
  const flow::FlowOutcome expected = flow::run(alone, {.until = until});
  Scheduler scheduler(seed);
  SimulatedNetwork network(scheduler);
  RandomStream random(seed, "test");
  LinkQuality quality = LinkQuality::drawn(random);
  quality.reset = reset;
  network.set_quality(quality);
  flow::Assembly assembly(system, flow::AssemblyPlan{.split = true});
  std::vector<std::unique_ptr<Host>> hosts;
  for (std::uint32_t n = 0; n < system.node_count(); ++n) {
    hosts.push_back(std::make_unique<Host>(network, assembly, n, until));
    scheduler.run_until(scheduler.now() + WallSpan::from_ns(static_cast<std::int64_t>(random.below(300'000'000))));
  }
  const auto finished = [&] { return std::ranges::all_of(hosts, [](const auto& host) { return host->finished(); }); };
  EXPECT_TRUE(scheduler.run_until(finished, 3600s));
  int restarts = 0;
  for (const auto& host : hosts) {
    EXPECT_EQ(host->wrong, "");
    restarts += host->restarts;
  }
  EXPECT_EQ(flow::make_outcome(assembly, {}).flow_digests, expected.flow_digests);
  return restarts;
}

TEST(BrokenConnections, ChangeNothing) {
  int restarts = 0;
  EXPECT_EVERY_SEED(40, [&](std::uint64_t seed) {
    restarts += expect_one_digest([] { return flow::test::mixed_system(); }, at(200ms), seed, 0.005);
  });
  EXPECT_GT(restarts, 100) << "hardly any connection broke: this shows nothing";
}

TEST(BrokenConnections, ChangeNothingWhereBuffersAreSmallestAndNodesSendEvents) {
  EXPECT_EVERY_SEED(20, [&](std::uint64_t seed) {
    (void)expect_one_digest([] { return flow::test::mixed_system(4, 2, 1); }, at(100ms), seed, 0.005);
    (void)expect_one_digest([] { return flow::test::quiet_ring_with_a_clock(3); }, at(500ms), seed, 0.005);
  });
}

}  // namespace
}  // namespace isochron
