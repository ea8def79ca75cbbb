// What every Reactor does, checked on the real one and on the simulated one: production code may rely on exactly this.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "link/reactor.hpp"
#include "testing/reactor.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A reactor and whatever it needs to live.
struct Machine {
  virtual ~Machine() = default;
  virtual Reactor& reactor() = 0;
};

struct RealMachine final : Machine {
  Reactor& reactor() override { return epoll; }
  link::EpollReactor epoll;
};

struct SimulatedMachine final : Machine {
  explicit SimulatedMachine(std::uint64_t seed)
      : scheduler(seed), network(scheduler), simulated(network, Address::v4(10, 0, 0, 1, 0)) {}
  Reactor& reactor() override { return simulated; }
  Scheduler scheduler;
  SimulatedNetwork network;
  SimulatedReactor simulated;
};

struct Kind {
  const char* name;
  std::size_t much;  // megabytes, more than its network buffers
  std::unique_ptr<Machine> (*make)();
  Address any;  // where to listen
};
template <std::uint64_t seed>
std::unique_ptr<Machine> simulated() {
  return std::make_unique<SimulatedMachine>(seed);
}
std::unique_ptr<Machine> real() { return std::make_unique<RealMachine>(); }

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class EveryReactor : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!reactor_.open_datagrams(GetParam().any)) GTEST_SKIP() << "this machine has no " << to_string(GetParam().any);
  }

  /// Runs until `done`; fails the test if that takes over a minute of the reactor's time.
  void run_until(const std::function<bool()>& done) {
    const WallTime limit = reactor_.now() + 60s;
    std::function<void()> look = [&] {
      if (done() || reactor_.now() > limit) return reactor_.stop();
      reactor_.call_at(reactor_.now() + 200us, look);
    };
    reactor_.post(look);
    reactor_.run();
    EXPECT_TRUE(done()) << "it did not happen within a minute";
  }
  void run_for(WallSpan span) {
    const WallTime end = reactor_.now() + span;
    run_until([&] { return reactor_.now() >= end; });
  }

  struct Peer {
    std::unique_ptr<Stream> stream;
    std::string got;
    std::optional<NetError> closed;
    int calls_after_close = 0, writable = 0;
    void watch() {
      stream->set_events({[this](std::span<const std::byte> piece) {
                            got += text(piece);
                            if (closed) ++calls_after_close;
                          },
                          [this] { ++writable; },
                          [this](const NetError& error) {
                            if (closed) ++calls_after_close;
                            closed = error;
                          }});
    }
  };
  /// A connected pair.
  void connect(Peer& client, Peer& server) {
    listener_ = std::move(*reactor_.listen(GetParam().any, [&](std::unique_ptr<Stream> stream) {
      server.stream = std::move(stream);
      server.watch();
    }));
    client.stream = reactor_.connect(listener_->local());
    client.watch();
    run_until([&] { return server.stream != nullptr; });
  }

  std::unique_ptr<Machine> machine_ = GetParam().make();
  Reactor& reactor_ = machine_->reactor();
  std::unique_ptr<Listener> listener_;
};

TEST_P(EveryReactor, FiresTimersNotBeforeTheirTimeAndInOrder) {
  std::string order;
  const WallTime start = reactor_.now();
  for (const int ms : {6, 2, 4}) {
    reactor_.call_at(start + std::chrono::milliseconds(ms), [&, ms] {
      EXPECT_GE(reactor_.now(), start + std::chrono::milliseconds(ms));
      order += std::to_string(ms);
    });
  }
  const auto cancelled = reactor_.call_at(start + 3ms, [&] { order += "x"; });
  reactor_.cancel(cancelled);
  run_until([&] { return order.size() == 3; });
  EXPECT_EQ(order, "246");
  reactor_.cancel(cancelled);
}

TEST_P(EveryReactor, ATimerMayCancelAnotherThatIsDue) {
  int fired = 0;
  Reactor::TimerId a = 0, b = 0;
  const WallTime t = reactor_.now() + 1ms;
  a = reactor_.call_at(t, [&] { ++fired, reactor_.cancel(b); });
  b = reactor_.call_at(t, [&] { ++fired, reactor_.cancel(a); });
  run_for(5ms);
  EXPECT_EQ(fired, 1) << "whichever came first";
}

