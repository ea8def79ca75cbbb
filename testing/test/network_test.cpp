#include "testing/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "testing/reactor.hpp"
#include "testing/seeds.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

const Address host_a = Address::v4(10, 0, 0, 1, 0);
const Address host_b = Address::v4(10, 0, 0, 2, 0);

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

struct World {
  explicit World(std::uint64_t seed) : scheduler(seed), network(scheduler), a(network, host_a), b(network, host_b) {}
  Scheduler scheduler;
  SimulatedNetwork network;
  SimulatedReactor a, b;
};

/// Counts what comes of n datagrams from a to b.
struct Datagrams {
  explicit Datagrams(World& in) : world(in) {
    to = std::move(*world.b.open_datagrams(host_b.with_port(7)));
    from = std::move(*world.a.open_datagrams(host_a));
    to->set_receiver([this](std::span<const Datagram> batch) {
      for (const Datagram& datagram : batch) {
        int number = 0;
        std::memcpy(&number, datagram.bytes.data(), sizeof number);
        came.push_back(number);
      }
    });
  }
  void send(int n) {
    for (int i = 0; i < n; ++i) {
      const Datagram datagram{host_b.with_port(7), std::as_bytes(std::span(&i, 1))};
      from->send({&datagram, 1});
    }
    world.scheduler.run_for(1s);
  }
  World& world;
  std::unique_ptr<DatagramPort> from, to;
  std::vector<int> came;
};

TEST(SimulatedNetwork, LosesTheShareItIsTold) {
  World world(1);
  world.network.set_quality({.loss = 0.3});
  Datagrams datagrams(world);
  datagrams.send(4000);
  EXPECT_NEAR(static_cast<double>(datagrams.came.size()), 2800, 150);
  EXPECT_EQ(world.network.counts().lost, 4000 - datagrams.came.size());
}

TEST(SimulatedNetwork, DoublesTheShareItIsTold) {
  World world(1);
  world.network.set_quality({.duplicate = 0.25});
  Datagrams datagrams(world);
  datagrams.send(4000);
  EXPECT_NEAR(static_cast<double>(datagrams.came.size()), 5000, 150);
}

TEST(SimulatedNetwork, KeepsTheOrderWithoutJitterAndBreaksItWithReordering) {
  World world(1);
  world.network.set_quality({.delay_min = 1ms, .delay_max = 1ms, .bytes_per_s = 1'000'000});
  Datagrams datagrams(world);
  datagrams.send(500);
  EXPECT_TRUE(std::is_sorted(datagrams.came.begin(), datagrams.came.end()));
  datagrams.came.clear();
  world.network.set_quality({.delay_min = 1ms, .delay_max = 1ms, .reorder = 0.2, .bytes_per_s = 1'000'000});
  datagrams.send(500);
  EXPECT_EQ(datagrams.came.size(), 500U);
  EXPECT_FALSE(std::is_sorted(datagrams.came.begin(), datagrams.came.end()));
}

TEST(SimulatedNetwork, DelaysWithinItsBounds) {
  World world(1);
  world.network.set_quality({.delay_min = 10ms, .delay_max = 20ms});
  Datagrams datagrams(world);
  datagrams.from->send(std::array{Datagram{host_b.with_port(7), bytes("abcd")}});
  world.scheduler.run_for(9ms);
  EXPECT_TRUE(datagrams.came.empty());
  world.scheduler.run_for(12ms);
  EXPECT_EQ(datagrams.came.size(), 1U);
}

TEST(SimulatedNetwork, LimitsBandwidthAndDropsWhatWouldQueueTooLong) {
  World world(1);
  world.network.set_quality({.bytes_per_s = 4000});
  Datagrams datagrams(world);
  datagrams.send(1000);  // 4 bytes each: 1 ms each, and a queue of 100 ms
  EXPECT_NEAR(static_cast<double>(datagrams.came.size()), 100, 2);
}

