// Whole systems on the simulated machine: every node on a host of its own, over a network with delay, loss, partition
// and hosts that freeze or die, by seed. The production node, peer and frames; the digest of one thread.

#include <gtest/gtest.h>

#include "flow/island.hpp"
#include "flow/serial.hpp"
#include "flow/test/test_nodes.hpp"
#include "testing/reactor.hpp"
#include "testing/seeds.hpp"

namespace isochron::flow::test {
namespace {

Address host_of(std::uint32_t node) { return Address::v4(10, 0, 0, static_cast<std::uint8_t>(node + 1), 0); }

/// What an island needs of a stream.
struct StreamTransport : Transport {
  void send(std::span<const std::byte> bytes) override {
    if (stream) {
      stream->send(bytes);
    } else {
      early.insert(early.end(), bytes.begin(), bytes.end());
    }
  }
  void attach(std::unique_ptr<Stream> made, Stream::Events events) {
    stream = std::move(made);
    stream->set_events(std::move(events));
    if (!early.empty()) stream->send(early);
    early.clear();
  }
  std::unique_ptr<Stream> stream;
  std::vector<std::byte> early;  // said before the connection was there
};

/// One node on its own host.
class Host {
 public:
  Host(SimulatedNetwork& network, Assembly& assembly, std::uint32_t self)
      : reactor_(network, host_of(self)), island_(assembly, self), self_(self) {
    for (const std::uint32_t other : island_.neighbours()) {
      transports_[other] = std::make_unique<StreamTransport>();
      island_.join(other, *transports_[other]);
      if (self < other) {
        const auto port = static_cast<std::uint16_t>(7000 + self * 100 + other);
        auto listening = reactor_.listen(host_of(self).with_port(port), [this, other](std::unique_ptr<Stream> stream) {
          attach(other, std::move(stream));
        });
        listeners_.push_back(std::move(*listening));
      }
    }
  }
  void connect(SimTime until) {
    for (auto& [other, transport] : transports_) {
      if (self_ < other) continue;
      attach(other, reactor_.connect(host_of(other).with_port(static_cast<std::uint16_t>(7000 + other * 100 + self_))));
    }
    island_.start(until);
    reactor_.post([this] { go(); });
  }
  [[nodiscard]] bool finished() const { return island_.finished(); }
  [[nodiscard]] const Island& island() const { return island_; }
  [[nodiscard]] SimulatedReactor& reactor() { return reactor_; }
  std::string wrong;
  std::string lost;

 private:
  void attach(std::uint32_t other, std::unique_ptr<Stream> stream) {
    transports_[other]->attach(std::move(stream), {[this, other](std::span<const std::byte> bytes) {
                                                     const auto taken = island_.arrived(other, bytes);
                                                     if (!taken) wrong = taken.error();
                                                     go();
                                                   },
                                                   {},
                                                   [this, other](const NetError&) {
                                                     gone_.insert(other);
                                                     go();
                                                   }});
  }
  void go() {
    while (island_.go(16) == Moved::on) {
    }
    for (const std::uint32_t other : gone_) {
      if (island_.waits_for(other)) lost = island_.peer(other).name();
    }
  }

  SimulatedReactor reactor_;
  Island island_;
  std::uint32_t self_;
  std::map<std::uint32_t, std::unique_ptr<StreamTransport>> transports_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::set<std::uint32_t> gone_;
};

class SimulatedFederation {
 public:
  SimulatedFederation(SimulatedNetwork& network, System& system) : assembly_(system, AssemblyPlan{.split = true}) {
    for (std::uint32_t n = 0; n < system.node_count(); ++n) {
      hosts_.push_back(std::make_unique<Host>(network, assembly_, n));
    }
  }
  void start(SimTime until) {
    for (auto& host : hosts_) host->connect(until);
  }
  [[nodiscard]] bool finished() const {
    return std::all_of(hosts_.begin(), hosts_.end(), [](const auto& host) { return host->finished(); });
  }
  [[nodiscard]] std::string wrong() const {
    std::string all;
    for (const auto& host : hosts_) all += host->wrong;
    return all;
  }
  Host& operator[](std::size_t n) { return *hosts_[n]; }
  [[nodiscard]] FlowOutcome outcome() { return make_outcome(assembly_, {}); }

