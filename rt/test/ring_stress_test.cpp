// Real threads at full speed; ThreadSanitizer runs this too.
#include <gtest/gtest.h>

#include <thread>

#include "rt/latest_value.hpp"
#include "rt/multi_producer_ring.hpp"
#include "rt/ring.hpp"

namespace isochron::rt {
namespace {

constexpr std::uint64_t many = 300'000;

TEST(RingStress, CarriesEveryElementInOrder) {
  Ring<std::uint64_t> ring(16);
  std::thread producer([&] {
    for (std::uint64_t i = 1; i <= many;) ring.push(i * 3) ? void(++i) : std::this_thread::yield();
  });
  std::uint64_t expected = 1, out = 0;
  while (expected <= many) {
    if (!ring.pop(out)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(out, 3 * expected++);
  }
  producer.join();
  EXPECT_EQ(ring.take(), nullptr);
}

TEST(RingStress, CarriesBatchesOfChangingSize) {
  Ring<std::uint64_t> ring(32);
  std::thread producer([&] {
    for (std::uint64_t i = 1; i <= many;) {
      const auto slots = ring.next(std::min<std::size_t>(1 + i % 11, many + 1 - i));
      for (auto& slot : slots) slot = i++;
      ring.commit();
      if (slots.empty()) std::this_thread::yield();
    }
  });
  std::uint64_t expected = 1;
  while (expected <= many) {
    const auto elements = ring.take(1 + expected % 7);
    for (const auto& e : elements) ASSERT_EQ(e, expected++);
    ring.flush();
    if (elements.empty()) std::this_thread::yield();
  }
  producer.join();
}

TEST(MultiProducerRingStress, LosesNothingOfAnyProducer) {
  constexpr std::uint64_t producers = 3, each = 60'000;
  MultiProducerRing<std::uint64_t> ring(8);
  std::vector<std::thread> threads;
  for (std::uint64_t p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      for (std::uint64_t i = 0; i < each;) ring.push(p << 32 | i) ? void(++i) : std::this_thread::yield();
    });
  }
  std::uint64_t next[producers] = {};
  for (std::uint64_t taken = 0; taken < producers * each;) {
    std::uint64_t out = 0;
    if (!ring.pop(out)) {
      std::this_thread::yield();
      continue;
    }
    ++taken;
    ASSERT_EQ(out & 0xffffffff, next[out >> 32]++);
  }
  for (auto& t : threads) t.join();
}

TEST(LatestValueStress, IsNeverTornNorOlder) {
  struct Big {
    std::uint64_t words[16];
  };
  LatestValue<Big> latest;
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= many; ++i) {
      for (auto& w : latest.slot().words) w = i;
      latest.publish();
    }
  });
  std::uint64_t last = 0, seen = 0;
  while (last < many) {
    const Big* value = latest.read_new();
    if (value == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ++seen;
    ASSERT_GT(value->words[0], last);
    last = value->words[0];
    for (const auto w : value->words) ASSERT_EQ(w, last);
  }
  writer.join();
  EXPECT_GE(seen, 1U);
}

}  // namespace
}  // namespace isochron::rt
