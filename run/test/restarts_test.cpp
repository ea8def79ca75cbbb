// Nodes on simulated hosts that are killed at any moment and started again on others, from nothing: they catch up from
// what the others have kept, and the digest is that of one thread.

#include <gtest/gtest.h>

#include "flow/executor.hpp"
#include "flow/island.hpp"
#include "flow/test/test_nodes.hpp"
#include "link/federation.hpp"
#include "link/tcp_carrier.hpp"
#include "testing/disk.hpp"
#include "testing/reactor.hpp"
#include "testing/seeds.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
using flow::test::at;
using MakeSystem = std::function<flow::System()>;

struct ToPeer final : flow::Transport {
  ToPeer(link::Federation& over, std::uint32_t peer) : federation(over), to(peer) {}
  void send(std::span<const std::byte> bytes) override { federation.send(to, bytes); }
  link::Federation& federation;
  std::uint32_t to;
};

struct Beginning {
  std::uint32_t self = 0, life = 0;
  std::vector<Address> addresses;  // of all, as they are now
  SimTime until;
};

/// One life of one node, driven as RemoteNode drives it, with a system of its own.
class Host {
 public:
  Host(SimulatedNetwork& network, SimulatedDisk& disk, const MakeSystem& make, const Beginning& begin)
      : system_(make()),
        log_(disk.create("sent." + std::to_string(begin.self) + "." + std::to_string(begin.life)).value(), nullptr),
        assembly_(system_, plan(log_)),
        reactor_(network, begin.addresses[begin.self]),
        clock_(network.scheduler()),
        carrier_(reactor_, begin.addresses, begin.self, flow::Island::neighbours(assembly_.graph(), begin.self)),
        federation_(carrier_, clock_, roster(begin.self), {patient(), {}, begin.life}),
        island_(assembly_, begin.self, {&log_, begin.life}),
        until_(begin.until) {
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
                       [this](std::uint32_t who, std::uint32_t stream) { island_.restart(who, stream); },
                       [this](std::uint32_t who, std::uint32_t stream) { island_.restarted(who, stream); },
                       [this](std::uint32_t who) { island_.begins_again(who); }});
  }
  [[nodiscard]] bool finished() const { return begun_ && island_.finished(); }
  void kill() { reactor_.kill(); }
  void hear_of(std::uint32_t who, std::uint32_t life, const Address& where) {
    if (reactor_.alive()) federation_.expect_again(who, life, where);
  }
  /// Of the flows of its node.
  [[nodiscard]] std::vector<std::uint64_t> digests() { return flow::make_outcome(assembly_, {}).flow_digests; }
  [[nodiscard]] const flow::Assembly& assembly() const { return assembly_; }
  [[nodiscard]] std::string standing() {
    std::string text = std::to_string(assembly_.node(federation_.roster().self).steps()) + " steps";
    for (const std::string& trouble : federation_.troubles()) text += "; " + trouble;
    return text;
  }
  std::string wrong;

 private:
  static flow::AssemblyPlan plan(flow::SentLog& log) {
    flow::AssemblyPlan plan{.split = true};
    plan.settings.observer = &log;
    return plan;
  }
  static link::SessionTiming patient() {
    link::SessionTiming timing;
    timing.lost = 600s;
    return timing;
  }
  [[nodiscard]] link::Roster roster(std::uint32_t self) const {
    link::Roster roster{"test", 1, {}, self, flow::Island::neighbours(assembly_.graph(), self)};
    for (const flow::NodeInfo& node : assembly_.graph().nodes) roster.names.push_back(node.name);
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

  flow::System system_;
  flow::SentLog log_;
  flow::Assembly assembly_;
  SimulatedReactor reactor_;
  SimulatedClock clock_;
  link::TcpCarrier carrier_;
  link::Federation federation_;
  flow::Island island_;
  SimTime until_;
  std::vector<std::unique_ptr<ToPeer>> ways_;
  bool begun_ = false;
};