TEST_P(EveryReactor, ATimerInThePastFiresAndOneForNeverDoesNot) {
  bool past = false, never = false;
  reactor_.call_at(WallTime::zero(), [&] { past = true; });
  reactor_.call_at(WallTime::never(), [&] { never = true; });
  run_until([&] { return past; });
  EXPECT_FALSE(never);
}

TEST_P(EveryReactor, RunsPostsInOrderEvenThosePostedByPosts) {
  std::string order;
  reactor_.post([&] {
    order += "a";
    reactor_.post([&] { order += "c"; });
  });
  reactor_.post([&] { order += "b"; });
  run_until([&] { return order.size() == 3; });
  EXPECT_EQ(order, "abc");
}

TEST_P(EveryReactor, AStopBeforeRunCounts) {
  bool fired = false;
  const auto timer = reactor_.call_at(reactor_.now() + 1h, [&] { fired = true; });
  reactor_.stop();
  reactor_.run();
  EXPECT_FALSE(fired) << "it ran for an hour";
  reactor_.cancel(timer);
}

TEST_P(EveryReactor, CarriesAStreamBothWays) {
  Peer client, server;
  connect(client, server);
  client.stream->send(bytes("hello"));
  run_until([&] { return server.got == "hello"; });
  server.stream->send(bytes("wor"));
  server.stream->send(bytes("ld"));
  run_until([&] { return client.got == "world"; });
  EXPECT_EQ(client.stream->peer(), listener_->local());
  EXPECT_EQ(server.stream->peer().ip, GetParam().any.ip);
}

TEST_P(EveryReactor, SendsWhatWasQueuedBeforeTheConnectionStood) {
  Peer server;
  listener_ = std::move(*reactor_.listen(GetParam().any, [&](std::unique_ptr<Stream> stream) {
    server.stream = std::move(stream);
    server.watch();
  }));
  Peer client;
  client.stream = reactor_.connect(listener_->local());
  client.watch();
  client.stream->send(bytes("early"));
  EXPECT_EQ(client.stream->pending(), 5U);
  run_until([&] { return server.got == "early" && client.writable == 1; });
  EXPECT_EQ(client.stream->pending(), 0U);
}

std::string megabytes(std::size_t n) {
  std::string text(n << 20, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 997) % 26);
  return text;
}

TEST_P(EveryReactor, FeelsAPeerThatDoesNotReadAndLosesNothing) {
  Peer client, server;
  connect(client, server);
  server.stream->pause_reading(true);
  const std::string much = megabytes(GetParam().much);
  client.stream->send(bytes(much));
  run_for(20ms);
  EXPECT_EQ(server.got.size(), 0U);
  EXPECT_GT(client.stream->pending(), 0U) << "back-pressure";
  EXPECT_EQ(client.writable, 0);
  server.stream->pause_reading(false);
  run_until([&] { return server.got.size() == much.size() && client.writable == 1; });
  EXPECT_TRUE(server.got == much);
}

TEST_P(EveryReactor, TellsAboutACloseAfterTheLastByte) {
  Peer client, server;
  connect(client, server);
  client.stream->send(bytes("last words"));
  client.stream.reset();
  run_until([&] { return server.closed.has_value(); });
  EXPECT_EQ(server.got, "last words");
  EXPECT_EQ(server.closed->fault, NetFault::closed);
  EXPECT_THAT(server.closed->what, HasSubstr(to_string(server.stream->peer())));
  server.stream->send(bytes("nobody hears this"));
  run_for(5ms);
  EXPECT_EQ(server.calls_after_close, 0);
}

TEST_P(EveryReactor, KeepsAPausedStreamsBytesThoughThePeerIsGone) {
  Peer client, server;
  connect(client, server);
  server.stream->pause_reading(true);
  client.stream->send(bytes("kept"));
  client.stream.reset();
  run_for(20ms);
  EXPECT_FALSE(server.closed);
  server.stream->pause_reading(false);
  run_until([&] { return server.closed.has_value(); });
  EXPECT_EQ(server.got, "kept");
}

TEST_P(EveryReactor, ReadsNothingBeforeEventsAreSet) {
  std::unique_ptr<Stream> accepted;
  listener_ = std::move(
      *reactor_.listen(GetParam().any, [&](std::unique_ptr<Stream> stream) { accepted = std::move(stream); }));
  auto client = reactor_.connect(listener_->local());
  client->send(bytes("wait for me"));
  run_until([&] { return accepted != nullptr; });
  run_for(10ms);
  std::string got;
  accepted->set_events({[&](std::span<const std::byte> piece) { got += text(piece); }, {}, {}});
  run_until([&] { return got == "wait for me"; });
}

