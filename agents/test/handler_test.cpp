#include <gtest/gtest.h>

#include <limits>

#include "agents/test/datagrams.hpp"
#include "core/random.hpp"

namespace isochron::agents {
namespace {

using namespace std::chrono_literals;
constexpr Connection us = 0x1122334455667789;
const WallTime now = WallTime::zero();

class HandlerTest : public ::testing::Test {
 protected:
  HandlerTest() { handler.add(us, a_key); }
  Drop dropped(std::span<const std::byte> bytes) {
    const auto passed = handler.take(bytes, now, up);
    EXPECT_FALSE(passed.ok());
    return passed.ok() ? Drop::stale : passed.error();
  }
  Handler handler;
  TestSender sender{us};
  wire::RawUp up;
};

TEST_F(HandlerTest, PassesWhatAClientSaysAndLeavesStatesAsTheyAre) {
  const auto said = sender.up(3, 5'000'000, 12.5);
  ASSERT_TRUE(handler.take(sender.seal(said), now, up).ok());
  ASSERT_EQ(up.agents_size(), 1);
  EXPECT_EQ(up.agents(0).x(), 12.5F);
  EXPECT_EQ(up.agents(0).state(), said.agents(0).state().SerializeAsString());
  // Field by field the raw message is the same bytes: what goes in comes out.
  EXPECT_EQ(up.agents(0).SerializeAsString(), said.agents(0).SerializeAsString());
}

TEST_F(HandlerTest, DropsStrangersForgeriesReplaysAndNonsenseByName) {
  const auto good = sender.seal(sender.up(0, 1));
  EXPECT_EQ(dropped(std::span(good).first(20)), Drop::truncated);
  EXPECT_EQ(dropped(std::vector<std::byte>(largest_datagram + 1)), Drop::oversized);
  EXPECT_EQ(dropped(TestSender(us + 2).seal(wire::Up())), Drop::unknown);
  EXPECT_EQ(dropped(TestSender(us, {std::byte{8}}).seal(wire::Up())), Drop::forged);
  EXPECT_EQ(dropped(sender.seal("\xff\xff\xff\xff")), Drop::malformed);
  ASSERT_TRUE(handler.take(good, now, up).ok());
  EXPECT_EQ(dropped(good), Drop::repeated);
  for (int i = 0; i < 1100; ++i) (void)handler.take(sender.seal(wire::Up()), now, up).ok();
  EXPECT_EQ(dropped(good), Drop::too_old);
  EXPECT_EQ(handler.counts().of(Drop::forged), 1U);
}

TEST_F(HandlerTest, LeavesOutEntriesThatAreOldOfAnotherTypeOrNotSane) {
  ASSERT_TRUE(handler.take(sender.seal(sender.up(0, 10)), now, up).ok());
  const auto entries_of = [&](wire::Up said) {
    EXPECT_TRUE(handler.take(sender.seal(said), now, up).ok());
    return up.agents_size();
  };
  EXPECT_EQ(entries_of(sender.up(0, 9)), 0) << "older";
  EXPECT_EQ(entries_of(sender.up(0, 10)), 1) << "the same time, said again later";
  EXPECT_EQ(entries_of(sender.up(0, -1)), 0) << "before all time";
  EXPECT_EQ(entries_of(sender.up(4096, 11)), 0) << "too many agents";
  EXPECT_EQ(entries_of(sender.up(0, 11, std::numeric_limits<double>::quiet_NaN())), 0);
  auto other = sender.up(0, 12);
  other.mutable_agents(0)->set_type(6);
  EXPECT_EQ(entries_of(other), 0) << "another type";
  auto spoofed = sender.up(0, 13);
  spoofed.mutable_agents(0)->set_connection(us + 2);
  EXPECT_EQ(entries_of(spoofed), 0) << "another's agent";
  EXPECT_EQ(entries_of(sender.up(0, 14)), 1);
}

TEST_F(HandlerTest, LimitsAClientThatFloodsAndLetsItSpeakAgain) {
  std::uint64_t passed = 0;
  for (int i = 0; i < 5000; ++i) passed += handler.take(sender.seal(wire::Up()), now, up).ok() ? 1 : 0;
  EXPECT_EQ(passed, 2000U) << "a tenth of a second's worth";
  EXPECT_EQ(handler.counts().of(Drop::flood), 3000U);
  EXPECT_TRUE(handler.take(sender.seal(wire::Up()), now + WallSpan(1s), up).ok());
}

TEST_F(HandlerTest, NoneOfAMillionMutatedDatagramsPasses) {
  RandomStream random(1, "mutations");
  const auto good = sender.seal(sender.up(0, 1));
  ASSERT_TRUE(handler.take(good, now, up).ok());
  std::uint64_t passed = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    std::vector<std::byte> bad = good;
    const auto edits = 1 + random.below(4);
    for (std::uint64_t e = 0; e < edits; ++e)
      bad[random.below(bad.size())] ^= static_cast<std::byte>(1 + random.below(255));
    if (random.chance(0.1)) bad.resize(random.below(bad.size() + 1));
    passed += handler.take(bad, now, up).ok() ? 1 : 0;
  }
  EXPECT_EQ(passed, 0U);
}

TEST_F(HandlerTest, SurvivesNonsenseFromOneWhoHoldsTheKey) {
  RandomStream random(2, "nonsense");
  const std::string good = sender.up(0, 1).SerializeAsString();
  for (int i = 0; i < 100'000; ++i) {
    std::string bad = good;
    bad[random.below(bad.size())] = static_cast<char>(random.bits());
    (void)handler.take(sender.seal(bad), now + WallSpan(1ms) * i, up).ok();
  }
  EXPECT_GT(handler.counts().of(Drop::malformed), 0U);
}

}  // namespace
}  // namespace isochron::agents