 private:
  Assembly assembly_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

FlowOutcome expected_of(SimSpan length) {
  System system = mixed_system();
  return run(system, {.until = at(length)});
}

TEST(SimulatedFlows, HaveTheDigestOfOneThreadOnAnyNetworkThatHeals) {
  const FlowOutcome expected = expected_of(30ms);
  EXPECT_EVERY_SEED(60, [&](std::uint64_t seed) {
    Scheduler scheduler(seed);
    SimulatedNetwork network(scheduler);
    RandomStream random = scheduler.random("test");
    LinkQuality quality = LinkQuality::drawn(random);
    quality.reset = 0;
    network.set_quality(quality);
    network.set_stream_timeout(600s);
    System system = mixed_system();
    SimulatedFederation federation(network, system);
    federation.start(at(30ms));
    scheduler.after(random.chance(0.5) ? WallSpan(2ms) : WallSpan(200ms), [&] { network.partition({host_of(1)}); });
    scheduler.after(3s, [&] { network.heal(); });
    scheduler.after(1ms, [&] { federation[2].reactor().freeze(500ms); });
    EXPECT_TRUE(scheduler.run_until([&] { return federation.finished(); }, 3600s));
    EXPECT_EQ(federation.wrong(), "");
    EXPECT_EQ(federation.outcome().flow_digests, expected.flow_digests);
  });
}

TEST(SimulatedFlows, DoNotCreepThroughSilenceHoweverSlowTheNetworkIs) {
  System alone = quiet_ring_with_a_clock(4);
  const FlowOutcome expected = run(alone, {.until = at(3s)});
  EXPECT_EVERY_SEED(20, [&](std::uint64_t seed) {
    Scheduler scheduler(seed);
    SimulatedNetwork network(scheduler);
    RandomStream random = scheduler.random("test");
    LinkQuality quality = LinkQuality::drawn(random);
    quality.reset = 0;
    network.set_quality(quality);
    network.set_stream_timeout(600s);
    System system = quiet_ring_with_a_clock(4);
    SimulatedFederation federation(network, system);
    federation.start(at(3s));
    EXPECT_TRUE(scheduler.run_until([&] { return federation.finished(); }, 36000s));
    EXPECT_EQ(federation.wrong(), "");
    EXPECT_EQ(federation.outcome().flow_digests, expected.flow_digests);
  });
}

TEST(SimulatedFlows, AHostThatDiesIsNamedByThoseThatWaitForIt) {
  EXPECT_EVERY_SEED(20, [&](std::uint64_t seed) {
    Scheduler scheduler(seed);
    SimulatedNetwork network(scheduler);
    System system = mixed_system();
    SimulatedFederation federation(network, system);
    federation.start(at(10s));
    scheduler.after(20ms, [&] { federation[3].reactor().kill(); });
    EXPECT_TRUE(scheduler.run_until([&] { return federation[1].lost == "m3" || federation[2].lost == "m3"; }, 60s));
    EXPECT_EQ(federation.wrong(), "");
  });
}

TEST(SimulatedFlows, ATaskOnTheSimulatedClockRunsThemToo) {
  const FlowOutcome expected = expected_of(50ms);
  Scheduler scheduler(1);
  FlowOutcome outcome;
  scheduler.spawn("flows", [&] {
    System system = mixed_system();
    outcome = run(system, {.until = at(50ms), .stall_after = WallSpan::zero(), .clock = &scheduler.clock()});
  });
  scheduler.run_for(1s);
  EXPECT_EQ(outcome.flow_digests, expected.flow_digests);
}

}  // namespace
}  // namespace isochron::flow::test