TEST_P(EveryReactor, ARefusedConnectionIsClosedWithTheReason) {
  Peer client;
  const Address nobody = (*reactor_.listen(GetParam().any, [](auto) {}))->local();  // free again by now
  client.stream = reactor_.connect(nobody);
  client.watch();
  EXPECT_FALSE(client.closed) << "never inside connect() or set_events()";
  run_until([&] { return client.closed.has_value(); });
  EXPECT_EQ(client.closed->fault, NetFault::refused);
  EXPECT_THAT(client.closed->what, HasSubstr(to_string(nobody)));
}

TEST_P(EveryReactor, AStreamMayBeDestroyedInsideEachOfItsCallbacks) {
  Peer server;
  listener_ = std::move(*reactor_.listen(GetParam().any, [&](std::unique_ptr<Stream> stream) {
    server.stream = std::move(stream);
    server.stream->set_events({[&](std::span<const std::byte>) { server.stream.reset(); }, {}, {}});
  }));
  // In on_bytes, on_closed and on_writable; the closure's own memory is looked at after the stream is gone.
  std::unique_ptr<Stream> first = reactor_.connect(listener_->local());
  std::string marker = "a closure of its own, long enough to live on the heap";
  bool closed = false;
  first->set_events({{}, {}, [&, marker](const NetError&) {
                       first.reset();
                       closed = marker.size() > 10;
                     }});
  first->send(bytes("x"));
  run_until([&] { return closed; });

  bool wrote = false;
  std::unique_ptr<Stream> second = reactor_.connect(listener_->local());
  second->set_events({{},
                      [&, marker] {
                        second.reset();
                        wrote = marker.size() > 10;
                      },
                      {}});
  second->send(bytes("x"));
  run_until([&] { return wrote; });
}

TEST_P(EveryReactor, EventsMayBeReplacedInsideACallback) {
  Peer client, server;
  connect(client, server);
  std::string first, second;
  std::string marker = "a closure of its own, long enough to live on the heap";
  server.stream->set_events(
      {[&, marker](std::span<const std::byte> piece) {
         server.stream->set_events({[&](std::span<const std::byte> rest) { second += text(rest); }, {}, {}});
         first += text(piece);
         EXPECT_GT(marker.size(), 10U);
       },
       {},
       {}});
  client.stream->send(bytes("one"));
  run_until([&] { return first.size() + second.size() == 3; });
  client.stream->send(bytes("two"));
  run_until([&] { return first.size() + second.size() == 6; });
  EXPECT_EQ(first + second, "onetwo");
}

TEST_P(EveryReactor, AListenerMayBeDestroyedInsideItsCallback) {
  std::unique_ptr<Stream> accepted;
  listener_ = std::move(*reactor_.listen(GetParam().any, [&](std::unique_ptr<Stream> stream) {
    listener_.reset();
    accepted = std::move(stream);
  }));
  auto client = reactor_.connect(listener_->local());
  run_until([&] { return accepted != nullptr; });
  EXPECT_EQ(listener_, nullptr);
}

