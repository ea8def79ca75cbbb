#include "rt/ring.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rt/latest_value.hpp"
#include "rt/multi_producer_ring.hpp"

namespace isochron::rt {
namespace {

TEST(Ring, HoldsAsManyAsItsCapacity) {
  Ring<int> ring(4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(i));
  EXPECT_FALSE(ring.push(4));
  EXPECT_EQ(ring.next(), nullptr);
  int out = -1;
  EXPECT_TRUE(ring.pop(out));
  EXPECT_EQ(out, 0);
  EXPECT_TRUE(ring.push(4));
}

TEST(Ring, ShowsNothingBeforeCommit) {
  Ring<int> ring(4);
  *ring.next() = 1;
  *ring.next() = 2;
  EXPECT_EQ(ring.peek(), nullptr);
  ring.commit();
  EXPECT_EQ(ring.available(), 2U);
  EXPECT_EQ(*ring.take(), 1);
  EXPECT_EQ(*ring.take(), 2);
  EXPECT_EQ(ring.take(), nullptr);
}

TEST(Ring, GivesSlotsBackOnlyAtFlush) {
  Ring<int> ring(2);
  ASSERT_TRUE(ring.push(1) && ring.push(2));
  EXPECT_EQ(*ring.take(), 1);
  EXPECT_FALSE(ring.push(3));
  ring.flush();
  EXPECT_TRUE(ring.push(3));
}

TEST(Ring, PeekTakesNothing) {
  Ring<int> ring(2);
  ASSERT_TRUE(ring.push(7));
  EXPECT_EQ(*ring.peek(), 7);
  EXPECT_EQ(*ring.peek(), 7);
  EXPECT_EQ(ring.available(), 1U);
}

TEST(Ring, ReusesElementsInPlace) {
  Ring<std::vector<int>> ring(2);
  for (int round = 0; round < 2; ++round) {  // once around
    ring.next()->assign(1000, round);
    ring.commit();
    EXPECT_EQ(ring.take()->size(), 1000U);
    ring.flush();
  }
  EXPECT_EQ(ring.next()->size(), 1000U);  // its memory is still there to be written into
}

TEST(Ring, BatchesEndWhereItWraps) {
  Ring<int> ring(8);
  EXPECT_EQ(ring.next(5).size(), 5U);
  ring.commit();
  EXPECT_EQ(ring.take(5).size(), 5U);
  ring.flush();
  EXPECT_EQ(ring.next(5).size(), 3U);  // up to the end of the storage
  EXPECT_EQ(ring.next(5).size(), 5U);  // and from its beginning
  EXPECT_EQ(ring.next(5).size(), 0U);  // full
  ring.commit();
  EXPECT_EQ(ring.take(8).size(), 3U);
  EXPECT_EQ(ring.take(8).size(), 5U);
  EXPECT_TRUE(ring.take(8).empty());
}

TEST(RingDeath, RefusesACapacityThatIsNoPowerOfTwo) {
  EXPECT_DEATH(Ring<int>(3), "power of two");
  EXPECT_DEATH(Ring<int>(0), "power of two");
}

TEST(LatestValue, HasNothingBeforeTheFirstWrite) {
  LatestValue<int> latest;
  EXPECT_EQ(latest.read(), nullptr);
  EXPECT_EQ(latest.read_new(), nullptr);
}

TEST(LatestValue, GivesTheNewestAndForgetsTheRest) {
  LatestValue<std::string> latest;
  for (int i = 0; i < 10; ++i) latest.write("value " + std::to_string(i));
  EXPECT_EQ(*latest.read(), "value 9");
  EXPECT_EQ(*latest.read(), "value 9");
  EXPECT_EQ(latest.read_new(), nullptr);
}

TEST(LatestValue, KeepsTheReadersValueWhileTheWriterGoesOn) {
  LatestValue<int> latest;
  latest.write(1);
  const int* mine = latest.read();
  for (int i = 2; i < 20; ++i) latest.write(i);
  EXPECT_EQ(*mine, 1);
  EXPECT_EQ(*latest.read_new(), 19);
}

TEST(MultiProducerRing, IsFullAndEmptyAtTheRightTimes) {
  MultiProducerRing<int> ring(4);
  int out = -1;
  EXPECT_FALSE(ring.pop(out));
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(i));
    EXPECT_FALSE(ring.push(4));
    EXPECT_EQ(*ring.peek(), 0);
    for (int i = 0; i < 4; ++i) {
      EXPECT_TRUE(ring.pop(out));
      EXPECT_EQ(out, i);
    }
    EXPECT_FALSE(ring.pop(out));
  }
}

TEST(MultiProducerRing, IsWrittenInPlace) {
  MultiProducerRing<std::string> ring(2);
  EXPECT_TRUE(ring.write([](std::string& s) { s = "in place"; }));
  EXPECT_EQ(*ring.peek(), "in place");
}

TEST(MultiProducerRingDeath, RefusesASingleSlot) { EXPECT_DEATH(MultiProducerRing<int>(1), "at least two"); }

}  // namespace
}  // namespace isochron::rt
