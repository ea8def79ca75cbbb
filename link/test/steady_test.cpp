// In steady state a reactor takes no memory for datagrams, timers and stream bytes. Counted at operator new itself.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "link/reactor.hpp"

namespace {
std::atomic<std::uint64_t> allocations = 0;
}

void* operator new(std::size_t n) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* at = std::malloc(n)) return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

namespace isochron::link {
namespace {

using namespace std::chrono_literals;

/// Runs `reactor` until `count` reaches `warm`, then until `end`; the allocations in between.
std::uint64_t allocations_while(EpollReactor& reactor, const int& count, int warm, int end) {
  std::uint64_t at_warm = 0, at_end = 0;
  const WallTime limit = reactor.now() + 20s;
  std::function<void()> look = [&] {
    if (count >= warm && at_warm == 0) at_warm = allocations.load();
    at_end = allocations.load();
    if (count >= end || reactor.now() > limit) return reactor.stop();
    reactor.call_at(reactor.now() + 20us, [&look] { look(); });  // small enough to need no heap
  };
  look();
  reactor.run();
  EXPECT_GE(count, end);
  return at_end - at_warm;
}

TEST(SteadyState, DatagramsAndTimersTakeNoHeap) {
  EpollReactor reactor;
  auto a = std::move(*reactor.open_datagrams(Address::loopback(0)));
  auto b = std::move(*reactor.open_datagrams(Address::loopback(0)));
  const std::array<std::byte, 64> payload{};
  const std::vector<Datagram> batch(32, Datagram{b->local(), payload});
  int came = 0;
  b->set_receiver([&](std::span<const Datagram> received) {
    came += static_cast<int>(received.size());
    a->send(batch);
  });
  a->send(batch);
  EXPECT_EQ(allocations_while(reactor, came, 2'000, 50'000), 0U);
}

TEST(SteadyState, StreamsTakeNoHeapWhileThePeerKeepsUp) {
  EpollReactor reactor;
  std::unique_ptr<Stream> server;
  auto listener = std::move(*reactor.listen(Address::loopback(0), [&](std::unique_ptr<Stream> stream) {
    server = std::move(stream);
    server->set_events({[&](std::span<const std::byte> bytes) { server->send(bytes); }, {}, {}});
  }));
  auto client = reactor.connect(listener->local());
  const std::array<std::byte, 256> payload{};
  int rounds = 0;
  client->set_events({[&](std::span<const std::byte>) {
                        ++rounds;
                        client->send(payload);
                      },
                      {},
                      {}});
  client->send(payload);
  EXPECT_EQ(allocations_while(reactor, rounds, 100, 3'000), 0U);
}

}  // namespace
}  // namespace isochron::link
