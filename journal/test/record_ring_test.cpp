#include "journal/record_ring.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/random.hpp"

namespace isochron {
namespace {

void fill(std::span<std::byte> room, std::uint32_t seed) {
  for (std::size_t i = 0; i < room.size(); ++i) room[i] = static_cast<std::byte>(seed * 31 + i);
}
bool is_filled(std::span<const std::byte> bytes, std::uint32_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != static_cast<std::byte>(seed * 31 + i)) return false;
  }
  return true;
}

TEST(RecordRing, GivesRecordsBackInOrderAcrossItsEnd) {
  RecordRing ring(4096);
  RandomStream random(1, "sizes");
  std::uint32_t taken = 0;
  std::vector<std::size_t> sizes;
  RecordRing::Record record;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const std::size_t size = random.below(700);
    auto room = ring.reserve(i, SimTime::from_ns(i), size);
    while (room.data() == nullptr) {
      ASSERT_TRUE(ring.peek(record));
      EXPECT_EQ(record.channel, taken);
      EXPECT_EQ(record.time.ns(), taken);
      ASSERT_EQ(record.payload.size(), sizes[taken]);
      EXPECT_TRUE(is_filled(record.payload, taken));
      ring.pop(record);
      ring.release();
      ++taken;
      room = ring.reserve(i, SimTime::from_ns(i), size);
    }
    fill(room, i);
    sizes.push_back(size);
    ring.commit();
  }
  EXPECT_GT(taken, 4900U);
}

TEST(RecordRing, AlignsWhatFollowsTheHeaderOfFourBytes) {
  RecordRing ring(4096);
  for (const std::size_t size : {1U, 7U, 12U, 100U}) {
    const auto room = ring.reserve(0, SimTime::zero(), size);
    EXPECT_EQ((reinterpret_cast<std::uintptr_t>(room.data()) + 4) % 8, 0U);
    ring.commit();
  }
}

TEST(RecordRing, ShowsNothingBeforeItIsCommitted) {
  RecordRing ring(4096);
  RecordRing::Record record;
  const auto room = ring.reserve(3, SimTime::zero(), 0);
  EXPECT_NE(room.data(), nullptr);
  EXPECT_FALSE(ring.peek(record));
  ring.commit();
  ASSERT_TRUE(ring.peek(record));
  EXPECT_TRUE(record.payload.empty());
}

TEST(RecordRing, HoldsHalfItsSizeWhereverItIs) {
  RecordRing ring(4096);
  RecordRing::Record record;
  ASSERT_TRUE(ring.can_ever_hold(2028));
  ASSERT_FALSE(ring.can_ever_hold(2029));
  for (int i = 0; i < 200; ++i) {
    for (const std::size_t size : {std::size_t{2028}, static_cast<std::size_t>(8 * i)}) {
      ASSERT_NE(ring.reserve(0, SimTime::zero(), size).data(), nullptr) << i;
      ring.commit();
      ASSERT_TRUE(ring.peek(record));
      ring.pop(record);
      ring.release();
    }
  }
}

TEST(RecordRing, CarriesRecordsWholeFromThreadToThread) {
  RecordRing ring(1U << 14U);
  constexpr std::uint32_t count = 50'000;
  std::thread producer([&] {
    RandomStream random(2, "sizes");
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t size = random.below(300);
      auto room = ring.reserve(i, SimTime::from_ns(i), size);
      while (room.data() == nullptr) {
        ring.wait_for_room();
        room = ring.reserve(i, SimTime::from_ns(i), size);
      }
      fill(room, i);
      ring.commit();
    }
  });
  RecordRing::Record record;
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < count;) {
    if (!ring.peek(record)) {
      std::this_thread::yield();
      continue;
    }
    wrong += record.channel == i && is_filled(record.payload, i) ? 0 : 1;
    ring.pop(record);
    ring.release();
    ring.wake_producer();
    ++i;
  }
  producer.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace isochron
