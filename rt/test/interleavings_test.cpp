// The checker checked: it must see every outcome that C++ allows, none that it forbids, and find planted mistakes.
#include "rt/test/interleavings.hpp"

#include <gtest/gtest.h>

#include <set>

#include "rt/atomics.hpp"

namespace isochron::rt::check {
namespace {

using A = ModelAtomics::Atomic<int>;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

// Every pair (a, b) that two threads can end up with.
template <class First, class Second>
std::set<std::pair<int, int>> outcomes(First first, Second second) {
  struct State {
    A x{0}, y{0};
    int a = -1, b = -1;
  };
  std::set<std::pair<int, int>> seen;
  const Exploration outcome = explore([&](Execution& run) {
    auto s = std::make_shared<State>();
    run.thread([s, &first] { first(*s); });
    run.thread([s, &second] { second(*s); });
    run.finally([s, &seen] { seen.insert({s->a, s->b}); });
  });
  EXPECT_EQ(outcome.failure, "");
  return seen;
}

TEST(Interleavings, ReleaseAndAcquireNeverShowTheFlagWithoutTheData) {
  const auto seen = outcomes(
      [](auto& s) {
        s.x.store(1, relaxed);
        s.y.store(1, release);
      },
      [](auto& s) {
        s.a = s.y.load(acquire);
        s.b = s.x.load(relaxed);
      });
  EXPECT_EQ(seen, (std::set<std::pair<int, int>>{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(Interleavings, RelaxedOrderShowsTheFlagWithoutTheData) {
  const auto seen = outcomes(
      [](auto& s) {
        s.x.store(1, relaxed);
        s.y.store(1, relaxed);
      },
      [](auto& s) {
        s.a = s.y.load(relaxed);
        s.b = s.x.load(relaxed);
      });
  EXPECT_TRUE(seen.contains({1, 0}));
}

TEST(Interleavings, TwoThreadsMayBothMissTheOthersStore) {
  const auto seen = outcomes(
      [](auto& s) {
        s.x.store(1, release);
        s.a = s.y.load(acquire);
      },
      [](auto& s) {
        s.y.store(1, release);
        s.b = s.x.load(acquire);
      });
  EXPECT_EQ(seen.size(), 4U);  // (0, 0) too: what only sequential consistency forbids
}

TEST(Interleavings, AThreadNeverReadsAnOlderStoreAfterANewerOne) {
  const auto seen = outcomes(
      [](auto& s) {
        s.x.store(1, relaxed);
        s.x.store(2, relaxed);
      },
      [](auto& s) {
        s.a = s.x.load(relaxed);
        s.b = s.x.load(relaxed);
      });
  for (const auto& [a, b] : seen) EXPECT_LE(a, b);
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Interleavings, ExchangesNeverLoseOneAnother) {
  const auto seen =
      outcomes([](auto& s) { s.a = s.x.exchange(1, relaxed); }, [](auto& s) { s.b = s.x.exchange(2, relaxed); });
  EXPECT_EQ(seen, (std::set<std::pair<int, int>>{{0, 1}, {2, 0}}));
}

TEST(Interleavings, FindsADataRaceThatNeedsOneCertainOrder) {
  struct State {
    A ready{0};
    Plain data;
  };
  const Exploration outcome = explore([](Execution& run) {
    auto s = std::make_shared<State>();
    run.thread([s] {
      s->data.set(1);
      s->ready.store(1, relaxed);  // should be release
    });
    run.thread([s] {
      if (s->ready.load(acquire) == 1) demand(s->data.get() == 1, "the data");
    });
  });
  EXPECT_NE(outcome.failure.find("a data race"), std::string::npos) << outcome.failure;
}

Exploration three_exchanges_each(bool same_atomic) {
  struct State {
    A x{0}, y{0};
  };
  return explore([=](Execution& run) {
    auto s = std::make_shared<State>();
    run.thread([s] {
      for (int i = 0; i < 3; ++i) s->x.exchange(i, relaxed);
    });
    run.thread([=] {
      for (int i = 0; i < 3; ++i) (same_atomic ? s->x : s->y).exchange(i, relaxed);
    });
  });
}

TEST(Interleavings, TriesEveryOrderOfDependentSteps) {
  const Exploration outcome = three_exchanges_each(true);
  EXPECT_EQ(outcome.executions - outcome.redundant, 20U);  // 6 over 3
}

TEST(Interleavings, TriesOneOrderOfIndependentSteps) {
  const Exploration outcome = three_exchanges_each(false);
  EXPECT_EQ(outcome.executions - outcome.redundant, 1U);
}

}  // namespace
}  // namespace isochron::rt::check