TEST(SimulatedNetwork, PassesNothingThroughACutAndAllAfterItHeals) {
  World world(1);
  Datagrams datagrams(world);
  world.network.cut(host_a, host_b);
  datagrams.send(10);
  EXPECT_EQ(datagrams.came.size(), 0U);
  world.network.heal();
  datagrams.send(10);
  EXPECT_EQ(datagrams.came.size(), 10U);
  world.network.cut_one_way(host_b, host_a);
  datagrams.send(10);
  EXPECT_EQ(datagrams.came.size(), 20U) << "the other direction still works";
  world.network.partition({host_a});
  datagrams.send(10);
  EXPECT_EQ(datagrams.came.size(), 20U);
}

TEST(SimulatedNetwork, CorruptsOneBit) {
  World world(1);
  world.network.set_quality({.corrupt = 1});
  Datagrams datagrams(world);
  datagrams.send(1);
  ASSERT_EQ(datagrams.came.size(), 1U);
  EXPECT_EQ(__builtin_popcount(static_cast<unsigned>(datagrams.came[0])), 1);
}

/// A stream from a to b that echoes nothing and records all.
struct Streams {
  explicit Streams(World& in) : world(in) {
    listener = std::move(*world.b.listen(host_b.with_port(80), [this](std::unique_ptr<Stream> stream) {
      accepted = std::move(stream);
      accepted->set_events({[this](std::span<const std::byte> piece) {
                              pieces += 1;
                              got.append(reinterpret_cast<const char*>(piece.data()), piece.size());
                            },
                            {},
                            [this](const NetError& error) { server_closed = error.what; }});
    }));
    client = world.a.connect(host_b.with_port(80));
    client->set_events({{}, [this] { ++writable; }, [this](const NetError& error) { client_closed = error; }});
  }
  World& world;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Stream> accepted, client;
  std::string got, server_closed;
  std::optional<NetError> client_closed;
  int pieces = 0, writable = 0;
};

