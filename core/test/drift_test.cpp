#include "core/drift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/random.hpp"

namespace isochron {
namespace {

constexpr ParticipantId id(std::uint32_t i) { return ParticipantId(i); }
constexpr WallTime wall(std::int64_t ns) { return WallTime::from_ns(ns); }
constexpr SimTime sim(std::int64_t ns) { return SimTime::from_ns(ns); }

TEST(Drift, IsTheGreatestSpreadAtAnyMomentNotAtTheEnd) {
  DriftLedger ledger(2);
  ledger.record(id(0), wall(1), sim(100));
  ledger.record(id(1), wall(2), sim(40));   // spread 60 after having been 100
  ledger.record(id(1), wall(3), sim(100));  // spread 0
  ledger.settle();
  EXPECT_EQ(ledger.max(), SimSpan::from_ns(100));
}

TEST(Drift, FoldsOnlyWhatIsCertain) {
  DriftLedger ledger(2);
  ledger.record(id(0), wall(10), sim(100));
  ledger.fold();
  EXPECT_EQ(ledger.max(), SimSpan::zero());  // participant 1 may still record wall(5)
  ledger.record(id(1), wall(5), sim(90));
  ledger.record(id(1), wall(11), sim(95));
  ledger.fold();
  EXPECT_EQ(ledger.max(), SimSpan::from_ns(90));  // at wall 5: 0 against 90; then 100 against 90
}

TEST(Drift, WhoLeftNoLongerCounts) {
  DriftLedger ledger(2);
  ledger.record(id(0), wall(1), sim(10));
  ledger.leave(id(1), wall(2));
  ledger.record(id(0), wall(3), sim(1'000'000));
  ledger.fold();
  ledger.settle();
  EXPECT_EQ(ledger.max(), SimSpan::from_ns(10));
  EXPECT_EQ(ledger.newest(id(1)), SimTime::never());
}

TEST(Drift, OverflowIsCountedAndSaid) {
  DriftLedger ledger(1, 4);
  for (int i = 1; i <= 6; ++i) ledger.record(id(0), wall(i), sim(i));
  EXPECT_FALSE(ledger.exact());
  EXPECT_EQ(ledger.missed(), 2U);
}

TEST(Drift, EqualsTheDefinitionOnRandomHistories) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "drift");
    const auto participants = static_cast<std::uint32_t>(1 + random.below(6));
    DriftLedger ledger(participants, 64);
    std::vector<std::int64_t> progress(participants, 0);
    std::int64_t expected = 0;
    for (int t = 1; t <= 500; ++t) {
      const auto who = static_cast<std::uint32_t>(random.below(participants));
      progress[who] += static_cast<std::int64_t>(random.below(100));
      const auto [low, high] = std::minmax_element(progress.begin(), progress.end());
      expected = std::max(expected, *high - *low);
      ledger.record(id(who), wall(t), sim(progress[who]));
      if (random.chance(0.3)) ledger.fold();
    }
    ledger.settle();
    ASSERT_TRUE(ledger.exact()) << "seed " << seed;
    ASSERT_EQ(ledger.max().ns(), expected) << "seed " << seed;
    ASSERT_EQ(ledger.records(), 500U) << "seed " << seed;
  }
}

TEST(Drift, SeriesStaysBoundedAndKeepsTheMaximum) {
  DriftSeries series(16);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    const std::int64_t delta = (i * 7919) % 1'000'003;
    most = std::max(most, delta);
    series.add(sim(i * 1'000'000), SimSpan::from_ns(delta));
  }
  ASSERT_LE(series.points().size(), 16U);
  SimSpan found;
  for (const auto& point : series.points()) found = std::max(found, point.most);
  EXPECT_EQ(found.ns(), most);
  EXPECT_TRUE(std::is_sorted(series.points().begin(), series.points().end(),
                             [](const auto& x, const auto& y) { return x.until < y.until; }));
}

TEST(Drift, ParticipantsRecordFromTheirOwnThreadsWhileOneCollects) {
  constexpr int threads = 3;
  constexpr std::int64_t steps = 20'000;
  DriftLedger ledger(threads, 1 << 15);
  std::atomic<int> running{threads};
  std::vector<std::thread> workers;
  for (std::uint32_t who = 0; who < threads; ++who) {
    workers.emplace_back([&, who] {
      for (std::int64_t i = 1; i <= steps; ++i) {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        ledger.record(id(who), wall(now), sim(i));
      }
      running.fetch_sub(1);
    });
  }
  std::uint64_t samples = 0;
  while (running.load() > 0) ledger.fold([&](SimSpan) { ++samples; });
  for (auto& worker : workers) worker.join();
  ledger.settle([&](SimSpan) { ++samples; });
  EXPECT_TRUE(ledger.exact());
  EXPECT_EQ(samples, static_cast<std::uint64_t>(threads * steps));
  EXPECT_LE(ledger.max(), SimSpan::from_ns(steps));
}

}  // namespace
}  // namespace isochron
