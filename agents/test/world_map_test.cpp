#include "agents/world_map.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace isochron::agents {
namespace {

using namespace std::chrono_literals;

class WorldMapTest : public ::testing::Test {
 protected:
  explicit WorldMapTest(WorldSettings settings = {}) : map(settings) {}

  /// One agent at (x, 0), described the first time.
  WorldMap::Heard say(Profile& client, std::int64_t ms, double x = 0, const std::string& agent = "") {
    wire::RawUp up;
    up.set_progress_ns(ms * 1'000'000);
    if (client.agents.empty()) {
      auto& notice = *up.add_notices();
      notice.set_number(1);
      notice.mutable_describe()->set_name(agent.empty() ? client.name + "/agent" : agent);
      notice.mutable_describe()->set_type(5);
    }
    auto& entry = *up.add_agents();
    entry.set_connection(client.connection);
    entry.set_sim_time_ns(ms * 1'000'000);
    entry.set_sequence(++sequence);
    entry.set_x(static_cast<float>(x));
    entry.set_type(5);
    return map.take(client, up, now);
  }
  Profile& join(const std::string& name) { return map.add(++last, name, wire::AUTOMATIC, now); }
  std::vector<std::string> seen_by(Profile& client) {
    map.refresh_view(client);
    std::vector<std::string> names;
    for (const auto slot : client.view.members) names.push_back(map.agent(slot).description.name());
    std::sort(names.begin(), names.end());
    return names;
  }
  WorldMap map;
  WallTime now = WallTime::zero() + WallSpan(100s);
  Connection last = 100;
  std::uint64_t sequence = 0;
};

TEST_F(WorldMapTest, TheMinimumIsTheSlowestClientAndOnlyGrows) {
  Profile &a = join("a"), &b = join("b");
  say(a, 0);
  say(b, 0);
  say(a, 15);
  EXPECT_EQ(map.minimum(), SimTime::zero());
  say(b, 10);
  EXPECT_EQ(map.minimum(), SimTime::zero() + SimSpan(10ms));
  EXPECT_EQ(map.slowest()->name, "b");
}

TEST_F(WorldMapTest, AClientThatComesLateIsToldToBeginWhereTheWorldIs) {
  Profile& a = join("a");
  say(a, 0);
  for (int t = 5; t <= 1000; t += 5) say(a, t);
  Profile& b = join("b");
  say(b, 0);
  EXPECT_EQ(b.standing, Standing::outside);
  EXPECT_GE(b.begin_at, map.minimum());
  EXPECT_EQ(map.minimum(), SimTime::zero() + SimSpan(1000ms)) << "nobody waits for it before it is in";
  say(b, b.begin_at.ns() / 1'000'000);
  EXPECT_TRUE(b.in_world());
  EXPECT_EQ(map.minimum(), SimTime::zero() + SimSpan(1000ms));
}

TEST_F(WorldMapTest, SilentClientsAreShotDownAndComeBackAsANewGeneration) {
  Profile &a = join("a"), &b = join("b");
  say(a, 0);
  say(b, 0);
  EXPECT_EQ(seen_by(a), std::vector<std::string>{"b/agent"});
  for (int i = 0; i < 40; ++i) {
    now += WallSpan(100ms);
    say(a, 0);
    map.scan(now);
  }
  EXPECT_EQ(b.standing, Standing::outside);
  EXPECT_TRUE(seen_by(a).empty());
  ASSERT_FALSE(a.notices.empty());
  EXPECT_EQ(a.notices.kept().back().notice.shut_down().reason(), "it was silent");
  say(b, 0);
  EXPECT_EQ(b.standing, Standing::live);
  ASSERT_EQ(seen_by(a).size(), 1U);
  EXPECT_EQ(map.agent(a.view.members[0]).description.generation(), 2U);
  EXPECT_EQ(map.counts().returned, 1U);
}

TEST_F(WorldMapTest, OneWhoKeepsSpeakingButStandsStillIsShotDownWhenOthersWait) {
  Profile &a = join("a"), &b = join("b");
  say(a, 0);
  say(b, 0);
  say(a, 15);
  for (int i = 0; i < 110; ++i) {
    now += WallSpan(100ms);
    say(a, 15);
    say(b, 0);
    map.scan(now);
  }
  EXPECT_EQ(b.standing, Standing::outside);
  EXPECT_EQ(map.counts().stalled, 1U);
  EXPECT_EQ(map.minimum(), SimTime::zero() + SimSpan(15ms));
}

TEST_F(WorldMapTest, JoiningAnewDoesNotWipeOutAStall) {
  Profile& a = join("a");
  Profile* b = &join("b");
  say(a, 0);
  say(*b, 0);
  int there = 0;
  for (int round = 0; round < 4; ++round) {  // it stands still for nine seconds, goes away for one, and comes again
    for (int i = 0; i < 90; ++i) {
      now += WallSpan(100ms);
      say(a, there + 15);
      if (b->in_world()) say(*b, there);
      map.scan(now);
    }
    now += WallSpan(1s);
    say(a, there + 15);
    ASSERT_FALSE(map.refusal("b", now));
    b = &join("b");
    there += 15;
    say(*b, there);
    EXPECT_EQ(b->in_world(), round == 0) << "once is forgiven, no more";
  }
  EXPECT_EQ(map.counts().stalled, 2U);
  now += WallSpan(300s);
  say(a, there + 15);
  say(*b, there + 15);
  EXPECT_TRUE(b->in_world()) << "in the end it may come back";
}

TEST_F(WorldMapTest, OneThatIsKilledIsNotOneThatStalled) {
  Profile& a = join("a");
  Profile* b = &join("b");
  for (int round = 0; round < 4; ++round) {
    say(a, 10 * round);
    say(*b, 10 * round);
    now += WallSpan(2s);  // b is gone, and a waits
    say(a, 10 * round + 10);
    b = &join("b");
    say(*b, 10 * round + 10);
    EXPECT_TRUE(b->in_world());
  }
  EXPECT_EQ(map.counts().stalled, 0U);
}

TEST_F(WorldMapTest, OneWhoRunsAheadIsFencedAndTheThirdTimeItIsOver) {
  Profile &a = join("a"), &b = join("b");
  say(a, 0);
  say(b, 0);
  say(a, 15);
  EXPECT_EQ(a.standing, Standing::live) << "three heartbeats are allowed";
  for (int lie = 1; lie <= 3; ++lie) {
    const auto heard = say(a, 1000 * lie);
    EXPECT_EQ(a.standing, Standing::outside);
    EXPECT_EQ(heard, lie < 3 ? WorldMap::Heard::fine : WorldMap::Heard::fenced);
    say(a, 0);  // its progress is what it was
    EXPECT_EQ(a.standing, Standing::live);
  }
}

TEST_F(WorldMapTest, ANameIsThereOnce) {
  Profile &a = join("a"), &b = join("b");
  say(a, 0, 0, "car");
  say(b, 0, 0, "car");
  EXPECT_EQ(map.shown(), 1U);
  EXPECT_EQ(map.counts().refused_names, 1U);
  EXPECT_TRUE(map.refusal("a", now)) << "a client too";
  now += WallSpan(1s);
  EXPECT_FALSE(map.refusal("a", now)) << "one that is silent makes room";
  Profile& again = join("a");
  say(again, 0, 0, "car");
  EXPECT_EQ(map.shown(), 1U);
}

TEST_F(WorldMapTest, ThoseWhoFindBackWaitForEachOther) {
  map.expect(2, SimTime::zero() + SimSpan(500ms), now, 3s);
  Profile& a = join("a");
  say(a, 500);
  EXPECT_EQ(map.minimum(), SimTime::zero() + SimSpan(485ms)) << "three heartbeats back: nobody can be further behind";
  Profile& b = join("b");
  say(b, 490);
  EXPECT_TRUE(a.in_world() && b.in_world());
  EXPECT_EQ(map.minimum(), SimTime::zero() + SimSpan(490ms));
}

class Vicinity : public WorldMapTest {
 protected:
  Vicinity() : WorldMapTest({.vicinity = 50, .updates = wire::VICINITY}) {}
};

TEST_F(Vicinity, ShowsWhatIsNearAndLetsGoALittleLater) {
  Profile &a = join("a"), &b = join("b"), &c = join("c");
  say(a, 0, 0);
  say(b, 0, 49);
  say(c, 0, 500);
  EXPECT_EQ(seen_by(a), std::vector<std::string>{"b/agent"});
  EXPECT_TRUE(seen_by(c).empty());
  say(b, 5, 59);
  EXPECT_EQ(seen_by(a).size(), 1U) << "within 1.2 radii it stays";
  say(b, 10, 61);
  EXPECT_TRUE(seen_by(a).empty());
  EXPECT_TRUE(a.notices.kept().back().notice.has_leave());
  say(b, 15, 55);
  EXPECT_TRUE(seen_by(a).empty()) << "and comes back within one";
}

TEST_F(WorldMapTest, OneThatClaimsToHaveBeenFarAheadDoesNotTakeTheOthersThere) {
  map.expect(3, SimTime::from_ns(limits::longest_ns), now, 3s);
  Profile& liar = join("liar");
  say(liar, limits::longest_ns / 1'000'000);
  map.expect(3, SimTime::zero() + SimSpan(500ms), now, 3s);
  map.expect(3, SimTime::zero() + SimSpan(505ms), now, 3s);
  Profile &a = join("a"), &b = join("b");
  say(a, 500);
  say(b, 505);
  now += WallSpan(4s);
  say(a, 500);
  say(b, 505);
  EXPECT_EQ(map.minimum(), SimTime::zero() + SimSpan(500ms));
  say(a, 510);
  say(b, 510);
  EXPECT_EQ(map.minimum(), SimTime::zero() + SimSpan(510ms));
}

}  // namespace
}  // namespace isochron::agents
