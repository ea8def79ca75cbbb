// Frames and sealed messages on a simulated network with all its faults, over many seeds.

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "link/auth.hpp"
#include "link/frame.hpp"
#include "testing/reactor.hpp"
#include "testing/seeds.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

const Address host_a = Address::v4(10, 0, 0, 1, 0), host_b = Address::v4(10, 0, 0, 2, 0);

/// Sends numbered frames; after a break it connects again and goes on after the last one acknowledged.
class FrameSender {
 public:
  FrameSender(Reactor& reactor, const Address& to, std::uint32_t count) : reactor_(reactor), to_(to), count_(count) {
    start();
  }
  [[nodiscard]] bool done() const { return acknowledged_ == count_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void start() {
    ++connections_;
    reader_ = link::FrameReader(64);
    stream_ = reactor_.connect(to_);
    stream_->set_events({[this](std::span<const std::byte> bytes) { receive(bytes); },
                         {},
                         [this](const NetError&) { reactor_.call_at(reactor_.now() + 50ms, [this] { start(); }); }});
    std::vector<std::byte> bytes;
    for (std::uint32_t i = acknowledged_; i < count_; ++i) {
      std::vector<std::byte> payload(4 + i % 300, static_cast<std::byte>(i));
      std::memcpy(payload.data(), &i, sizeof i);
      link::append_frame(bytes, payload);
    }
    stream_->send(bytes);
  }
  void receive(std::span<const std::byte> bytes) {
    const auto taken = reader_.take(bytes, [&](std::span<const std::byte> frame) {
      std::memcpy(&acknowledged_, frame.data(), sizeof acknowledged_);
      return true;
    });
    EXPECT_TRUE(taken.ok());
  }
  Reactor& reactor_;
  Address to_;
  std::uint32_t count_, acknowledged_ = 0;
  int connections_ = 0;
  link::FrameReader reader_{64};
  std::unique_ptr<Stream> stream_;
};

/// Takes each frame once, in order, and acknowledges how far it has come.
class FrameTaker {
 public:
  FrameTaker(Reactor& reactor, const Address& at) {
    listener_ = std::move(*reactor.listen(at, [this](std::unique_ptr<Stream> stream) {
      stream_ = std::move(stream);
      reader_ = link::FrameReader(1000);
      stream_->set_events({[this](std::span<const std::byte> bytes) { receive(bytes); }, {}, {}});
    }));
  }
  [[nodiscard]] std::uint32_t taken() const { return next_; }

 private:
  void receive(std::span<const std::byte> bytes) {
    const auto taken = reader_.take(bytes, [&](std::span<const std::byte> frame) {
      std::uint32_t number = 0;
      std::memcpy(&number, frame.data(), sizeof number);
      EXPECT_LE(number, next_) << "a gap";
      EXPECT_EQ(frame.size(), 4 + number % 300);
      if (number == next_) ++next_;
      return true;
    });
    EXPECT_TRUE(taken.ok());
    std::vector<std::byte> answer;
    link::append_frame(answer, std::as_bytes(std::span(&next_, 1)));
    stream_->send(answer);
  }
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Stream> stream_;
  link::FrameReader reader_{1000};
  std::uint32_t next_ = 0;
};

TEST(FramesOnABadNetwork, AllArriveOnceInOrderThoughConnectionsBreak) {
  int reconnects = 0;
  EXPECT_EVERY_SEED(500, [&](std::uint64_t seed) {
    Scheduler scheduler(seed);
    SimulatedNetwork network(scheduler);
    RandomStream random = scheduler.random("test");
    LinkQuality quality = LinkQuality::drawn(random);
    quality.reset = random.chance(0.7) ? random.uniform(0, 0.02) : 0;
    network.set_quality(quality);
    SimulatedReactor a(network, host_a), b(network, host_b);
    FrameTaker taker(b, host_b.with_port(80));
    FrameSender sender(a, host_b.with_port(80), 200);
    scheduler.after(1s, [&] { network.partition({host_a}); });
    scheduler.after(3s, [&] { network.heal(); });
    EXPECT_TRUE(scheduler.run_until([&] { return sender.done(); }, 3600s)) << "came to " << taker.taken();
    EXPECT_EQ(taker.taken(), 200U);
    reconnects += sender.connections() - 1;
  });
  EXPECT_GT(reconnects, 50) << "the connections did break";
}

TEST(SealedOnABadNetwork, WhatOpensIsNewAndUnchanged) {
  std::uint64_t forged = 0, repeated = 0;
  EXPECT_EVERY_SEED(300, [&](std::uint64_t seed) {
    Scheduler scheduler(seed);
    SimulatedNetwork network(scheduler);
    RandomStream random = scheduler.random("test");
    LinkQuality quality = LinkQuality::drawn(random);
    quality.corrupt = random.uniform(0, 0.2);
    network.set_quality(quality);
    SimulatedReactor a(network, host_a), b(network, host_b);
    auto from = std::move(*a.open_datagrams(host_a));
    auto to = std::move(*b.open_datagrams(host_b.with_port(9)));
    link::Sealer sealer({});
    link::Opener opener({});
    std::set<std::uint64_t> numbers;
    to->set_receiver([&](std::span<const Datagram> batch) {
      for (const Datagram& datagram : batch) {
        const auto opened = opener.open(datagram.bytes);
        if (!opened) {
          ++(opened.error() == link::SealFault::forged ? forged : repeated);
          continue;
        }
        EXPECT_TRUE(numbers.insert(opened->number).second) << "twice";
        EXPECT_EQ(opened->payload.size(), 32U);
        for (const std::byte one : opened->payload) EXPECT_EQ(one, static_cast<std::byte>(opened->number));
      }
    });
    for (int i = 1; i <= 100; ++i) {
      std::vector<std::byte> message(32 + link::seal_bytes, static_cast<std::byte>(i));
      sealer.seal(message);
      const Datagram datagram{to->local(), message};
      from->send({&datagram, 1});
      scheduler.run_for(1ms);
    }
    scheduler.run_for(2s);
  });
  EXPECT_GT(forged, 100U);
  EXPECT_GT(repeated, 100U);
}

}  // namespace
}  // namespace isochron
