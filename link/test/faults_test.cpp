#include "link/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "testing/reactor.hpp"

namespace isochron::link {
namespace {

using namespace std::chrono_literals;

TEST(FaultWords, ReadAsPeopleWriteThem) {
  EXPECT_DOUBLE_EQ(*parse_share("5%"), 0.05);
  EXPECT_DOUBLE_EQ(*parse_share("0.5"), 0.5);
  for (const char* bad : {"", "%", "5 %", "150%", "-1%", "nan", "5%x"}) EXPECT_FALSE(parse_share(bad).ok()) << bad;
  const std::pair wanted{WallSpan(20ms), WallSpan(5ms)};
  EXPECT_EQ(*parse_delay("20ms±5"), wanted);
  EXPECT_EQ(*parse_delay("20ms+-5ms"), wanted);
  EXPECT_EQ(*parse_delay("20ms"), (std::pair{WallSpan(20ms), WallSpan::zero()}));
  for (const char* bad : {"", "20", "ms", "20ms±x", "-1ms"}) EXPECT_FALSE(parse_delay(bad).ok()) << bad;
}

/// Numbers of the datagrams that arrive when 0 … n−1 are sent, one each millisecond.
std::vector<int> through(const Faults& faults, int n) {
  Scheduler scheduler(1);
  SimulatedNetwork network(scheduler);
  const Address host = Address::v4(10, 0, 0, 1, 0);
  network.set_quality(host, host, {.delay_min = 1us, .delay_max = 1us});  // what is not asked for is not there
  SimulatedReactor reactor(network, host);
  FaultyReactor bad(reactor, faults, "test");
  auto to = std::move(*reactor.open_datagrams(Address::loopback(9)));
  auto from = std::move(*bad.open_datagrams(Address::loopback(0)));
  std::vector<int> came;
  to->set_receiver([&](std::span<const Datagram> batch) {
    for (const Datagram& one : batch) {
      int number = 0;
      std::memcpy(&number, one.bytes.data(), sizeof number);
      came.push_back(number);
    }
  });
  for (int i = 0; i < n; ++i) {
    const Datagram datagram{to->local(), std::as_bytes(std::span(&i, 1))};
    from->send({&datagram, 1});
    scheduler.run_for(1ms);
  }
  scheduler.run_for(1s);
  return came;
}

TEST(Faults, LoseAboutTheShareAskedFor) {
  const auto came = through({.loss = 0.1}, 5000);
  EXPECT_NEAR(static_cast<double>(came.size()), 4500, 150);
}

TEST(Faults, KeepTheOrderUnlessAskedToChangeIt) {
  const auto kept = through({.delay = 20ms, .jitter = 10ms}, 1000);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(kept.size(), 1000U);
  const auto changed = through({.delay = 5ms, .reorder = true}, 1000);
  EXPECT_EQ(changed.size(), 1000U);
  EXPECT_FALSE(std::is_sorted(changed.begin(), changed.end()));
}

TEST(Faults, AreTheSameForOneSeedAndOthersForAnother) {
  const Faults one{.loss = 0.2, .duplicate = 0.1, .seed = 1}, other{.loss = 0.2, .duplicate = 0.1, .seed = 2};
  EXPECT_EQ(through(one, 300), through(one, 300));
  EXPECT_NE(through(one, 300), through(other, 300));
}

/// A stream between two ends of one machine, over a bad link; what arrives is counted and timed.
class BadStream : public ::testing::Test {
 protected:
  BadStream() { network.set_quality(host, host, {.delay_min = 1us, .delay_max = 1us}); }
  void open(const Faults& faults) {
    bad.emplace(reactor, faults, "test");
    listener = std::move(*bad->listen(Address::loopback(9), [this](std::unique_ptr<Stream> stream) {
      far = std::move(stream);
      far->set_events({[this](std::span<const std::byte> bytes) {
                         for (const std::byte b : bytes) came.push_back(std::to_integer<int>(b));
                         when.push_back(reactor.now());
                       },
                       {},
                       [this](const NetError&) { closed = true; }});
    }));
    near = reactor.connect(Address::loopback(9));
    near->set_events({});
    scheduler.run_for(10ms);
    ASSERT_NE(far, nullptr);
  }
  void say(int number) {
    const auto byte = static_cast<std::byte>(number);
    near->send({&byte, 1});
  }
  const Address host = Address::v4(10, 0, 0, 1, 0);
  Scheduler scheduler{1};
  SimulatedNetwork network{scheduler};
  SimulatedReactor reactor{network, host};
  std::optional<FaultyReactor> bad;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Stream> near, far;
  std::vector<int> came;
  std::vector<WallTime> when;
  bool closed = false;
};

TEST_F(BadStream, LosesNothingAndKeepsItsOrder) {
  open({.loss = 0.2, .duplicate = 0.2, .delay = 5ms, .jitter = 4ms, .reorder = true});
  for (int i = 0; i < 200; ++i) {
    say(i);
    scheduler.run_for(1ms);
  }
  scheduler.run_for(60s);
  ASSERT_EQ(came.size(), 200U);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(came[static_cast<std::size_t>(i)], i);
}

TEST_F(BadStream, IsLateByTheDelayAndMoreWhereSomethingWasLost) {
  open({.delay = 30ms});
  const WallTime sent = reactor.now();
  say(1);
  scheduler.run_for(29ms);
  EXPECT_TRUE(came.empty());
  scheduler.run_for(10ms);
  ASSERT_EQ(came.size(), 1U);
  EXPECT_GE(when[0] - sent, WallSpan(30ms));
  near.reset();
  far.reset();
  listener.reset();
  came.clear();
  open({.loss = 1});
  say(2);
  scheduler.run_for(150ms);
  EXPECT_TRUE(came.empty()) << "lost, and not sent again yet";
  scheduler.run_for(100ms);
  EXPECT_EQ(came.size(), 1U);
}

TEST_F(BadStream, DeliversWhatWasSentBeforeItWasClosedAndThenTheEnd) {
  open({.delay = 20ms});
  std::vector<int> back;
  near->set_events({[&](std::span<const std::byte> bytes) {
                      for (const std::byte b : bytes) back.push_back(std::to_integer<int>(b));
                    },
                    {},
                    {}});
  const std::byte last{7};
  far->send({&last, 1});
  far.reset();  // its bytes are on their way
  scheduler.run_for(100ms);
  EXPECT_EQ(back, std::vector<int>{7});
}

TEST_F(BadStream, TellsOfTheEndAfterTheLastByte) {
  open({.delay = 20ms});
  say(1);
  scheduler.run_for(1ms);
  near.reset();
  scheduler.run_for(5ms);
  EXPECT_FALSE(closed);
  scheduler.run_for(1s);
  EXPECT_TRUE(closed);
  EXPECT_EQ(came, std::vector<int>{1});
}

TEST_F(BadStream, HoldsBackWhileItsUserDoesNotRead) {
  open({.delay = 5ms});
  say(1);
  scheduler.run_for(2ms);
  far->pause_reading(true);
  scheduler.run_for(100ms);
  EXPECT_TRUE(came.empty());
  far->pause_reading(false);
  scheduler.run_for(100ms);
  EXPECT_EQ(came, std::vector<int>{1});
}

TEST_F(BadStream, MayBeDestroyedInItsOwnCallback) {
  open({.delay = 5ms});
  far->set_events({[&](std::span<const std::byte>) { far.reset(); }, {}, {}});
  say(1);
  say(2);
  scheduler.run_for(1s);
  EXPECT_EQ(far, nullptr);
}

}  // namespace
}  // namespace isochron::link
