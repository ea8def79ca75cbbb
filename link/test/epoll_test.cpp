// What only the real reactor can show: threads, descriptors, other processes' sockets.

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "link/reactor.hpp"
#include "link/socket.hpp"

namespace isochron::link {
namespace {

using namespace std::chrono_literals;

TEST(EpollReactor, TakesPostsAndTheStopFromOtherThreads) {
  EpollReactor reactor;
  constexpr int threads = 4, posts = 5000;
  std::vector<int> last(threads, -1);
  int ran = 0;
  bool in_order = true;
  std::vector<std::thread> posters;
  for (int who = 0; who < threads; ++who) {
    posters.emplace_back([&, who] {
      for (int i = 0; i < posts; ++i) {
        reactor.post([&, who, i] {
          in_order = in_order && last[static_cast<std::size_t>(who)] == i - 1;
          last[static_cast<std::size_t>(who)] = i;
          if (++ran == threads * posts) reactor.stop();
        });
      }
    });
  }
  reactor.run();
  for (auto& thread : posters) thread.join();
  EXPECT_EQ(ran, threads * posts);
  EXPECT_TRUE(in_order) << "each thread's posts in its order";
}

TEST(EpollReactor, SleepsUntilAnotherThreadStopsIt) {
  for (int i = 0; i < 50; ++i) {
    EpollReactor reactor;
    std::thread runner([&] { reactor.run(); });
    if (i % 2 == 0) std::this_thread::sleep_for(200us);
    reactor.stop();
    runner.join();
  }
}

TEST(EpollReactor, SpinsAndStillSleepsWhenNothingComes) {
  EpollReactor reactor({.spin = 50us});
  bool fired = false;
  reactor.call_at(reactor.now() + 5ms, [&] {
    fired = true;
    reactor.stop();
  });
  reactor.run();
  EXPECT_TRUE(fired);
}

TEST(EpollReactor, WatchesADescriptorOfTheCallers) {
  EpollReactor reactor;
  const Fd event(::eventfd(0, EFD_NONBLOCK));
  int calls = 0;
  std::unique_ptr<Watch> watch;
  watch = reactor.watch(event.get(), [&] {
    std::uint64_t count = 0;
    ASSERT_EQ(::read(event.get(), &count, sizeof count), 8);
    if (++calls == 2) {
      watch.reset();
      reactor.stop();
    } else {
      reactor.post([&] { ::eventfd_write(event.get(), 1); });
    }
  });
  ::eventfd_write(event.get(), 1);
  reactor.run();
  EXPECT_EQ(calls, 2);
}

TEST(EpollReactor, ManyTimersComeAndGoWithoutLosingAny) {
  EpollReactor reactor;
  int fired = 0;
  std::vector<Reactor::TimerId> ids;
  const WallTime start = reactor.now();
  for (int i = 0; i < 20'000; ++i) {
    ids.push_back(reactor.call_at(start + std::chrono::microseconds((i * 7919) % 20'000), [&] { ++fired; }));
  }
  for (std::size_t i = 0; i < ids.size(); i += 2) reactor.cancel(ids[i]);
  for (std::size_t i = 0; i < ids.size(); i += 2) reactor.cancel(ids[i]);
  reactor.call_at(start + 25ms, [&] { reactor.stop(); });
  reactor.run();
  EXPECT_EQ(fired, 10'000);
}

TEST(EpollReactor, TurnsCallersAwayWhenDescriptorsRunOutAndRecovers) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors of its own to check a virtual call";
#endif
  EpollReactor reactor;
  std::vector<std::unique_ptr<Stream>> accepted;
  auto listener = std::move(
      *reactor.listen(Address::loopback(0), [&](std::unique_ptr<Stream> s) { accepted.push_back(std::move(s)); }));
  const Address to = listener->local();
  std::vector<std::unique_ptr<Stream>> clients;
  int closed = 0;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(reactor.connect(to));
    clients.back()->set_events({{}, {}, [&](const NetError&) { ++closed; }});
  }
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const Fd probe(::dup(0));
  const rlimit tight{static_cast<rlim_t>(probe.get()) + 4, before.rlim_max};  // room for a few only
  ::setrlimit(RLIMIT_NOFILE, &tight);
  const WallTime limit = reactor.now() + 10s;
  std::function<void()> look = [&] {
    const bool settled = accepted.size() + static_cast<std::size_t>(closed) >= clients.size();
    if (settled || reactor.now() > limit) return reactor.stop();
    reactor.call_at(reactor.now() + 1ms, look);
  };
  reactor.post(look);
  reactor.run();
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_GT(closed, 0);
  EXPECT_GT(accepted.size(), 0U);
  EXPECT_EQ(accepted.size() + static_cast<std::size_t>(closed), clients.size());

  const std::size_t had = accepted.size();
  clients.push_back(reactor.connect(to));
  look = [&] {
    if (accepted.size() > had || reactor.now() > limit) return reactor.stop();
    reactor.call_at(reactor.now() + 1ms, look);
  };
  reactor.post(look);
  reactor.run();
  EXPECT_EQ(accepted.size(), had + 1) << "with descriptors free again, callers come in";
  accepted.clear();
}

TEST(EpollReactor, KnowsWhenBytesCameThoughItWasBusyThen) {
  EpollReactor reactor;
  std::unique_ptr<Stream> accepted;
  std::optional<WallTime> arrived;
  WallTime seen, sent;
  auto listener = std::move(*reactor.listen(Address::loopback(0), [&](std::unique_ptr<Stream> stream) {
    accepted = std::move(stream);
    accepted->stamp_arrivals();
    accepted->set_events({[&](std::span<const std::byte>) {
                            arrived = accepted->arrived();
                            seen = reactor.now();
                            reactor.stop();
                          },
                          {},
                          {}});
  }));
  auto client = reactor.connect(listener->local());
  client->set_events({{}, {}, {}});
  reactor.call_at(reactor.now() + 20ms, [&] {
    sent = reactor.now();
    client->send(std::as_bytes(std::span("x")));
    std::this_thread::sleep_for(50ms);
  });
  reactor.run();
  if (!arrived) GTEST_SKIP() << "this kernel notes no arrivals of TCP";
  EXPECT_GE(seen - sent, WallSpan(50ms));
  EXPECT_LT(*arrived - sent, WallSpan(40ms)) << "it came long before it was seen";
  EXPECT_GE(*arrived - sent, WallSpan(-1ms));
}

TEST(EpollReactor, AV6PortThatListensEverywhereSpeaksV4Too) {
  EpollReactor reactor;
  auto opened = reactor.open_datagrams(Address{});
  if (!opened) GTEST_SKIP() << "this machine has no IPv6";
  auto both = std::move(*opened);
  auto v4 = std::move(*reactor.open_datagrams(Address::loopback(0)));
  Address from;
  both->set_receiver([&](std::span<const Datagram> batch) {
    from = batch.front().address;
    const Datagram answer{from, batch.front().bytes};
    both->send({&answer, 1});
  });
  bool answered = false;
  v4->set_receiver([&](std::span<const Datagram>) {
    answered = true;
    reactor.stop();
  });
  const std::byte one{1};
  const Datagram datagram{Address::loopback(both->local().port), {&one, 1}};
  v4->send({&datagram, 1});
  reactor.call_at(reactor.now() + 5s, [&] { reactor.stop(); });
  reactor.run();
  EXPECT_TRUE(answered);
  EXPECT_EQ(from, v4->local());
}

TEST(EpollReactor, DropsAndCountsAV6DatagramOnAV4Port) {
  EpollReactor reactor;
  auto v4 = std::move(*reactor.open_datagrams(Address::loopback(0)));
  const std::byte one{1};
  const Datagram datagram{Address::loopback_v6(9), {&one, 1}};
  v4->send({&datagram, 1});
  EXPECT_EQ(v4->dropped(), 1U);
}

TEST(EpollReactorDeathTest, AStreamMustNotOutliveItsReactor) {
  EXPECT_DEATH(
      {
        std::unique_ptr<Stream> stream;
        EpollReactor reactor;
        stream = reactor.connect(Address::loopback(9));
        reactor.~EpollReactor();
      },
      "outlived its reactor");
}

}  // namespace
}  // namespace isochron::link