TEST_P(EveryReactor, RefusesAnAddressInUse) {
  auto first = reactor_.listen(GetParam().any, [](auto) {});
  const auto second = reactor_.listen((*first)->local(), [](auto) {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().fault, NetFault::in_use);
  EXPECT_THAT(second.error().what, HasSubstr(to_string((*first)->local())));
  auto port = reactor_.open_datagrams(GetParam().any);
  EXPECT_EQ(reactor_.open_datagrams((*port)->local()).error().fault, NetFault::in_use);
}

TEST_P(EveryReactor, RefusesAnAddressOfAnotherHost) {
  EXPECT_EQ(reactor_.listen(Address::v4(192, 0, 2, 77, 0), [](auto) {}).error().fault, NetFault::bad_address);
  EXPECT_EQ(reactor_.open_datagrams(Address::v4(192, 0, 2, 77, 0)).error().fault, NetFault::bad_address);
}

TEST_P(EveryReactor, CarriesDatagramsWithTheirSource) {
  auto a = std::move(*reactor_.open_datagrams(GetParam().any));
  auto b = std::move(*reactor_.open_datagrams(GetParam().any));
  std::vector<std::string> at_b, at_a;
  b->set_receiver([&](std::span<const Datagram> batch) {
    for (const Datagram& datagram : batch) {
      EXPECT_EQ(datagram.address, a->local());
      at_b.push_back(text(datagram.bytes));
      const Datagram answer{datagram.address, bytes("answer")};
      b->send({&answer, 1});
      EXPECT_EQ(text(datagram.bytes), at_b.back()) << "sending leaves the received ones alone";
    }
  });
  a->set_receiver([&](std::span<const Datagram> batch) {
    for (const Datagram& datagram : batch) at_a.push_back(text(datagram.bytes));
  });
  const std::vector<Datagram> three{{b->local(), bytes("one")}, {b->local(), bytes("")}, {b->local(), bytes("three")}};
  a->send(three);
  run_until([&] { return at_a.size() == 3; });
  std::sort(at_b.begin(), at_b.end());
  EXPECT_EQ(at_b, (std::vector<std::string>{"", "one", "three"}));
}

TEST_P(EveryReactor, CarriesManyDatagramsInOneSend) {
  auto a = std::move(*reactor_.open_datagrams(GetParam().any));
  auto b = std::move(*reactor_.open_datagrams(GetParam().any));
  std::vector<int> numbers(300), came;
  std::vector<Datagram> datagrams;
  for (int i = 0; i < 300; ++i) numbers[static_cast<std::size_t>(i)] = i;
  for (const int& n : numbers) datagrams.push_back({b->local(), std::as_bytes(std::span(&n, 1))});
  b->set_receiver([&](std::span<const Datagram> batch) {
    for (const Datagram& datagram : batch) {
      int n = 0;
      std::memcpy(&n, datagram.bytes.data(), sizeof n);
      came.push_back(n);
    }
  });
  a->send(datagrams);
  run_until([&] { return came.size() == numbers.size(); });
  std::sort(came.begin(), came.end());
  EXPECT_EQ(came, numbers);
  EXPECT_EQ(a->dropped(), 0U);
}

TEST_P(EveryReactor, CountsADatagramThatIsTooLongAndSendsTheOthers) {
  auto a = std::move(*reactor_.open_datagrams(GetParam().any));
  auto b = std::move(*reactor_.open_datagrams(GetParam().any));
  std::size_t largest = 0, count = 0;
  b->set_receiver([&](std::span<const Datagram> batch) {
    for (const Datagram& datagram : batch) ++count, largest = std::max(largest, datagram.bytes.size());
  });
  const std::string big(70'000, 'x');
  const std::vector<Datagram> three{
      {b->local(), bytes("a")}, {b->local(), bytes(big)}, {b->local(), bytes(big).first(60'000)}};
  a->send(three);
  run_until([&] { return count == 2; });
  EXPECT_EQ(largest, 60'000U);
  EXPECT_EQ(a->dropped(), 1U);
}

TEST_P(EveryReactor, APortMayBeDestroyedInsideItsCallback) {
  auto a = std::move(*reactor_.open_datagrams(GetParam().any));
  auto b = std::move(*reactor_.open_datagrams(GetParam().any));
  bool came = false;
  std::string marker = "a closure of its own, long enough to live on the heap";
  b->set_receiver([&, marker](std::span<const Datagram> batch) {
    b.reset();
    came = text(batch.front().bytes) == "x" && marker.size() > 10;
  });
  const Datagram datagram{b->local(), bytes("x")};
  a->send({&datagram, 1});
  run_until([&] { return came; });
}

TEST_P(EveryReactor, ClosuresMayOwnStreamsUntilTheReactorGoes) {
  auto stream = std::make_shared<std::unique_ptr<Stream>>(reactor_.connect(GetParam().any.with_port(9)));
  reactor_.call_at(reactor_.now() + 1h, [stream] {});
  reactor_.call_at(WallTime::never(), [stream] {});
  reactor_.post([stream] {});
  stream.reset();
  machine_.reset();  // aborts if a stream were left
}

INSTANTIATE_TEST_SUITE_P(Machines, EveryReactor,
                         ::testing::Values(Kind{"real", 16, real, Address::loopback(0)},
                                           Kind{"real_v6", 16, real, Address::loopback_v6(0)},
                                           Kind{"simulated_1", 1, simulated<1>, Address::loopback(0)},
                                           Kind{"simulated_2", 1, simulated<2>, Address::loopback(0)},
                                           Kind{"simulated_3", 1, simulated<3>, Address::loopback_v6(0)}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace isochron