std::string long_text(std::size_t n) {
  std::string text(n, ' ');
  for (std::size_t i = 0; i < n; ++i) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

TEST(SimulatedNetwork, AStreamDeliversAllInOrderInPiecesOverAnyLink) {
  EXPECT_EVERY_SEED(300, [](std::uint64_t seed) {
    World world(seed);
    RandomStream random = world.scheduler.random("test");
    world.network.set_quality(LinkQuality::drawn(random));
    Streams streams(world);
    const std::string text = long_text(1 + random.below(30'000));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = std::min(text.size() - at, std::size_t{1 + random.below(3000)});
      streams.client->send(bytes(text).subspan(at, n));
      at += n;
    }
    EXPECT_TRUE(world.scheduler.run_until([&] { return streams.got.size() == text.size(); }, 300s));
    EXPECT_EQ(streams.got, text);
    streams.client.reset();
    world.scheduler.run_until([&] { return !streams.server_closed.empty(); }, 60s);
    EXPECT_NE(streams.server_closed, "");
  });
}

std::uint64_t history_of(std::uint64_t seed) {
  World world(seed);
  RandomStream random = world.scheduler.random("test");
  LinkQuality quality = LinkQuality::drawn(random);
  quality.reset = 0.01;
  quality.corrupt = 0.1;
  world.network.set_quality(quality);
  Datagrams datagrams(world);
  Streams streams(world);
  streams.client->send(bytes(long_text(5000)));
  world.scheduler.after(100ms, [&] { world.network.partition({host_a}); });
  world.scheduler.after(900ms, [&] { world.network.heal(); });
  world.scheduler.after(1500ms, [&] { world.b.kill(); });
  datagrams.send(20);
  world.scheduler.run_for(30s);
  return world.scheduler.history().digest();
}

TEST(SimulatedNetwork, OneSeedGivesOneHistoryWithEveryFaultInIt) {
  std::set<std::uint64_t> histories;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::uint64_t history = history_of(seed);
    EXPECT_EQ(history, history_of(seed)) << "seed " << seed;
    histories.insert(history);
  }
  EXPECT_EQ(histories.size(), 50U);
}

TEST(SimulatedNetwork, AStreamOutlastsAShortPartitionAndEndsInALongOne) {
  World world(1);
  Streams streams(world);
  world.scheduler.run_for(1s);
  world.network.partition({host_a});
  streams.client->send(bytes("patience"));
  world.scheduler.run_for(5s);
  EXPECT_EQ(streams.got, "");
  world.network.heal();
  world.scheduler.run_for(5s);
  EXPECT_EQ(streams.got, "patience");
  world.network.partition({host_a});
  streams.client->send(bytes("lost"));
  world.scheduler.run_for(60s);
  ASSERT_TRUE(streams.client_closed);
  EXPECT_EQ(streams.client_closed->fault, NetFault::unreachable);
  EXPECT_EQ(streams.server_closed, "") << "the other end hears nothing of it";
  world.network.heal();
  streams.accepted->send(bytes("anybody?"));
  world.scheduler.run_for(1s);
  EXPECT_NE(streams.server_closed, "") << "until it speaks";
}

TEST(SimulatedNetwork, AResetEndsBothSides) {
  World world(1);
  Streams streams(world);
  world.scheduler.run_for(1s);
  world.network.set_quality({.reset = 1});
  streams.client->send(bytes("x"));
  world.scheduler.run_for(1s);
  EXPECT_TRUE(streams.client_closed);
  EXPECT_NE(streams.server_closed, "");
}

TEST(SimulatedNetwork, AnUnknownHostIsUnreachableAndAKnownOneRefuses) {
  World world(1);
  NetFault unknown{}, silent{};
  auto first = world.a.connect(Address::v4(10, 9, 9, 9, 80));
  first->set_events({{}, {}, [&](const NetError& error) { unknown = error.fault; }});
  auto second = world.a.connect(host_b.with_port(80));
  second->set_events({{}, {}, [&](const NetError& error) { silent = error.fault; }});
  world.scheduler.run_for(60s);
  EXPECT_EQ(unknown, NetFault::unreachable);
  EXPECT_EQ(silent, NetFault::refused);
}

TEST(SimulatedReactor, AKilledProcessCallsNothingAndItsPeersNotice) {
  World world(1);
  Streams streams(world);
  world.scheduler.run_for(1s);
  bool called = false;
  world.a.call_at(world.a.now() + 10ms, [&] { called = true; });
  world.a.kill();
  world.scheduler.run_for(5s);
  EXPECT_FALSE(called);
  EXPECT_FALSE(streams.client_closed);
  EXPECT_NE(streams.server_closed, "");
  SimulatedReactor reborn(world.network, host_a);
  EXPECT_TRUE(reborn.listen(host_a.with_port(81), [](auto) {}).ok());
}

TEST(SimulatedReactor, AFrozenProcessFindsAllThatCameMeanwhile) {
  World world(1);
  Datagrams datagrams(world);
  WallTime fired;
  world.b.call_at(world.b.now() + 10ms, [&] { fired = world.b.now(); });
  world.b.freeze(2s);
  datagrams.send(5);
  EXPECT_EQ(datagrams.came.size(), 0U);
  world.scheduler.run_for(2s);
  EXPECT_EQ(datagrams.came.size(), 5U);
  EXPECT_EQ(fired, WallTime::zero() + 2s);
}

TEST(SimulatedReactor, HasAClockOfItsOwn) {
  World world(1);
  world.a.set_clock_offset(5s);
  EXPECT_EQ(world.a.now() - world.b.now(), WallSpan(5s));
  WallTime fired;
  world.a.call_at(world.a.now() + 10ms, [&] { fired = world.scheduler.now(); });
  world.scheduler.run_for(1s);
  EXPECT_EQ(fired, WallTime::zero() + 10ms);
}

TEST(SimulatedReactorDeathTest, AStreamMustNotOutliveItsReactor) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(1);
        SimulatedNetwork network(scheduler);
        std::unique_ptr<Stream> stream;
        SimulatedReactor reactor(network, host_a);
        stream = reactor.connect(host_b);
        reactor.~SimulatedReactor();
      },
      "outlived its reactor");
}

}  // namespace
}  // namespace isochron