/// All nodes, and somebody who starts those that are lost again.
class Cluster {
 public:
  Cluster(MakeSystem make, SimTime until, std::uint64_t seed)
      : make_(std::move(make)),
        until_(until),
        random_(seed, "cluster"),
        scheduler_(seed),
        network_(scheduler_),
        disk_(seed) {
    LinkQuality quality = LinkQuality::drawn(random_);
    quality.reset = 0.001;
    network_.set_quality(quality);
    const flow::System system = make_();
    nodes_ = static_cast<std::uint32_t>(system.node_count());
    for (std::uint32_t n = 0; n < nodes_; ++n) addresses_.push_back(address(n, 0));
    lives_.assign(nodes_, 0);
    for (std::uint32_t n = 0; n < nodes_; ++n) hosts_.push_back(make_host(n));
  }
  void run_for_a_while() { scheduler_.run_until(scheduler_.now() + span(400'000'000)); }
  void lose(std::uint32_t node) {
    hosts_[node]->kill();
    graves_.push_back(std::move(hosts_[node]));
    if (random_.chance(0.5)) run_others_for(node);
    addresses_[node] = address(node, ++lives_[node]);
    hosts_[node] = make_host(node);
    for (std::uint32_t n = 0; n < nodes_; ++n) {  // each hears of it at another time, perhaps after the new one itself
      scheduler_.after(span(200'000'000), [this, n, node, life = lives_[node], where = addresses_[node]] {
        if (hosts_[n]) hosts_[n]->hear_of(node, life, where);
      });
    }
  }
  void expect_the_digest_of_one_thread() {
    const auto finished = [&] {
      return std::ranges::all_of(hosts_, [](const auto& host) { return host->finished(); });
    };
    const bool all = scheduler_.run_until(finished, 3600s);
    std::string standing;
    for (std::uint32_t n = 0; n < nodes_ && !all; ++n) {
      standing += "\n" + std::to_string(n) + " in life " + std::to_string(lives_[n]) + ": " + hosts_[n]->standing();
    }
    EXPECT_TRUE(all) << standing;
    flow::System alone = make_();
    const flow::FlowOutcome expected = flow::run(alone, {.until = until_});
    std::vector<std::uint64_t> digests;
    const auto& flows = hosts_.front()->assembly().flows();
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      digests.push_back(hosts_[flows[flow].node]->digests()[flow]);
    }
    EXPECT_EQ(digests, expected.flow_digests);
    for (const auto& host : hosts_) EXPECT_EQ(host->wrong, "");
  }
  [[nodiscard]] std::uint32_t any_node() { return static_cast<std::uint32_t>(random_.below(nodes_)); }
  [[nodiscard]] bool chance(double p) { return random_.chance(p); }
  [[nodiscard]] Host& operator[](std::uint32_t node) { return *hosts_[node]; }
  void run_until(const std::function<bool()>& condition) { EXPECT_TRUE(scheduler_.run_until(condition, 3600s)); }

 private:
  static Address address(std::uint32_t node, std::uint32_t life) {
    return Address::v4(10, 0, static_cast<std::uint8_t>(life), static_cast<std::uint8_t>(node + 1), 7000);
  }
  WallSpan span(std::uint64_t most_ns) { return WallSpan::from_ns(static_cast<std::int64_t>(random_.below(most_ns))); }
  std::unique_ptr<Host> make_host(std::uint32_t node) {
    return std::make_unique<Host>(network_, disk_, make_, Beginning{node, lives_[node], addresses_, until_});
  }
  void run_others_for(std::uint32_t) { scheduler_.run_until(scheduler_.now() + span(1'500'000'000)); }

  MakeSystem make_;
  SimTime until_;
  RandomStream random_;
  Scheduler scheduler_;
  SimulatedNetwork network_;
  SimulatedDisk disk_;
  std::uint32_t nodes_ = 0;
  std::vector<Address> addresses_;
  std::vector<std::uint32_t> lives_;
  std::vector<std::unique_ptr<Host>> hosts_, graves_;
};

void lose_some(const MakeSystem& make, SimTime until, std::uint64_t seed) {
  Cluster cluster(make, until, seed);
  do {
    cluster.run_for_a_while();
    const std::uint32_t node = cluster.any_node();
    cluster.lose(node);
    if (cluster.chance(0.3)) cluster.lose(node);                // again, before it has come far
    if (cluster.chance(0.3)) cluster.lose(cluster.any_node());  // and another at the same time
  } while (cluster.chance(0.6));
  cluster.expect_the_digest_of_one_thread();
}

TEST(Restarts, NodesThatAreLostCatchUp) {
  EXPECT_EVERY_SEED(60,
                    [](std::uint64_t seed) { lose_some([] { return flow::test::mixed_system(); }, at(200ms), seed); });
}

TEST(Restarts, AlsoWhereBuffersAreSmallestAndNodesSendEvents) {
  EXPECT_EVERY_SEED(30, [](std::uint64_t seed) {
    lose_some([] { return flow::test::mixed_system(4, 2, 1); }, at(100ms), seed);
    lose_some([] { return flow::test::quiet_ring_with_a_clock(3); }, at(500ms), seed);
  });
}

TEST(Restarts, AlsoWhenTheOthersHaveFinished) {
  EXPECT_EVERY_SEED(10, [](std::uint64_t seed) {
    Cluster cluster([] { return flow::test::mixed_system(); }, at(50ms), seed);
    cluster.run_until([&] { return cluster[0].finished() && cluster[1].finished() && cluster[2].finished(); });
    cluster.lose(1);
    cluster.expect_the_digest_of_one_thread();
  });
}

/// Says something else in each of its lives.
class Fickle : public flow::UserNode {
 public:
  Fickle() : first_(++lives) {}
  static inline std::int64_t lives = 0;

 private:
  void fill(std::int64_t& value) { value = first_++; }
  std::int64_t first_;
  flow::Output<std::int64_t> out_ = output<&Fickle::fill>("out", flow::every(1ms));
};

TEST(Restarts, OneThatSaysSomethingElseIsFoundOut) {
  const auto make = [] {
    flow::System system;
    system.add<Fickle>("fickle");
    system.add<flow::test::Sink>("sink", 1U);
    system.connect("fickle.out", "sink.in0");
    return system;
  };
  Cluster cluster(make, at(10s), 1);
  cluster.run_until([&] { return cluster[1].assembly().node(1).steps() > 20; });
  cluster.lose(0);
  cluster.run_until([&] { return !cluster[1].wrong.empty(); });
  EXPECT_NE(cluster[1].wrong.find("flow fickle.out, node fickle: it was started again, and its first"),
            std::string::npos);
  EXPECT_NE(cluster[1].wrong.find("it does not repeat"), std::string::npos);
}

}  // namespace
}  // namespace isochron
