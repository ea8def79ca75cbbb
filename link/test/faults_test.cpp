#include "link/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
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
  auto to = std::move(*reactor.open_datagrams(Address::loopback(9)));
  auto from = with_faults(reactor, std::move(*reactor.open_datagrams(Address::loopback(0))), faults, "test");
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

}  // namespace
}  // namespace isochron::link
